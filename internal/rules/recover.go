package rules

import "github.com/rotajobs/rota"

// decideRecover settles what an earlier incarnation of a process left behind,
// row by row of the recovery matrix. Reap handles the leases of other
// processes.
func decideRecover(u *UnitOfWork, c *rota.Recover) (rota.Reply, *rota.Error) {
	Active.want(u, one)
	limit := sweepLimit(c.Limit)
	ids, more := firstOf(queryOnce(&u.unsettled, &u.orders.Unsettled, Unsettled{
		Runner: c.Runner, Incarnation: c.Incarnation, Limit: limit + 1,
	}), limit)
	reply := &rota.Recovered{More: more}
	u.each(len(ids), func(i int) {
		if act, left := recoverOne(u, c, ids[i]); left {
			reply.Jobs = append(reply.Jobs, settlement(u, u.partOfJob(ids[i]), act))
			u.auditJob(c, rota.AuditJobRecovered, u.partOfJob(ids[i]), string(act), nil)
		}
	})
	if r := u.activeReservation(); r != nil && r.Node == c.Runner && !r.Incarnation.IsZero() && r.Incarnation != c.Incarnation {
		expireReservation(u, c, r)
		reply.Reservation = r.ID
	}
	return reply, nil
}

func recoverOne(u *UnitOfWork, c *rota.Recover, id rota.ID) (rota.Settling, bool) {
	j := u.partOfJob(id)
	switch {
	case j.Status != rota.StatusRunning || j.Sequel != "":
		return "", false
	case j.Run != nil && j.Run.Open() && !ofEarlierIncarnation(j.Run, c):
		return "", false
	}
	j = u.edit(id)
	switch {
	case j.Run == nil:
		j.Run = missingRun(c, j)
		failRun(u, c, j, "it was running without a run")
		return rota.SettledRunMade, true
	case j.Run.Open():
		failRun(u, c, j, "its process ended while it ran")
		return rota.SettledRunFailed, true
	case j.FinishedAt.IsZero():
		if j.Run.FinishedAt.IsZero() {
			j.Run.FinishedAt = u.Now
		}
		j.FinishedAt = j.Run.FinishedAt
		settle(u, c, j, retryOptions{})
		return rota.SettledJobClosed, true
	}
	settle(u, c, j, retryOptions{})
	return rota.SettledRetryMade, true
}

func ofEarlierIncarnation(run *rota.Run, c *rota.Recover) bool {
	return run.Runner == c.Runner && !run.Incarnation.IsZero() && run.Incarnation != c.Incarnation
}

// missingRun returns a run for a RUNNING job that has none.
func missingRun(c *rota.Recover, j *rota.Job) *rota.Run {
	return &rota.Run{
		ID: rota.RunID(c.ID, j.ID), Runner: c.Runner, Incarnation: c.Incarnation,
		StartedAt: j.StartedAt, HeartbeatAt: j.StartedAt, StaleAfter: j.StartedAt,
	}
}
