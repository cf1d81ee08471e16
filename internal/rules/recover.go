package rules

import "github.com/rotajobs/rota"

func needRecover(n *Need, c *rota.Recover) {
	ids, _ := n.left(Unsettled{Runner: c.Runner, Incarnation: c.Incarnation, Limit: sweep(c.Limit) + 1})
	for _, id := range ids {
		j := n.unit.job(id)
		needRetry(n, j)
		needEnd(n, j, j.Attempt >= j.Policy.MaxAttempts)
	}
	n.active()
}

// decideRecover settles what an earlier life of a process left behind, row by
// row of the recovery matrix. Leases of others are left to Reap.
func decideRecover(w *UnitOfWork, c *rota.Recover) (rota.Reply, *rota.Error) {
	ids, more := firstOf(w.left.ids, sweep(c.Limit))
	reply := &rota.Recovered{More: more}
	for _, id := range ids {
		act, left := recoverOne(w, c, id)
		if !left {
			continue
		}
		reply.Jobs = append(reply.Jobs, settlement(w, w.job(id), act))
		w.log(c, rota.AuditJobRecovered, id, string(act))
	}
	if r := w.activeReservation(); r != nil && r.Node == c.Runner && !r.Incarnation.IsZero() && r.Incarnation != c.Incarnation {
		expireReservation(w, c, r)
		reply.Reservation = r.ID
	}
	return reply, nil
}

func recoverOne(w *UnitOfWork, c *rota.Recover, id rota.ID) (rota.Settling, bool) {
	j := w.job(id)
	switch {
	case j.Status != rota.StatusRunning || j.Sequel != "":
		return "", false
	case j.Run != nil && j.Run.Open() && !ofEarlierLife(j.Run, c):
		return "", false
	}
	j = w.edit(id)
	switch {
	case j.Run == nil:
		j.Run = lostRun(c, j)
		abandon(w, c, j, "it was running without a run")
		return rota.SettledRunMade, true
	case j.Run.Open():
		abandon(w, c, j, "its process ended while it ran")
		return rota.SettledRunFailed, true
	case j.FinishedAt.IsZero():
		if j.Run.FinishedAt.IsZero() {
			j.Run.FinishedAt = w.Now
		}
		j.FinishedAt = j.Run.FinishedAt
		settle(w, c, j, ending{})
		return rota.SettledJobClosed, true
	}
	settle(w, c, j, ending{})
	return rota.SettledRetryMade, true
}

func ofEarlierLife(run *rota.Run, c *rota.Recover) bool {
	return run.Runner == c.Runner && !run.Incarnation.IsZero() && run.Incarnation != c.Incarnation
}

// lostRun stands for the run that a running job should have had.
func lostRun(c *rota.Recover, j *rota.Job) *rota.Run {
	return &rota.Run{
		ID: rota.RunID(c.ID, j.ID), Runner: c.Runner, Incarnation: c.Incarnation,
		StartedAt: j.StartedAt, HeartbeatAt: j.StartedAt, StaleAfter: j.StartedAt,
	}
}
