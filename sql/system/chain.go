package system

import (
	"time"

	"github.com/rotajobs/rota"
)

// chain is an execution, known by its last attempt. Earlier attempts are read when a column needs them.
type chain struct {
	*rota.Job // the last attempt
	q         *query
}

// waitsForRetry reports whether an attempt has ended and the next one waits.
func (c *chain) waitsForRetry() bool { return c.Status == rota.StatusQueued && !c.RetryOf.IsZero() }

// pending reports whether the execution has neither been dispatched nor ended.
func pending(tail *rota.Job) bool { return tail.Status == rota.StatusQueued && tail.RetryOf.IsZero() }

// first returns the first attempt.
func (c *chain) first() *rota.Job { return c.read(c.ExecutionID) }

// dispatched returns the last attempt that was dispatched, or the first attempt if none was.
func (c *chain) dispatched() *rota.Job {
	if c.waitsForRetry() {
		return c.read(c.RetryOf)
	}
	return c.Job
}

// read reads another attempt. If it is gone, the last attempt stands for it.
func (c *chain) read(id rota.ID) *rota.Job {
	if id == c.ID {
		return c.Job
	}
	if j := c.q.attempt(id); j != nil {
		return j
	}
	return c.Job
}

// created returns when the first attempt was created.
func (c *chain) created() time.Time {
	if c.RetryOf.IsZero() {
		return c.CreatedAt
	}
	return c.first().CreatedAt
}

// errorCode returns the code of the last attempt that was dispatched.
func (c *chain) errorCode() string {
	j := c.dispatched()
	switch {
	case j.Run != nil && j.Run.ErrorCode != "":
		return j.Run.ErrorCode
	case j.State() == rota.StateCancelled:
		return rota.CodeCancelled
	}
	return ""
}

// message returns the message of the last attempt that was dispatched.
func (c *chain) message() string { return endMessage(c.dispatched()) }

// endMessage returns the error of a job, or the reason of its cancellation. A job that completed
// although it was asked to stop has neither.
func endMessage(j *rota.Job) string {
	switch {
	case j.Run == nil:
		return ""
	case j.Run.Error == "" && (j.Run.Open() || j.State() == rota.StateCancelled):
		return j.Run.CancelReason
	}
	return j.Run.Error
}

// attempt reads one job without its params, nil if it is gone. An error ends the query.
func (q *query) attempt(id rota.ID) *rota.Job {
	if found := q.attempts.get(id); found != nil {
		return found
	}
	view, err := q.store()
	if err != nil {
		_ = q.fail(err)
		return nil
	}
	q.reads++
	j, err := view.Job(q.ctx, id)
	if err != nil && rota.CodeOf(err) != rota.NotFound {
		_ = q.fail(err)
	}
	if j == nil {
		return nil
	}
	lean := *j
	lean.Params = nil
	q.attempts.put(id, &lean)
	return &lean
}
