package rules

import "github.com/rotajobs/rota"

func needExtend(n *Need, c *rota.Extend) {
	n.active()
	n.SkipLocked = true
	for i := range c.Items {
		n.lease(c.Items[i].JobID)
	}
}

// decideExtend beats for each lease that is still held. A stale lease that
// nobody reaped is held. One that somebody has locked is left as it is, to be
// extended with the next beat: to wait for it might cost all the others.
func decideExtend(w *UnitOfWork, c *rota.Extend) (rota.Reply, *rota.Error) {
	answers := make([]rota.LeaseAnswer, len(c.Items))
	for i := range c.Items {
		item := &c.Items[i]
		j := leased(w, &item.LeaseRef)
		if j == nil || !j.Run.Open() {
			answers[i] = leaseLost(&item.LeaseRef)
			continue
		}
		if w.busy[j.ID] {
			answers[i] = leaseAnswer(j.Run)
			continue
		}
		run := w.edit(j.ID).Run
		run.HeartbeatAt = w.Now
		run.StaleAfter = micros(w.Now.Add(c.Lease))
		keepReservation(w, j.ID, run.StaleAfter)
		if item.Progress != nil {
			run.Progress = item.Progress
		}
		answers[i] = leaseAnswer(run)
		answers[i].Overdue = late(w, j)
	}
	keepReserved(w, c.ReservationID, micros(w.Now.Add(c.Lease)))
	return &rota.Extended{Items: answers}, nil
}

// late says that a run has taken longer than its policy allows. The law leaves
// it alone: its runner is the one to stop it.
func late(w *UnitOfWork, j *rota.Job) bool {
	return j.Policy.Timeout > 0 && !w.Now.Before(j.StartedAt.Add(j.Policy.Timeout))
}
