package rules

import (
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

// decideReap fails runs whose lease has expired, and ends those that a remote
// worker continues although it was to stop. A lease that ends later than the
// longest possible lease was granted before the clock was set back. It is
// shortened, or it would hold its job until the clock has caught up.
func decideReap(u *UnitOfWork, c *rota.Reap) (rota.Reply, *rota.Error) {
	limit := sweepLimit(c.Limit)
	q := Stale{Ahead: u.Now.Add(rota.LeaseMax), Except: c.Incarnation, Limit: limit + 1}
	if !c.KeepStale {
		q.Before = u.Now
	}
	if c.Grace > 0 {
		q.StopBefore = u.Now.Add(-c.Grace.Truncate(time.Microsecond)) // the precision of the store
	}
	ids, more := firstOf(queryOnce(&u.stale, &u.orders.Stale, q), limit)
	reply := &rota.Reaped{More: more}
	u.each(len(ids), func(i int) {
		id := ids[i]
		j := u.partOfJob(id)
		switch {
		case j.Run == nil || !j.Run.Open():
		case graceOver(j, c.Grace, u.Now) != "":
			reply.Jobs = append(reply.Jobs, stopRemoteRun(u, c, id))
		case j.Run.StaleAfter.Before(q.Before) && (c.Incarnation.IsZero() || j.Run.Incarnation != c.Incarnation):
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

// graceOver returns the error code with which the server ends the run of a
// remote worker that was to stop, empty if the worker may continue at a time. Runs
// of an engine that shares the store have an incarnation; the engine ends them
// itself.
func graceOver(j *rota.Job, grace time.Duration, at time.Time) string {
	if grace == 0 || !j.Run.Incarnation.IsZero() {
		return ""
	}
	since, cause := StopCause(j)
	if cause == "" || !since.Add(grace).Before(at) {
		return ""
	}
	return cause
}

// StopCause returns since when a run has to stop, and the error code of the cause:
// its timeout or a request to stop. The first of the two counts. The code is empty
// if the run may continue for ever.
func StopCause(j *rota.Job) (since time.Time, code string) {
	if j.Policy.Timeout > 0 {
		since, code = j.StartedAt.Add(j.Policy.Timeout), rota.CodeTimeout
	}
	if asked := j.Run.CancelAt; !asked.IsZero() && (code == "" || asked.Before(since)) {
		return asked, rota.CodeCancelled
	}
	return since, code
}

// stopRemoteRun ends the run of a remote worker that was to stop.
func stopRemoteRun(u *UnitOfWork, c *rota.Reap, id rota.ID) rota.Settlement {
	j := u.edit(id)
	reason := "cancelled"
	if j.Run.ErrorCode = graceOver(j, c.Grace, u.Now); j.Run.ErrorCode == rota.CodeTimeout {
		reason = fmt.Sprintf("timed out after %s", j.Policy.Timeout)
	}
	j.Run.Error = fmt.Sprintf("%s; worker %s did not stop within %s", reason, j.Run.Runner, c.Grace)
	endRun(u, j, recordedOutcome(j, rota.OutcomeCancelled, j.Run.ErrorCode))
	settle(u, c, j, retryOptions{})
	return settlement(u, j, rota.SettledRunStopped)
}

// failRun fails the open run of a holder that is gone.
func failRun(u *UnitOfWork, c rota.Command, j *rota.Job, reason string) {
	j.Run.Error, j.Run.ErrorCode = reason, rota.CodeLeaseExpired
	endRun(u, j, recordedOutcome(j, rota.OutcomeFailed, j.Run.ErrorCode))
	settle(u, c, j, retryOptions{})
}

func settlement(u *UnitOfWork, j *rota.Job, act rota.Settling) rota.Settlement {
	s := rota.Settlement{JobID: j.ID, Act: act, Outcome: j.Run.Outcome, Sequel: j.Sequel}
	if j.Sequel == rota.SequelRetry {
		s.RetryID = Retries.get(u, j.ID)
	}
	return s
}
