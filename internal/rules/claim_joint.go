package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// headsOf are the heads of the order, with what the enqueues of this step have put
// there.
func headsOf(w *World, c *rota.Claim) []rota.ID {
	if !w.joint {
		return w.heads.ids
	}
	born := broughtAlong(w, c)
	if w.apart || len(born) == 0 {
		return w.heads.ids
	}
	all := append(slices.Clone(w.heads.ids), born...)
	slices.SortFunc(all, func(a, b rota.ID) int {
		if w.job(a).Before(w.job(b)) {
			return -1
		}
		return 1
	})
	return fitting(w, c, all)
}

// broughtAlong are the jobs made here that a claim may take. Where more than that
// was changed, or is to be known of one, the claim is decided apart.
func broughtAlong(w *World, c *rota.Claim) (born []rota.ID) {
	for _, r := range w.touchedJobs {
		switch {
		case r.is == nil && r.was == nil: // it was refused
		case r.born == nil || limitedKey(w, r.is.ConcurrencyKey):
			w.apart = true
		case r.is.Ready() && slices.Contains(c.Types, r.is.Type):
			born = append(born, r.is.ID)
		}
	}
	return born
}

// fitting are those of the jobs for which there is room, in their order.
func fitting(w *World, c *rota.Claim, ids []rota.ID) (heads []rota.ID) {
	shared, room, bytes := globalRoom(w, c.Limit), map[string]int{}, 0
	types, rooms := roomsOf(w, distinct(c.Types), c.Limit)
	for i, t := range types {
		room[t] = rooms[i]
	}
	for _, id := range ids {
		j := w.job(id)
		own := rota.InternalType(j.Type)
		if room[j.Type] == 0 || shared == 0 && !own {
			continue
		}
		bytes += len(j.Params)
		if len(heads) == c.Limit || len(heads) > 0 && bytes > rota.ClaimBytesMax {
			break
		}
		heads = append(heads, id)
		room[j.Type]--
		if !own {
			shared--
		}
	}
	return heads
}

// tellsAhead says that what enqueues tell webhooks of is what the claim behind them
// may take: it is made when their step ends.
func tellsAhead(tx Tx, w *World, commands []rota.Command) (bool, error) {
	claim, is := commands[len(commands)-1].(*rota.Claim)
	if !w.joint || !is || claim == nil || !slices.ContainsFunc(claim.Types, rota.InternalType) {
		return false, nil
	}
	hooks, err := tx.Hooks()
	return hooks != nil, err
}
