package rules

import (
	"errors"
	"slices"

	"github.com/rotajobs/rota"
)

// A claim after enqueues takes the jobs they create, in the same unit of work, if
// no other jobs are ready. If there are, or if more rows are needed, the claim is
// applied by itself: heads loaded together with the new jobs would be cut short
// for the wrong jobs, and some locked heads would not be taken.

// ClaimAfterEnqueues reports whether a claim is decided in the unit of work of
// the enqueues before it. PutMoreHeads makes it be applied by itself.
func (u *UnitOfWork) ClaimAfterEnqueues() bool { return u.afterEnqueues }

// headsOf returns the heads of the order.
func headsOf(u *UnitOfWork, c *rota.Claim) []rota.ID {
	var stored []rota.ID
	if q, some := headsQuery(u, c); some {
		stored = queryOnce(&u.heads, &u.orders.Heads, q)
	}
	if !u.afterEnqueues {
		return stored
	}
	u.claimAlone = len(stored) > 0
	created := claimableNew(u, c)
	slices.SortFunc(created, u.compareOrder)
	return withinCapacity(u, c, created)
}

// claimableNew returns the created jobs that a claim may take. If stored jobs
// have changed as well, or a created job needs more rows, the claim is applied
// by itself.
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

// withinCapacity returns the jobs for which there is capacity, in their order.
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

// errClaimAlone means that a claim cannot be decided in the unit of work of the
// enqueues before it.
var errClaimAlone = errors.New("the claim is to be applied by itself")

// checkClaimAfterEnqueues checks whether the enqueues and the claim after them
// may share the unit of work. Webhook deliveries of the enqueues are created at
// the end of the step, and the claim might take them.
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
