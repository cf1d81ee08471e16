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
	EndedTokens.want(u, endedTokensQuery(u))
	reply := &rota.Pruned{}
	examined := eachChain(u, c.Executions, rota.PruneRowsMax, func(first *rota.Job, attempts []rota.ID) {
		if !prunable(u, first, attempts, c.Before) {
			reply.Kept = append(reply.Kept, first.ID)
			return
		}
		pruneOne(u, first, attempts)
		reply.Executions++
		reply.Jobs += len(attempts)
	})
	reply.Rest = slices.Clone(c.Executions[examined:])
	for _, id := range ExpiredReservations.get(u, expiredReservationsQuery(u)) {
		Reservations.set(u, id, nil)
	}
	removeExpiredRequests(u, rota.PruneMax)
	removeEndedTokens(u, c)
	return reply, nil
}

func endedTokensQuery(u *UnitOfWork) EndedTokensQuery {
	return EndedTokensQuery{Before: u.Now.Add(-rota.TokenKeep).UnixMicro(), Limit: rota.PruneMax}
}

// removeEndedTokens removes tokens that nobody can use any more. Each has an audit entry, which stays longer.
func removeEndedTokens(u *UnitOfWork, c *rota.Prune) {
	ids := EndedTokens.get(u, endedTokensQuery(u))
	for _, id := range ids {
		AccessState.want(u, one)
		u.wantAuditedSubject(c, tokenSubject(id))
		AccessTokens.want(u, id)
	}
	for _, id := range ids {
		t := AccessTokens.get(u, id)
		if t == nil || t.EndedAt().IsZero() || !t.EndedAt().Before(u.Now.Add(-rota.TokenKeep)) || u.auditedSubject(c, tokenSubject(id)) {
			continue
		}
		AccessTokens.set(u, id, nil)
		u.setAccess(c, time.Time{})
		u.auditSubject(c, rota.AuditTokenPruned, tokenSubject(id), tokenDetail(t), nil)
	}
}

// eachChain calls a rule for each of some executions that exist, with its first attempt and
// the ids of all. It stops after the execution with which they have maxRows rows: a job and an
// audit entry for each attempt, and one entry for the first. It returns how many executions it
// has passed.
func eachChain(u *UnitOfWork, executions []rota.ID, maxRows int, rule func(first *rota.Job, attempts []rota.ID)) (passed int) {
	chains := make([][]rota.ID, len(executions))
	u.each(len(executions), func(i int) {
		if first := u.job(executions[i]); first != nil {
			chains[i] = attemptsOf(u, first)
		}
	})
	for rows := 0; passed < len(executions) && rows < maxRows; passed++ {
		if attempts := len(chains[passed]); attempts > 0 {
			rows += 2*attempts + 1
		}
	}
	u.each(passed, func(i int) {
		loadChain(u, chains[i])
		if first := u.job(executions[i]); first != nil {
			rule(first, chains[i])
		}
	})
	return passed
}

// loadChain loads the attempts of an execution, and whether the audit has entries with the ids of
// theirs.
func loadChain(u *UnitOfWork, attempts []rota.ID) {
	u.each(len(attempts), func(i int) {
		j := u.job(attempts[i])
		if j == nil {
			return // another transaction pruned it since its id was read
		}
		for _, e := range j.AuditEntries() {
			u.archiveID(&e)
		}
	})
}

// attemptsOf returns the ids of the attempts of an execution, given its first one, and asks
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
	for _, e := range first.AuditEntries() {
		Audits.want(u, e.ID)
	}
	return Attempts.get(u, AttemptsQuery{Execution: first.ID})
}

func prunable(u *UnitOfWork, first *rota.Job, attempts []rota.ID, before time.Time) bool {
	if first.Attempt != 1 || u.job(first.RedriveOf) != nil || len(attempts) == 0 {
		return false
	}
	if slices.ContainsFunc(attempts, func(id rota.ID) bool { return u.job(id) == nil }) {
		return false // another transaction pruned it meanwhile
	}
	tail := u.job(attempts[len(attempts)-1])
	return tail.Ended() && tail.Sequel != "" && tail.Sequel != rota.SequelRetry &&
		(before.IsZero() || tail.FinishedAt.Before(micros(before)))
}

// pruneOne removes an execution. It returns how many rows it removed, and wrote to the audit.
func pruneOne(u *UnitOfWork, first *rota.Job, attempts []rota.ID) (rows int) {
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
		rows += u.archive(u.job(id))
	}
	for _, id := range slices.Backward(attempts) {
		u.remove(id)
	}
	return rows + len(attempts)
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
