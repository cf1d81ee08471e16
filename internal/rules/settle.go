package rules

import (
	"encoding/binary"
	"time"

	"github.com/rotajobs/rota"
)

// wantRetry asks for what it takes to retry a job, or to end it if it is not
// retried.
func wantRetry(u *UnitOfWork, j *rota.Job) {
	if j.UniqueKey != "" {
		UniqueKeys.want(u, UniqueKey{j.Type, j.UniqueKey})
	}
	Retries.want(u, j.ID)
	u.fullJobs.want(j.ID)
	u.wantTail(j.Priority)
}

// settle decides what follows a job whose run has ended: nothing, a retry, or a
// dead letter; and what that means for other rows.
func settle(u *UnitOfWork, c rota.Command, j *rota.Job, e retryOptions) {
	run := j.Run
	failed := run.ShownOutcome() == rota.OutcomeFailed
	if failed {
		wantRetry(u, j)
	}
	u.together(
		func() { runEnded(u, j) },
		func() { decideSequel(u, c, j, e, failed) },
	)
}

// decideSequel decides whether a job is retried.
func decideSequel(u *UnitOfWork, c rota.Command, j *rota.Job, e retryOptions, failed bool) {
	switch {
	case !failed:
		j.Sequel = rota.SequelNone
		executionEnded(u, c, j, true)
	case !Retries.get(u, j.ID).IsZero():
		j.Sequel = rota.SequelRetry
	case e.permanent || j.Attempt >= j.Policy.MaxAttempts || !j.Run.CancelAt.IsZero() || groupEnding(u, j) || dropped(u, j):
		j.Sequel = rota.SequelDead
		executionEnded(u, c, j, true)
	default:
		j.Sequel = rota.SequelRetry
		createRetry(u, c.Head(), j, e)
	}
}

// groupEnding reports whether the job's group was ended, so that none of its
// members starts any more.
func groupEnding(u *UnitOfWork, j *rota.Job) bool {
	if j.GroupID.IsZero() {
		return false
	}
	g := Groups.get(u, j.GroupID)
	return g != nil && g.Ending != ""
}

// createRetry creates the next attempt as a new job, since a job runs once.
func createRetry(u *UnitOfWork, c *rota.Meta, j *rota.Job, e retryOptions) {
	u.job(j.ID) // with its params
	next := &rota.Job{
		ID: rota.RetryID(c.ID, j.ID), ExecutionID: j.ExecutionID, Type: j.Type, Name: j.Name, Params: j.Params,
		Status: rota.StatusQueued, Priority: j.Priority, Attempt: j.Attempt + 1, RetryOf: j.ID, Policy: j.Policy,
		ScopeKind: j.ScopeKind, ScopeID: j.ScopeID, PlanTime: j.PlanTime, UniqueKey: j.UniqueKey, UniqueFor: j.UniqueFor,
		Template: j.Template, Schedule: j.Schedule, GroupID: j.GroupID, GroupPosition: j.GroupPosition,
		ConcurrencyKey: j.ConcurrencyKey, CountsAt: j.CountsAt, Trace: j.Trace,
		Owner: j.Owner, CreatedBy: j.CreatedBy, CreatedAt: u.Now,
	}
	switch {
	case !e.retryAt.IsZero():
		next.RunAt = e.retryAt
	case j.Run.ErrorCode == rota.CodeShutdown:
		next.RunAt = u.Now
	default:
		next.RunAt = micros(u.Now.Add(retryDelay(j.Policy, j.Attempt, next.ID)))
	}
	enterQueue(u, next, 0)
	u.insert(next)
}

// retryDelay is backoff × 2^(retries so far), capped, less a fraction that
// depends on the retry's id, so that jobs that failed together are not retried
// together.
func retryDelay(p rota.Policy, attempt int, retry rota.ID) time.Duration {
	maxDelay := time.Duration(rota.DelayMax)
	if p.BackoffMax > 0 {
		maxDelay = min(maxDelay, p.BackoffMax)
	}
	delay := min(p.Backoff, maxDelay)
	for n := 1; n < attempt && delay < maxDelay && delay > 0; n++ {
		delay = min(2*delay, maxDelay)
	}
	spread := float64(binary.BigEndian.Uint32(retry[12:])) / (1 << 32)
	delay -= time.Duration(float64(delay) * p.Jitter * spread)
	return delay.Truncate(time.Microsecond)
}
