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
func (u *UnitOfWork) ClaimAfterEnqueues() bool { return u.afterEnqueues }

// headsOf are the heads of the order.
func headsOf(u *UnitOfWork, c *rota.Claim) []rota.ID {
	if !u.afterEnqueues {
		return u.heads.ids
	}
	u.claimAlone = u.claimAlone || len(u.heads.ids) > 0
	created := claimableNew(u, c)
	slices.SortFunc(created, u.compareOrder)
	return withinCapacity(u, c, created)
}

// claimableNew are the jobs made here that a claim may take. Where jobs that stand
// in the store have changed as well, or more is to be known of one that was made, the
// claim is decided apart.
func claimableNew(u *UnitOfWork, c *rota.Claim) (created []rota.ID) {
	for _, r := range u.touchedJobs {
		switch {
		case r.is == nil && r.was == nil: // it was refused
		case r.inserted == nil || limitedKey(u, r.is.ConcurrencyKey):
			u.claimAlone = true
		case r.is.Ready() && slices.Contains(c.Types, r.is.Type):
			created = append(created, r.is.ID)
		}
	}
	return created
}

// withinCapacity are those of the jobs for which there is room, in their order.
func withinCapacity(u *UnitOfWork, c *rota.Claim, ids []rota.ID) (heads []rota.ID) {
	shared, left, bytes := globalCapacity(u, c.Limit), map[string]int{}, 0
	types, capacity := capacityOf(u, distinct(c.Types), c.Limit)
	for i, t := range types {
		left[t] = capacity[i]
	}
	for _, id := range ids {
		j := u.job(id)
		own := rota.InternalType(j.Type)
		if left[j.Type] == 0 || shared == 0 && !own {
			continue
		}
		bytes += len(j.Params)
		if len(heads) == c.Limit || len(heads) > 0 && bytes > rota.ClaimBytesMax {
			break
		}
		heads = append(heads, id)
		left[j.Type]--
		if !own {
			shared--
		}
	}
	return heads
}

// errClaimAlone is that a claim cannot be decided in the world of the enqueues before it.
var errClaimAlone = errors.New("the claim is to be applied by itself")

// checkClaimAfterEnqueues sees whether a world holds for enqueues and the claim behind them. What
// they tell webhooks of is made when their step ends, and the claim may take it.
func checkClaimAfterEnqueues(tx Tx, u *UnitOfWork, commands []rota.Command) error {
	if !u.afterEnqueues {
		return nil
	}
	if u.claimAlone || u.moreHeads {
		return errClaimAlone
	}
	claim := commands[len(commands)-1].(*rota.Claim)
	if claim == nil || !slices.ContainsFunc(claim.Types, rota.InternalType) {
		return nil
	}
	hooks, err := tx.Hooks()
	if err != nil || hooks == nil {
		return err
	}
	delivers := countEnqueuedSubscribers(hooks.All) > 0
	for _, of := range hooks.ByTemplate {
		delivers = delivers || countEnqueuedSubscribers(of) > 0
	}
	if delivers {
		return errClaimAlone
	}
	return nil
}
