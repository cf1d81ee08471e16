package verify

import (
	"cmp"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// run checks that a dispatched job has a run, and that the two agree.
func (v *Verifier) run(j *rota.Job, named rota.ID) {
	r := j.Run
	switch {
	case r == nil && j.Status == rota.StatusRunning:
		v.jobViolation(j.ID, rota.CheckRunningWithoutRun, "it is RUNNING, but has no run")
		return
	case r == nil:
		v.require(named.IsZero(), j, rota.CheckRunWithoutRunningJob, "it is %s, but names run %s", j.Status, named)
		return
	case j.Status != rota.StatusRunning:
		v.jobViolation(j.ID, rota.CheckRunWithoutRunningJob, "it is %s, but has a run", j.Status)
	default:
		v.runShape(j, r)
	}
	switch {
	case r.Open() && j.Ended():
		v.jobViolation(j.ID, rota.CheckClosedJobOpenRun, "it ended at %s, but its run has no outcome", rules.Stamp(j.FinishedAt))
	case !r.Open() && !j.Ended():
		v.jobViolation(j.ID, rota.CheckOpenJobClosedRun, "its run is %s, but the job has not ended", r.Outcome)
	}
	if r.Open() && r.Token.IsZero() {
		v.jobViolation(j.ID, rota.CheckTokenEmpty, "its run is open, but no worker can hold its lease: the token is empty")
	}
}

func (v *Verifier) runShape(j *rota.Job, r *rota.Run) {
	v.require(!r.ID.IsZero(), j, rota.CheckRunShape, "its run has no id")
	v.require(r.StartedAt.Equal(j.StartedAt) || j.StartedAt.IsZero(), j, rota.CheckRunShape,
		"it started at %s, its run at %s", rules.Stamp(j.StartedAt), rules.Stamp(r.StartedAt))
	v.require(r.Open() == r.FinishedAt.IsZero(), j, rota.CheckRunShape, "its run has only one of outcome and finish time")
	if r.Runner == "" {
		v.skippedShape(j, r)
	}
	switch r.Outcome {
	case "", rota.OutcomeCompleted, rota.OutcomeCancelled:
	case rota.OutcomeFailed, rota.OutcomeSkipped:
		v.require(r.CancelAt.IsZero() || timedOutFirst(j), j, rota.CheckCancelIgnored, "its run was asked to stop and is %s", r.Outcome)
	default:
		v.jobViolation(j.ID, rota.CheckUnknownWord, "the outcome of its run is %q", r.Outcome)
	}
}

// timedOutFirst reports whether a run failed with a timeout that came before the
// request to stop.
func timedOutFirst(j *rota.Job) bool {
	_, cause := rules.StopCause(j)
	return cause == rota.CodeTimeout && j.Run.Outcome == rota.OutcomeFailed && j.Run.ErrorCode == rota.CodeTimeout
}

// skippedShape checks a run without a runner: Rota itself skipped the job, for
// a reason that the job can have.
func (v *Verifier) skippedShape(j *rota.Job, r *rota.Run) {
	if r.Outcome != rota.OutcomeSkipped {
		v.jobViolation(j.ID, rota.CheckSkippedShape, "its run has no runner, but is %s", cmp.Or(string(r.Outcome), "open"))
		return
	}
	known := false
	switch r.ErrorCode {
	case rota.CodeOverlap:
		known = j.Schedule != ""
	case rota.CodeDependency:
		known = j.Schedule != "" && !j.WaitUntil.IsZero()
	case rota.CodeGroup:
		known = !j.GroupID.IsZero()
	}
	v.require(known, j, rota.CheckSkippedShape, "it was skipped with the code %q, which does not fit this job", r.ErrorCode)
	v.require(r.Token.IsZero(), j, rota.CheckSkippedShape, "it was skipped, but its run has a lease token")
}

// sequel checks that the sequel of a job fits how it ended.
func (v *Verifier) sequel(j *rota.Job) {
	switch {
	case j.Sequel == "" && j.Ended() && j.Status != rota.StatusQueued:
		v.jobViolation(j.ID, rota.CheckFinishedWithoutSequel, "it ended at %s, but has no sequel", rules.Stamp(j.FinishedAt))
	case j.Sequel != "" && !j.Ended():
		v.jobViolation(j.ID, rota.CheckSequelUnfinished, "its sequel is %s, but it has not ended", j.Sequel)
	case j.Sequel != "" && j.Status == rota.StatusRunning && j.Run != nil && !j.Run.Open():
		failed := j.Run.ShownOutcome() == rota.OutcomeFailed
		v.require(failed == (j.Sequel != rota.SequelNone), j, rota.CheckWrongSequel,
			"its run is %s, but its sequel is %s", j.Run.Outcome, j.Sequel)
	}
}
