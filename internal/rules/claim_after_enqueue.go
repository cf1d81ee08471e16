package rules

import (
	"errors"
	"slices"

	"github.com/rotajobs/rota"
)

// A claim behind enqueues takes what they bring, in their world, where nothing else
// is there to take. Where there is, or more has to be known, it is decided apart:
// heads that were looked at beside what is new would be cut short for the wrong
// jobs, and some that were locked would not be taken.

// ClaimAfterEnqueues says whether a claim is decided in the world of enqueues. PutMoreHeads has it
// decided apart.
func (w *UnitOfWork) ClaimAfterEnqueues() bool { return w.joint }

// headsOf are the heads of the order.
func headsOf(w *UnitOfWork, c *rota.Claim) []rota.ID {
	if !w.joint {
		return w.heads.ids
	}
	w.apart = w.apart || len(w.heads.ids) > 0
	born := broughtAlong(w, c)
	slices.SortFunc(born, w.inOrder)
	return fitting(w, c, born)
}

// broughtAlong are the jobs made here that a claim may take. Where jobs that stand
// in the store have changed as well, or more is to be known of one that was made, the
// claim is decided apart.
func broughtAlong(w *UnitOfWork, c *rota.Claim) (born []rota.ID) {
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
func fitting(w *UnitOfWork, c *rota.Claim, ids []rota.ID) (heads []rota.ID) {
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

// errApart is that a claim cannot be decided in the world of the enqueues before it.
var errApart = errors.New("the claim is to be applied by itself")

// together sees whether a world holds for enqueues and the claim behind them. What
// they tell webhooks of is made when their step ends, and the claim may take it.
func together(tx Tx, w *UnitOfWork, commands []rota.Command) error {
	if !w.joint {
		return nil
	}
	if w.apart || w.moreHeads {
		return errApart
	}
	claim := commands[len(commands)-1].(*rota.Claim)
	if claim == nil || !slices.ContainsFunc(claim.Types, rota.InternalType) {
		return nil
	}
	hooks, err := tx.Hooks()
	if err != nil || hooks == nil {
		return err
	}
	tells := listeners(hooks.All) > 0
	for _, of := range hooks.ByTemplate {
		tells = tells || listeners(of) > 0
	}
	if tells {
		return errApart
	}
	return nil
}
