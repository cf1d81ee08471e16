package rules

import (
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

func needReap(n *Need, c *rota.Reap) {
	ids, _ := n.stale(Stale{
		Before: n.unit.Now, Ahead: n.unit.Now.Add(rota.LeaseMax), Except: c.Incarnation, Limit: sweepLimit(c.Limit) + 1,
	})
	for _, id := range ids {
		if j := n.unit.job(id); j.Run.StaleAfter.Before(n.unit.Now) {
			needRetry(n, j)
			needEnd(n, j, j.Attempt >= j.Policy.MaxAttempts)
		}
	}
}

// decideReap fails runs whose lease has expired. A lease that ends later than
// the longest possible lease was granted before the clock was set back. It is
// shortened, or it would hold its job until the clock has caught up.
func decideReap(u *UnitOfWork, c *rota.Reap) (rota.Reply, *rota.Error) {
	ids, more := firstOf(u.stale.ids, sweepLimit(c.Limit))
	reply := &rota.Reaped{More: more}
	for _, id := range ids {
		j := u.job(id)
		switch {
		case j.Run == nil || !j.Run.Open():
			continue
		case j.Run.StaleAfter.Before(u.Now) && (c.Incarnation.IsZero() || j.Run.Incarnation != c.Incarnation):
			reply.Jobs = append(reply.Jobs, expireRun(u, c, id))
		case j.Run.StaleAfter.After(u.Now.Add(rota.LeaseMax)):
			u.edit(id).Run.StaleAfter = micros(u.Now.Add(rota.LeaseMax))
			reply.Jobs = append(reply.Jobs, rota.Settlement{JobID: id, Act: rota.SettledLeasePull})
		}
	}
	return reply, nil
}

func expireRun(u *UnitOfWork, c rota.Command, id rota.ID) rota.Settlement {
	j := u.edit(id)
	failRun(u, c, j, fmt.Sprintf("lease expired: %s was last heard of at %s",
		j.Run.Runner, j.Run.HeartbeatAt.Format(time.RFC3339Nano)))
	return settlement(u, j, rota.SettledRunExpired)
}

// failRun fails the open run of a holder that is gone.
func failRun(u *UnitOfWork, c rota.Command, j *rota.Job, reason string) {
	j.Run.Error, j.Run.ErrorCode = reason, rota.CodeLeaseExpired
	endRun(u, j, recordedOutcome(j.Run, rota.OutcomeFailed))
	settle(u, c, j, retryOptions{})
}

func settlement(u *UnitOfWork, j *rota.Job, act rota.Settling) rota.Settlement {
	s := rota.Settlement{JobID: j.ID, Act: act, Outcome: j.Run.Outcome, Sequel: j.Sequel}
	if j.Sequel == rota.SequelRetry {
		s.RetryID = u.retries[j.ID]
	}
	return s
}
