package verify

import (
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// relations checks the schedule, group and redrive fields of a job.
func (v *Verifier) relations(j *rota.Job) {
	v.scheduled(j)
	v.member(j)
	v.redrive(j)
	for _, t := range []time.Time{j.CountsAt, j.WaitFrom, j.WaitUntil} {
		v.require(inRange(t), j, rota.CheckOutOfRange, "one of its times is %s", rules.Stamp(t))
	}
	if _, noted := v.createdFrom[j.Template]; j.Template != "" && !noted {
		v.createdFrom[j.Template] = j.ID
	}
}

func (v *Verifier) scheduled(j *rota.Job) {
	waits := !j.WaitFrom.IsZero() || !j.WaitUntil.IsZero()
	if j.Schedule == "" {
		v.require(j.CountsAt.IsZero(), j, rota.CheckScheduledShape, "it belongs to no schedule, but counts at %s", rules.Stamp(j.CountsAt))
		v.require(!waits, j, rota.CheckScheduledShape, "it belongs to no schedule, but waits for dependencies")
		return
	}
	v.require(j.Name == j.Schedule, j, rota.CheckScheduledShape, "it belongs to schedule %s, but its name is %q", j.Schedule, j.Name)
	v.require(j.Template != "", j, rota.CheckScheduledShape, "it belongs to schedule %s, but has no template", j.Schedule)
	v.require(!j.CountsAt.IsZero(), j, rota.CheckScheduledShape, "it belongs to schedule %s, but has no counts_at", j.Schedule)
	v.require(j.PlanTime.IsZero() || j.CountsAt.IsZero() || j.CountsAt.Equal(j.PlanTime), j, rota.CheckScheduledShape,
		"it is planned for %s, but counts at %s", rules.Stamp(j.PlanTime), rules.Stamp(j.CountsAt))
	if !waits {
		return
	}
	v.require(!j.WaitFrom.IsZero() && !j.WaitUntil.IsZero(), j, rota.CheckScheduledShape, "it has only one of wait_from and wait_until")
	v.require(!j.PlanTime.IsZero() && j.RetryOf.IsZero(), j, rota.CheckScheduledShape, "it waits for dependencies, but is not a planned first attempt")
}

func (v *Verifier) member(j *rota.Job) {
	if j.GroupID.IsZero() {
		v.require(j.GroupPosition == 0, j, rota.CheckMemberShape, "it has position %d, but is in no group", j.GroupPosition)
		return
	}
	v.require(j.GroupPosition > 0, j, rota.CheckMemberShape, "its position is %d in %s", j.GroupPosition, rules.GroupSubject(j.GroupID))
	v.require(j.Schedule == "" && j.PlanTime.IsZero(), j, rota.CheckMemberShape, "it is in %s, but is planned or belongs to a schedule", rules.GroupSubject(j.GroupID))
}

func (v *Verifier) redrive(j *rota.Job) {
	switch {
	case j.RedriveOf.IsZero():
	case j.RedriveOf == j.ExecutionID:
		v.jobViolation(j.ID, rota.CheckRedriveShape, "it redrives itself")
	case !j.RetryOf.IsZero():
		v.jobViolation(j.ID, rota.CheckRedriveShape, "it redrives job %s, but is a retry", j.RedriveOf)
	case !j.PlanTime.IsZero() || !j.GroupID.IsZero() || !j.RunAt.IsZero() && j.Version.IsZero():
		v.jobViolation(j.ID, rota.CheckRedriveShape, "it redrives job %s, but is planned, delayed or in a group", j.RedriveOf)
	}
}

// inRange reports whether a time can be stored. The zero time is no time and is
// in range.
func inRange(t time.Time) bool {
	year := t.UTC().Year()
	return t.IsZero() || year >= 1970 && year <= rota.YearMax
}

// RedriveWalk checks the redrives, sorted by the execution they redrive.
type RedriveWalk struct {
	v          *Verifier
	of, active rota.ID // the current execution, and its redrive that was not cancelled
}

// Redrives begins the walk.
func (v *Verifier) Redrives() *RedriveWalk { return &RedriveWalk{v: v} }

// Next checks the next first attempt that redrives an execution, given its own
// last attempt, the first attempt of that execution, nil if that does not exist,
// and whether that execution completed: such a one may be repeated at will.
func (r *RedriveWalk) Next(j, tail, first *rota.Job, completed bool) {
	if first != nil && !first.RetryOf.IsZero() {
		r.v.pairViolation(rota.CheckRedriveShape, first.ID, j.ID, "the second redrives the first, which is not a first attempt")
	}
	if r.of != j.RedriveOf {
		r.of, r.active = j.RedriveOf, rota.ID{}
	}
	if tail == nil || first == nil || completed || tail.State() == rota.StateCancelled {
		return
	}
	if !r.active.IsZero() {
		r.v.pairViolation(rota.CheckRedriveTwice, r.active, j.ID, "both redrive %s, and neither was cancelled", rules.JobRef(j.RedriveOf))
	}
	r.active = j.ID
}
