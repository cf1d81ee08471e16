package verify

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// GroupWalk checks the members of one group, by position and attempt.
type GroupWalk struct {
	v            *Verifier
	g            *rota.Group
	sweepPending bool // a Sweep has yet to handle the group
	present      int  // executions seen
	last         *rota.Job
	first        *rota.Job // first member that has not ended
}

// Group checks a group and begins the walk of its members. The intents come
// first.
func (v *Verifier) Group(g *rota.Group) *GroupWalk {
	row := rules.GroupSubject(g.ID)
	knownWord(v, row, "mode", g.Mode, rota.GroupParallel, rota.GroupSequential)
	knownWord(v, row, "policy on failure", g.OnFailure, rota.FailureContinue, rota.FailureStop, rota.FailureSkip)
	knownWord(v, row, "ending", g.Ending, "", rota.EndingCancel, rota.EndingStop, rota.EndingSkip)
	v.checkAccepted(row, (&rota.EnqueueGroup{Name: g.Name, Jobs: []rota.NewJob{{Type: "any"}}}).Validate(), rota.CheckOutOfRange)
	v.times(row, g.CreatedAt)
	v.groupShape(row, g)
	return &GroupWalk{v: v, g: g, sweepPending: v.intents[rules.Intent{Kind: rules.IntentGroup, Name: g.ID.String()}]}
}

func (v *Verifier) groupShape(row string, g *rota.Group) {
	asPolicy := rota.Ending(g.OnFailure) // an ending caused by a failure has the name of the policy
	p := g.Pruned
	switch {
	case g.ID.IsZero():
		v.violation(rota.CheckIDShape, []string{row}, "its id is all zeros")
	case g.Size < 1 || g.Size > rota.JobsMax:
		v.violation(rota.CheckOutOfRange, []string{row}, "its size is %d", g.Size)
	case (g.Ending == rota.EndingStop || g.Ending == rota.EndingSkip) && g.Ending != asPolicy:
		v.violation(rota.CheckGroupShape, []string{row}, "it was ended by %s, but its policy on failure is %s", g.Ending, g.OnFailure)
	case g.Ending == "" && (g.EndingReason != "" || g.EndingBy != ""):
		v.violation(rota.CheckGroupShape, []string{row}, "it was not ended, but has a reason or an actor of its end")
	case p.Queued != 0 || p.Running != 0 || min(p.Completed, p.Dead, p.Skipped, p.Cancelled) < 0:
		v.violation(rota.CheckGroupShape, []string{row}, "it counts members as pruned that had not ended")
	case pruned(g) >= g.Size:
		v.violation(rota.CheckGroupShape, []string{row}, "all of its %d members were pruned, but the group exists", g.Size)
	}
}

func pruned(g *rota.Group) int {
	p := g.Pruned
	return p.Completed + p.Dead + p.Skipped + p.Cancelled
}

// Next checks the next member.
func (r *GroupWalk) Next(j *rota.Job) {
	if j.RetryOf.IsZero() {
		r.place(j)
	}
	if j.Sequel != "" {
		return
	}
	r.turn(j)
	if r.g.Ending != "" && !r.sweepPending {
		r.ended(j)
	}
	if r.first == nil {
		r.first = j
	}
}

func (r *GroupWalk) place(j *rota.Job) {
	r.present++
	switch {
	case j.GroupPosition > r.g.Size:
		r.v.violation(rota.CheckGroupPlaces, []string{rules.GroupSubject(r.g.ID), rules.JobRef(j.ID)}, "the job has position %d of %d", j.GroupPosition, r.g.Size)
	case r.last != nil && r.last.GroupPosition == j.GroupPosition:
		r.v.pairViolation(rota.CheckGroupPlaces, r.last.ID, j.ID, "both have position %d of %s", j.GroupPosition, rules.GroupSubject(r.g.ID))
	}
	r.last = j
}

// turn checks that the members of a sequential group run one at a time. A
// released member stays released until it has ended, so all later members wait,
// even if the group was ended.
func (r *GroupWalk) turn(j *rota.Job) {
	waits := j.Status == rota.StatusQueued && j.Hold&rota.HoldGroup != 0
	switch {
	case r.g.Mode == rota.GroupParallel && waits:
		r.v.jobViolation(j.ID, rota.CheckGroupTurn, "it waits for an earlier member, but %s is parallel", rules.GroupSubject(r.g.ID))
	case r.g.Mode != rota.GroupSequential:
	case r.first == nil && waits && r.g.Ending == "" && !r.sweepPending:
		r.v.jobViolation(j.ID, rota.CheckGroupTurn, "it waits for an earlier member of %s, but all of them have ended", rules.GroupSubject(r.g.ID))
	case r.first != nil && !waits:
		r.v.pairViolation(rota.CheckGroupTurn, r.first.ID, j.ID, "both may run at once, but %s is sequential", rules.GroupSubject(r.g.ID))
	}
}

func (r *GroupWalk) ended(j *rota.Job) {
	switch {
	case j.Status == rota.StatusQueued:
		r.v.jobViolation(j.ID, rota.CheckGroupEnded, "it is QUEUED, but %s was ended by %s", rules.GroupSubject(r.g.ID), r.g.Ending)
	case r.g.Ending == rota.EndingCancel && j.Run != nil && j.Run.Open() && j.Run.CancelAt.IsZero():
		r.v.jobViolation(j.ID, rota.CheckGroupEnded, "it was not asked to stop, but %s was cancelled", rules.GroupSubject(r.g.ID))
	}
}

// End compares the number of members with the size of the group.
func (r *GroupWalk) End() {
	if gone := pruned(r.g); r.present+gone != r.g.Size {
		r.v.violation(rota.CheckGroupPlaces, []string{rules.GroupSubject(r.g.ID)}, "of its %d members %d exist and %d were pruned", r.g.Size, r.present, gone)
	}
}

// OrphanMember reports a group that does not exist, and a job in it.
func (v *Verifier) OrphanMember(group, job rota.ID) {
	v.violation(rota.CheckGroupMissing, []string{rules.GroupSubject(group), rules.JobRef(job)}, "the job is in the group, which does not exist")
}
