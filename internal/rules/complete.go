package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// plannedMax limits the planned jobs of an AT schedule that are loaded: it
// fires once for each of its scopes, and there may be some backfills.
const plannedMax = 2 * rota.ScopesMax

// needCompletion asks for what is left of an AT schedule when a planned job of
// it ends.
func needCompletion(n *Need, j *rota.Job) {
	s := n.schedule(j.Schedule)
	if s == nil || j.PlanTime.IsZero() || !spent(s) {
		return
	}
	n.planned(Planned{Schedule: s.Name, Limit: plannedMax})
	needCompleted(n, s)
}

// needCompleted asks for what the completion of a schedule touches.
func needCompleted(n *Need, s *rota.Schedule) {
	if s.Spec.OnCompletion != rota.CompletionDrop {
		return
	}
	n.template(s.Spec.Template)
	n.using(Using{Template: s.Spec.Template, Disabled: true, Limit: 2})
	needBlocked(n, s.Name, everyScope)
	needDependents(n, s.Name, everyScope)
}

// spent reports whether a schedule was to fire once and has fired.
func spent(s *rota.Schedule) bool {
	return !s.Spec.At.IsZero() && s.State == rota.ScheduleEnabled && s.NextFire.IsZero()
}

// complete ends an AT schedule when the last of its planned executions has
// ended.
func complete(u *UnitOfWork, c rota.Command, j *rota.Job) {
	if s := u.schedules.get(j.Schedule); s != nil && !j.PlanTime.IsZero() {
		completeSchedule(u, c, s, j.Run != nil && j.Run.Outcome == rota.OutcomeCompleted)
	}
}

// completeSchedule ends a spent schedule. A schedule whose last execution did
// not complete is kept, or its dependents would take it for done.
func completeSchedule(u *UnitOfWork, c rota.Command, s *rota.Schedule, completed bool) {
	switch {
	case !spent(s) || u.plannedLeft(s.Name):
		return
	case s.Spec.OnCompletion == rota.CompletionPreserve:
		disable(u, c, s, "it was to run once, and has")
		return
	case !completed:
		disable(u, c, s, "it was to run once, and did not complete")
		return
	}
	removeSchedule(u, c, s)
	u.auditSideEffect(c, rota.AuditScheduleDeleted, scheduleSubject(s.Name), "on completion")
	archiveUnused(u, c, s)
}

// archiveUnused archives the template of a removed schedule, if the template
// was created for that schedule alone.
func archiveUnused(u *UnitOfWork, c rota.Command, s *rota.Schedule) bool {
	t := u.templates.get(s.Spec.Template)
	if t == nil || t.Name != s.Name || t.State != rota.TemplateActive || usedByOthers(u, t.Name, s.Name) {
		return false
	}
	archived := *t
	archived.State, archived.Version, archived.UpdatedAt = rota.TemplateArchived, c.Head().ID, u.Now
	u.templates.set(u, t.Name, &archived)
	u.auditSideEffect(c, rota.AuditTemplateArchived, templateSubject(t.Name), "")
	return true
}

// plannedLeft reports whether a planned execution of the schedule has not
// ended.
func (u *UnitOfWork) plannedLeft(schedule string) bool {
	ids := slices.Concat(u.planned.get(Planned{Schedule: schedule, Limit: plannedMax}), u.createdBySchedule[schedule])
	return slices.ContainsFunc(ids, func(id rota.ID) bool {
		j := u.job(id)
		return j != nil && j.Sequel == "" && !j.PlanTime.IsZero()
	})
}

func usedByOthers(u *UnitOfWork, template, but string) bool {
	return otherUser(u, Using{Template: template, Disabled: true, Limit: 2}, but) != ""
}

// otherUser returns the first schedule of a template other than but, empty if
// there is none. Schedules that were not loaded count as stored.
func otherUser(u *UnitOfWork, q Using, but string) string {
	names := slices.Clone(u.using.get(q))
	for _, r := range u.schedules.touched {
		names = append(names, r.key)
	}
	slices.Sort(names)
	for _, name := range names {
		s := u.schedules.get(name)
		if name != but && (s == nil && u.schedules.rows[name] == nil || s != nil && s.Spec.Template == q.Template) {
			return name
		}
	}
	return ""
}
