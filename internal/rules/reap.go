package rules

import (
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

func needReap(n *Need, c *rota.Reap) {
	ids, _ := n.stale(Stale{
		Before: n.unit.Now, Ahead: n.unit.Now.Add(rota.LeaseMax), Except: c.Incarnation, Limit: sweep(c.Limit) + 1,
	})
	for _, id := range ids {
		if j := n.unit.job(id); j.Run.StaleAfter.Before(n.unit.Now) {
			needRetry(n, j)
			needEnd(n, j, j.Attempt >= j.Policy.MaxAttempts)
		}
	}
}

// decideReap fails runs whose holder has not been heard of. A lease that
// reaches beyond the longest one was given before the clock was set back; it
// is pulled in, or it would hold its job until the clock has caught up.
func decideReap(w *UnitOfWork, c *rota.Reap) (rota.Reply, *rota.Error) {
	ids, more := firstOf(w.stale.ids, sweep(c.Limit))
	reply := &rota.Reaped{More: more}
	for _, id := range ids {
		j := w.job(id)
		switch {
		case j.Run == nil || !j.Run.Open():
			continue
		case j.Run.StaleAfter.Before(w.Now) && (c.Incarnation.IsZero() || j.Run.Incarnation != c.Incarnation):
			reply.Jobs = append(reply.Jobs, expire(w, c, id))
		case j.Run.StaleAfter.After(w.Now.Add(rota.LeaseMax)):
			w.edit(id).Run.StaleAfter = micros(w.Now.Add(rota.LeaseMax))
			reply.Jobs = append(reply.Jobs, rota.Settlement{JobID: id, Act: rota.SettledLeasePull})
		}
	}
	return reply, nil
}

func expire(w *UnitOfWork, c rota.Command, id rota.ID) rota.Settlement {
	j := w.edit(id)
	abandon(w, c, j, fmt.Sprintf("lease expired: %s was last heard of at %s",
		j.Run.Runner, j.Run.HeartbeatAt.Format(time.RFC3339Nano)))
	return settlement(w, j, rota.SettledRunExpired)
}

// abandon fails the open run of a holder that is gone.
func abandon(w *UnitOfWork, c rota.Command, j *rota.Job, reason string) {
	j.Run.Error, j.Run.ErrorCode = reason, rota.CodeLeaseExpired
	endRun(w, j, recorded(j.Run, rota.OutcomeFailed))
	settle(w, c, j, ending{})
}

func settlement(w *UnitOfWork, j *rota.Job, act rota.Settling) rota.Settlement {
	s := rota.Settlement{JobID: j.ID, Act: act, Outcome: j.Run.Outcome, Sequel: j.Sequel}
	if j.Sequel == rota.SequelRetry {
		s.RetryID = w.retries[j.ID]
	}
	return s
}
