package rules

import (
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

// decideReap fails runs whose lease has expired. A lease that ends later than
// the longest possible lease was granted before the clock was set back. It is
// shortened, or it would hold its job until the clock has caught up.
func decideReap(u *UnitOfWork, c *rota.Reap) (rota.Reply, *rota.Error) {
	limit := sweepLimit(c.Limit)
	ids, more := firstOf(queryOnce(&u.stale, &u.orders.Stale, Stale{
		Before: u.Now, Ahead: u.Now.Add(rota.LeaseMax), Except: c.Incarnation, Limit: limit + 1,
	}), limit)
	reply := &rota.Reaped{More: more}
	u.each(len(ids), func(i int) {
		id := ids[i]
		j := u.partOfJob(id)
		switch {
		case j.Run == nil || !j.Run.Open():
		case j.Run.StaleAfter.Before(u.Now) && (c.Incarnation.IsZero() || j.Run.Incarnation != c.Incarnation):
			reply.Jobs = append(reply.Jobs, expireRun(u, c, id))
		case j.Run.StaleAfter.After(u.Now.Add(rota.LeaseMax)):
			u.edit(id).Run.StaleAfter = micros(u.Now.Add(rota.LeaseMax))
			reply.Jobs = append(reply.Jobs, rota.Settlement{JobID: id, Act: rota.SettledLeasePull})
		}
	})
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
		s.RetryID = Retries.get(u, j.ID)
	}
	return s
}
