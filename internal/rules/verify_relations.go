package rules

import (
	"time"

	"github.com/rotajobs/rota"
)

// relations: what a job has to do with others fits together.
func (v *Verifier) relations(j *rota.Job) {
	v.scheduled(j)
	v.member(j)
	v.redrive(j)
	for _, t := range []time.Time{j.CountsAt, j.WaitFrom, j.WaitUntil} {
		v.require(inRange(t), j, rota.CheckOutOfRange, "one of its times is %s", stamp(t))
	}
	if _, noted := v.madeFrom[j.Template]; j.Template != "" && !noted {
		v.madeFrom[j.Template] = j.ID
	}
}

func (v *Verifier) scheduled(j *rota.Job) {
	waits := !j.WaitFrom.IsZero() || !j.WaitUntil.IsZero()
	if j.Schedule == "" {
		v.require(j.CountsAt.IsZero(), j, rota.CheckScheduledShape, "it is of no schedule, but counts at %s", stamp(j.CountsAt))
		v.require(!waits, j, rota.CheckScheduledShape, "it is of no schedule, but waits for dependencies")
		return
	}
	v.require(j.Name == j.Schedule, j, rota.CheckScheduledShape, "it is of schedule %s, but goes by the name %q", j.Schedule, j.Name)
	v.require(j.Template != "", j, rota.CheckScheduledShape, "it is of schedule %s, but was made from no template", j.Schedule)
	v.require(!j.CountsAt.IsZero(), j, rota.CheckScheduledShape, "it is of schedule %s, but counts at no time", j.Schedule)
	v.require(j.PlanTime.IsZero() || j.CountsAt.IsZero() || j.CountsAt.Equal(j.PlanTime), j, rota.CheckScheduledShape,
		"it is planned for %s, but counts at %s", stamp(j.PlanTime), stamp(j.CountsAt))
	if !waits {
		return
	}
	v.require(!j.WaitFrom.IsZero() && !j.WaitUntil.IsZero(), j, rota.CheckScheduledShape, "it has one end of its wait for dependencies without the other")
	v.require(!j.PlanTime.IsZero() && j.RetryOf.IsZero(), j, rota.CheckScheduledShape, "it waits for dependencies, but is no planned first attempt")
}

func (v *Verifier) member(j *rota.Job) {
	if j.GroupID.IsZero() {
		v.require(j.GroupPosition == 0, j, rota.CheckMemberShape, "it has place %d in no group", j.GroupPosition)
		return
	}
	v.require(j.GroupPosition > 0, j, rota.CheckMemberShape, "it has place %d in %s", j.GroupPosition, groupSubject(j.GroupID))
	v.require(j.Schedule == "" && j.PlanTime.IsZero(), j, rota.CheckMemberShape, "it is in %s, but is planned or of a schedule", groupSubject(j.GroupID))
}

func (v *Verifier) redrive(j *rota.Job) {
	switch {
	case j.RedriveOf.IsZero():
	case j.RedriveOf == j.ExecutionID:
		v.jobViolation(j.ID, rota.CheckRedriveShape, "it tries itself anew")
	case !j.RetryOf.IsZero():
		v.jobViolation(j.ID, rota.CheckRedriveShape, "it tries job %s anew, but is a retry itself", j.RedriveOf)
	case !j.PlanTime.IsZero() || !j.RunAt.IsZero() || !j.GroupID.IsZero():
		v.jobViolation(j.ID, rota.CheckRedriveShape, "it tries job %s anew, but is planned, was delayed or is in a group", j.RedriveOf)
	}
}

// inRange says whether a time is one that can be written. Zero is no time.
func inRange(t time.Time) bool {
	year := t.UTC().Year()
	return t.IsZero() || year >= 1970 && year <= rota.YearMax
}

// RedriveWalk is the walk of what tries other executions anew, by those.
type RedriveWalk struct {
	v          *Verifier
	of, active rota.ID // an execution, and who tries it anew and was not called off
}

// Redrives begins the walk.
func (v *Verifier) Redrives() *RedriveWalk { return &RedriveWalk{v: v} }

// Next looks at the next first attempt that tries an execution anew: given its
// own last attempt, and the first of that execution, nil if it is gone.
func (r *RedriveWalk) Next(j, tail, first *rota.Job) {
	if first != nil && !first.RetryOf.IsZero() {
		r.v.pairViolation(rota.CheckRedriveShape, first.ID, j.ID, "the second tries the first anew, which is no first attempt")
	}
	if r.of != j.RedriveOf {
		r.of, r.active = j.RedriveOf, rota.ID{}
	}
	if tail == nil || wasCancelled(tail) {
		return
	}
	if !r.active.IsZero() {
		r.v.pairViolation(rota.CheckRedriveTwice, r.active, j.ID, "both try %s anew, and neither was called off", jobRef(j.RedriveOf))
	}
	r.active = j.ID
}
