package verify

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// identity checks the enumerated fields, and that the attempt fits the place in
// the chain.
func (v *Verifier) identity(j *rota.Job) {
	if j.ID.IsZero() {
		v.jobViolation(j.ID, rota.CheckIDShape, "its id is all zeros")
	}
	switch j.Status {
	case rota.StatusQueued, rota.StatusRunning, rota.StatusCancelled:
	default:
		v.jobViolation(j.ID, rota.CheckUnknownWord, "its status is %q", j.Status)
	}
	switch j.Sequel {
	case "", rota.SequelNone, rota.SequelRetry, rota.SequelDead:
	default:
		v.jobViolation(j.ID, rota.CheckUnknownWord, "its sequel is %q", j.Sequel)
	}
	first := j.RetryOf.IsZero()
	switch {
	case j.Attempt < 1 || j.Attempt > j.Policy.MaxAttempts:
		v.jobViolation(j.ID, rota.CheckAttemptRange, "it is attempt %d of at most %d", j.Attempt, j.Policy.MaxAttempts)
	case first && j.Attempt != 1:
		v.jobViolation(j.ID, rota.CheckAttemptRange, "it is attempt %d, but retries no job", j.Attempt)
	case !first && j.Attempt == 1:
		v.jobViolation(j.ID, rota.CheckAttemptRange, "it is attempt 1, but retries %s", rules.JobRef(j.RetryOf))
	}
	if first != (j.ExecutionID == j.ID) {
		v.violation(rota.CheckExecutionIdentity, []string{rules.JobRef(j.ID), "execution " + j.ExecutionID.String()},
			"its execution id is not the id of its first attempt")
	}
}

// content checks that Enqueue would accept the job. The same code validates
// commands and stored jobs.
func (v *Verifier) content(j *rota.Job) {
	retries := j.Policy.MaxAttempts - 1
	err := (&rota.Enqueue{Jobs: []rota.NewJob{{
		ID: j.ID, Type: submittable(j.Type), Name: j.Name, Params: j.Params, Priority: &j.Priority, RunAt: j.RunAt,
		UniqueKey: j.UniqueKey, UniqueFor: j.UniqueFor, ScopeKind: j.ScopeKind, ScopeID: j.ScopeID, PlanTime: j.PlanTime,
		MaxRetries: &retries, Backoff: &j.Policy.Backoff, BackoffMax: &j.Policy.BackoffMax,
		Jitter: &j.Policy.Jitter, Timeout: &j.Policy.Timeout, Template: j.Template, ConcurrencyKey: &j.ConcurrencyKey,
		Trace: j.Trace,
	}}}).Validate()
	var refusal *rota.Error
	switch {
	case errors.As(err, &refusal):
		field := strings.TrimPrefix(refusal.Field, "jobs[0].")
		check := rota.CheckOutOfRange
		if field == "params" {
			check = rota.CheckBadJSON
		}
		v.jobViolation(j.ID, check, "its %s %s", field, refusal.Reason)
	case len(j.Params) == 0:
		v.jobViolation(j.ID, rota.CheckBadJSON, "its params are empty")
	case j.Type == "":
		v.jobViolation(j.ID, rota.CheckOutOfRange, "its type is empty")
	}
	if j.Position < -positionMax || j.Position > positionMax {
		v.jobViolation(j.ID, rota.CheckOutOfRange, "its position is %d, which is close to an overflow", j.Position)
	}
	if j.Run == nil {
		return
	}
	v.require(j.Run.Result == nil || json.Valid(j.Run.Result), j, rota.CheckBadJSON, "the result of its run is not JSON")
	v.require(j.Run.Progress == nil || json.Valid(j.Run.Progress), j, rota.CheckBadJSON, "the progress of its run is not JSON")
}

// submittable returns a type name that is valid for Enqueue exactly if typ is a
// valid name. Enqueue accepts no internal types.
func submittable(typ string) string {
	if rota.InternalType(typ) {
		return "own." + typ
	}
	return typ
}

// positionMax is far beyond what moves can reach, and far from overflow.
const positionMax = 1 << 62

// shape checks that the times and the hold fit the status. It does not compare
// times that differ if the clock was set back.
func (v *Verifier) shape(j *rota.Job) {
	switch j.Status {
	case rota.StatusQueued:
		v.queuedShape(j)
	case rota.StatusRunning:
		v.require(!j.StartedAt.IsZero(), j, rota.CheckRunningShape, "it is RUNNING without a start time")
		v.require(j.Hold == 0, j, rota.CheckRunningShape, "it is RUNNING with hold %d", j.Hold)
		v.require(!j.QueuedAt.IsZero(), j, rota.CheckRunningShape, "it is RUNNING, but has no queued_at")
	case rota.StatusCancelled:
		v.require(j.StartedAt.IsZero(), j, rota.CheckCancelledShape, "it is CANCELLED, but has started")
		v.require(!j.FinishedAt.IsZero(), j, rota.CheckCancelledShape, "it is CANCELLED, but has not ended")
		v.require(j.Sequel == "" || j.Sequel == rota.SequelNone, j, rota.CheckCancelledShape,
			"it is CANCELLED, but its sequel is %s", j.Sequel)
	}
	// Ready and Enqueue compare run_at with the time they store as queued_at, so
	// this holds even if the clock was set back later.
	if rules.WaitedForTime(j) && !j.QueuedAt.IsZero() && j.RunAt.After(j.QueuedAt) {
		v.jobViolation(j.ID, rota.CheckQueuedEarly, "it became ready at %s, before its run_at %s", rules.Stamp(j.QueuedAt), rules.Stamp(j.RunAt))
	}
}

func (v *Verifier) queuedShape(j *rota.Job) {
	v.require(j.StartedAt.IsZero(), j, rota.CheckQueuedShape, "it is QUEUED, but has started")
	v.require(j.FinishedAt.IsZero(), j, rota.CheckQueuedShape, "it is QUEUED, but has ended")
	v.require(j.Hold != 0 || !j.QueuedAt.IsZero(), j, rota.CheckQueuedShape, "it is ready, but has no queued_at")
	v.holdShape(j)
}

// holdReasons are the known reasons to hold a job back, and what a job needs
// for each.
var holdReasons = []struct {
	hold    rota.Hold
	fits    func(*rota.Job) bool
	problem string
}{
	{rota.HoldDelay, func(j *rota.Job) bool { return !j.RunAt.IsZero() }, "it is delayed, but has no run_at"},
	{rota.HoldGroup, func(j *rota.Job) bool { return !j.GroupID.IsZero() && j.RetryOf.IsZero() }, "it waits for an earlier member, but is not a first attempt of a group"},
	{rota.HoldDependency, func(j *rota.Job) bool { return j.Schedule != "" && !j.WaitUntil.IsZero() }, "it waits for dependencies, but has no wait_until"},
	{rota.HoldOverlap, func(j *rota.Job) bool { return j.Schedule != "" && j.RetryOf.IsZero() }, "it waits for an earlier execution, but is not a first attempt of a schedule"},
	{rota.HoldKey, func(j *rota.Job) bool { return j.ConcurrencyKey != "" && j.Hold == rota.HoldKey }, "its concurrency key holds it back, but it has no key, or waits for something else too"},
}

func (v *Verifier) holdShape(j *rota.Job) {
	unknown := j.Hold
	for _, r := range holdReasons {
		v.require(j.Hold&r.hold == 0 || r.fits(j), j, rota.CheckHoldShape, "%s", r.problem)
		unknown &^= r.hold
	}
	v.require(unknown == 0, j, rota.CheckHoldShape, "its hold is %d, which has no meaning", j.Hold)
	v.require(j.Hold&^rota.HoldKey == 0 || j.QueuedAt.IsZero(), j, rota.CheckHoldShape, "it is held, but has a queued_at")
}

func (v *Verifier) require(ok bool, j *rota.Job, check, format string, args ...any) {
	if !ok {
		v.jobViolation(j.ID, check, format, args...)
	}
}
