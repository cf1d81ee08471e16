package rules

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func needPrune(n *Need, c *rota.Prune) {
	for _, id := range c.Executions {
		needPruneOne(n, id)
	}
	n.expiredReservations(expiredReservationsQuery(n.unit))
	n.expiredRequests(expiredRequestsQuery(n.unit, rota.PruneMax))
}

// needPruneOne asks for an execution, and for what only it may hold.
func needPruneOne(n *Need, execution rota.ID) {
	first := n.job(execution)
	if first == nil || first.Attempt != 1 {
		return
	}
	attempts, _ := n.attempts(Attempts{Execution: execution})
	for _, attempt := range attempts {
		n.job(attempt)
	}
	needKey(n, first)
	if !first.RedriveOf.IsZero() {
		n.job(first.RedriveOf)
	}
	if !first.GroupID.IsZero() {
		n.group(first.GroupID)
	}
}

func expiredReservationsQuery(u *UnitOfWork) ExpiredReservations {
	return ExpiredReservations{Before: u.Now.Add(-rota.ReservationKeep).UnixMicro(), Limit: rota.PruneMax}
}

// decidePrune removes whole executions that have ended, and the records only
// they hold. A redrive is kept as long as the execution it redrives; otherwise
// a dead letter that was redriven would appear as unhandled again.
func decidePrune(u *UnitOfWork, c *rota.Prune) (rota.Reply, *rota.Error) {
	reply := &rota.Pruned{}
	for _, id := range c.Executions {
		first := u.job(id)
		if first == nil {
			continue
		}
		attempts := u.attempts.get(Attempts{Execution: id})
		if !prunable(u, first, attempts, c.Before) {
			reply.Kept = append(reply.Kept, id)
			continue
		}
		pruneOne(u, first, attempts)
		reply.Executions++
		reply.Jobs += len(attempts)
	}
	for _, id := range u.expiredReservations.get(expiredReservationsQuery(u)) {
		u.reservations.set(u, id, nil)
	}
	removeExpiredRequests(u, rota.PruneMax)
	return reply, nil
}

func prunable(u *UnitOfWork, first *rota.Job, attempts []rota.ID, before time.Time) bool {
	if first.Attempt != 1 || u.job(first.RedriveOf) != nil || len(attempts) == 0 {
		return false
	}
	tail := u.job(attempts[len(attempts)-1])
	return tail != nil && tail.Ended() && tail.Sequel != "" && tail.Sequel != rota.SequelRetry &&
		(before.IsZero() || tail.FinishedAt.Before(micros(before)))
}

func pruneOne(u *UnitOfWork, first *rota.Job, attempts []rota.ID) {
	tail := u.job(attempts[len(attempts)-1])
	if held := u.keys.get(UniqueKey{first.Type, first.UniqueKey}); first.UniqueKey != "" && held != nil && held.ExecutionID == first.ID {
		u.keys.set(u, held.Key, nil)
	}
	if g := u.groups.get(first.GroupID); !first.GroupID.IsZero() && g != nil {
		countPruned(u, g, tail)
	}
	for _, id := range slices.Backward(attempts) {
		u.remove(id)
	}
}

// countPruned counts a removed member of a group and removes the group with its
// last member.
func countPruned(u *UnitOfWork, g *rota.Group, tail *rota.Job) {
	next := *g
	next.Pruned.Count(tail)
	if p := next.Pruned; p.Completed+p.Dead+p.Skipped+p.Cancelled < g.Size {
		u.groups.set(u, g.ID, &next)
		return
	}
	u.groups.set(u, g.ID, nil)
	u.removeIntent(Intent{Kind: IntentGroup, Name: g.ID.String()})
}
