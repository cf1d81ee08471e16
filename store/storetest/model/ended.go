package model

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

// executionEnded applies the effects of the end of an execution, given its last attempt: it was
// settled, cancelled while it waited, or skipped.
func (s *step) executionEnded(j *rota.Job) {
	s.settleKey(j)
	s.afterMemberEnd(j)
	s.releaseNextExecution(j)
	s.releaseDependents(j)
	if !j.PlanTime.IsZero() {
		s.completeSchedule(j.Schedule, completed(j))
	}
	if s.wasDropped(j) {
		s.intents[intent{"drop", j.Schedule}] = true
	}
	s.runEnded(j)
}

// runEnded applies the effects of the end of a run, also of one that is retried.
func (s *step) runEnded(j *rota.Job) {
	if r := s.active(); r != nil && r.JobID == j.ID {
		r.Status, r.EndedAt = rota.ReservationReleased, s.now
	}
	s.markKeyChanged(j)
}

// releaseNextExecution releases the next execution of a schedule that waits for this one,
// unless another is before it.
func (s *step) releaseNextExecution(j *rota.Job) {
	if j.Schedule == "" {
		return
	}
	var next *rota.Job
	d := s.schedule(j.Schedule)
	free := d == nil || d.Spec.Overlap == rota.OverlapAllow // no execution needs to wait
	for _, other := range s.liveOf(j.Schedule, scopeOf(j)) {
		switch waits := other.Hold&rota.HoldOverlap != 0; {
		case !waits && !free:
			return
		case waits && next == nil:
			next = other
		}
	}
	if next != nil {
		s.releaseHold(next, rota.HoldOverlap)
	}
}

// liveOf returns the jobs of a schedule and a scope that have not ended, by id.
func (s *step) liveOf(schedule string, scope rota.Scope) []*rota.Job {
	return s.sorted(func(j *rota.Job) bool { return live(j) && j.Schedule == schedule && scopeOf(j) == scope })
}

// completeSchedule ends a schedule that fires once, when all its planned jobs have ended.
func (s *step) completeSchedule(name string, completed bool) {
	d := s.schedule(name)
	if d == nil || d.Spec.At.IsZero() || d.State != rota.ScheduleEnabled || !d.NextFire.IsZero() {
		return
	}
	planned := s.pick(func(j *rota.Job) bool { return live(j) && j.Schedule == name && !j.PlanTime.IsZero() })
	if len(planned) > 0 {
		return
	}
	switch {
	case d.Spec.OnCompletion == rota.CompletionPreserve:
		s.disable(d, "it was to run once, and has")
		return
	case !completed:
		s.disable(d, "it was to run once, and did not complete")
		return
	}
	s.removeSchedule(d)
	s.auditEffect(rota.AuditScheduleDeleted, scheduleSubject(d.Name), "on completion", diff.Documents(s.scheduleDocument(d), none))
	s.archiveUnused(d)
}

// archiveUnused archives the template of a removed schedule if it has the same name and owner, and
// no other schedule uses it.
func (s *step) archiveUnused(d *rota.Schedule) bool {
	t := s.template(d.Spec.Template)
	if t == nil || t.Name != d.Name || t.Owner != d.Owner || t.State != rota.TemplateActive || len(s.schedulesOf(t.Name)) > 0 {
		return false
	}
	s.dropSecrets(t.Name, "with its template")
	was := templateDocument(t)
	t.State, t.Owner, t.Version, t.UpdatedAt = rota.TemplateArchived, "", s.id(), s.now
	s.auditEffect(rota.AuditTemplateArchived, templateSubject(t.Name), "", diff.Documents(was, templateDocument(t)))
	return true
}
