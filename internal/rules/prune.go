package rules

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func expiredReservationsQuery(u *UnitOfWork) ExpiredReservationsQuery {
	return ExpiredReservationsQuery{Before: u.Now.Add(-rota.ReservationKeep).UnixMicro(), Limit: rota.PruneMax}
}

// decidePrune removes whole executions that have ended, and the records only
// they hold. A redrive is kept as long as the execution it redrives; otherwise
// a dead letter that was redriven would appear as unhandled again.
func decidePrune(u *UnitOfWork, c *rota.Prune) (rota.Reply, *rota.Error) {
	ExpiredReservations.want(u, expiredReservationsQuery(u))
	ExpiredRequests.want(u, expiredRequestsQuery(u, rota.PruneMax))
	reply := &rota.Pruned{}
	u.each(len(c.Executions), func(i int) {
		id := c.Executions[i]
		first := u.job(id)
		if first == nil {
			return
		}
		attempts := attemptsOf(u, first)
		if !prunable(u, first, attempts, c.Before) {
			reply.Kept = append(reply.Kept, id)
			return
		}
		pruneOne(u, first, attempts)
		reply.Executions++
		reply.Jobs += len(attempts)
	})
	for _, id := range ExpiredReservations.get(u, expiredReservationsQuery(u)) {
		Reservations.set(u, id, nil)
	}
	removeExpiredRequests(u, rota.PruneMax)
	return reply, nil
}

// attemptsOf returns the attempts of an execution, given its first one, and asks
// for what only they hold. There are none if the job is not a first attempt.
func attemptsOf(u *UnitOfWork, first *rota.Job) []rota.ID {
	if first.Attempt != 1 {
		return nil
	}
	if first.UniqueKey != "" {
		UniqueKeys.want(u, UniqueKey{first.Type, first.UniqueKey})
	}
	if !first.RedriveOf.IsZero() {
		u.fullJobs.want(first.RedriveOf)
	}
	if !first.GroupID.IsZero() {
		Groups.want(u, first.GroupID)
	}
	attempts := Attempts.get(u, AttemptsQuery{Execution: first.ID})
	u.each(len(attempts), func(i int) { u.job(attempts[i]) })
	return attempts
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
	if first.UniqueKey != "" {
		if held := UniqueKeys.get(u, UniqueKey{first.Type, first.UniqueKey}); held != nil && held.ExecutionID == first.ID {
			UniqueKeys.set(u, held.Key, nil)
		}
	}
	if !first.GroupID.IsZero() {
		if g := Groups.get(u, first.GroupID); g != nil {
			countPruned(u, g, tail)
		}
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
		Groups.set(u, g.ID, &next)
		return
	}
	Groups.set(u, g.ID, nil)
	u.removeIntent(Intent{Kind: IntentGroup, Name: g.ID.String()})
}
