package rules

import "github.com/rotajobs/rota"

// decideExtend renews each lease that is still held. A stale lease that was not
// reaped is held. A lease that another transaction has locked is left as it is
// and renewed with the next heartbeat, since waiting for it might cost all the
// others.
func decideExtend(u *UnitOfWork, c *rota.Extend) (rota.Reply, *rota.Error) {
	answers := make([]rota.LeaseAnswer, len(c.Items))
	for i := range c.Items {
		item := &c.Items[i]
		j := leased(u, &item.LeaseRef)
		if j == nil || !j.Run.Open() || graceOver(j, c.Grace, u.Now) != "" {
			answers[i] = leaseLost(&item.LeaseRef)
			continue
		}
		if u.lockedByOthers[j.ID] {
			answers[i] = leaseAnswer(j.Run)
			continue
		}
		run := u.edit(j.ID).Run
		run.HeartbeatAt = u.Now
		run.StaleAfter = micros(u.Now.Add(c.Lease))
		extendForRun(u, j.ID, run.StaleAfter)
		if item.Progress != nil {
			run.Progress = item.Progress
		}
		answers[i] = leaseAnswer(run)
		answers[i].Overdue = late(u, j)
	}
	extendUnused(u, c.ReservationID, micros(u.Now.Add(c.Lease)))
	return &rota.Extended{Items: answers}, nil
}

// late reports whether a run has taken longer than its policy allows. Its runner
// stops it then; if a remote worker does not, Reap does.
func late(u *UnitOfWork, j *rota.Job) bool {
	return j.Policy.Timeout > 0 && !u.Now.Before(j.StartedAt.Add(j.Policy.Timeout))
}
