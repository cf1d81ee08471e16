package rules

import (
	"cmp"
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
	if !c.AuditBefore.IsZero() {
		OldAudit.want(u, oldAuditQuery(u, micros(c.AuditBefore)))
	}
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
	if !c.AuditBefore.IsZero() {
		reply.Audit, reply.MoreAudit = removeOldAudit(u, micros(c.AuditBefore))
	}
	return reply, nil
}

func oldAuditQuery(u *UnitOfWork, before time.Time) OldAuditQuery {
	return OldAuditQuery{Before: before.UnixMicro(), Limit: rota.PruneMax + 1 + len(u.removedAudit)}
}

// removeOldAudit removes the oldest audit entries before a time, at most
// PruneMax, including entries of this transaction.
func removeOldAudit(u *UnitOfWork, before time.Time) (removed int, more bool) {
	old := slices.Clone(OldAudit.get(u, oldAuditQuery(u, before)))
	for i := range u.audit {
		if e := &u.audit[i]; e.At.Before(before) {
			old = append(old, OldEntry{At: e.At.UnixMicro(), ID: e.ID})
		}
	}
	slices.SortFunc(old, func(a, b OldEntry) int { return cmp.Or(cmp.Compare(a.At, b.At), a.ID.Compare(b.ID)) })
	old = slices.DeleteFunc(slices.Compact(old), func(e OldEntry) bool { return slices.Contains(u.removedAudit, e.ID) })
	if len(old) == 0 {
		return 0, false
	}
	more = len(old) > rota.PruneMax
	old = old[:min(len(old), rota.PruneMax)]
	length, bound := len(u.removedAudit), u.auditBound
	u.onUndo(func() { u.removedAudit, u.auditBound = u.removedAudit[:length], bound })
	for _, e := range old {
		u.removedAudit = append(u.removedAudit, e.ID)
	}
	if before.After(bound) {
		u.auditBound = before
	}
	return len(old), more
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
	for _, id := range attempts {
		u.archive(u.job(id))
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
