package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// plannedMax limits the planned jobs of an AT schedule that are loaded: it
// fires once for each of its scopes, and there may be some backfills.
const plannedMax = 2 * rota.ScopesMax

// spent reports whether a schedule was to fire once and has fired.
func spent(s *rota.Schedule) bool {
	return !s.Spec.At.IsZero() && s.State == rota.ScheduleEnabled && s.NextFire.IsZero()
}

// complete ends an AT schedule when the last of its planned executions has
// ended.
func complete(u *UnitOfWork, c rota.Command, j *rota.Job) {
	if s := Schedules.get(u, j.Schedule); s != nil && !j.PlanTime.IsZero() {
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
	u.together(
		func() { removeSchedule(u, c, s) },
		func() {
			u.auditSideEffect(c, rota.AuditScheduleDeleted, ScheduleSubject(s.Name), "on completion", scheduleChanges(u, s, nil))
			archiveUnused(u, c, s)
		},
	)
}

// archiveUnused archives the template of a removed schedule, if the template
// was created for that schedule alone: it has the same name and owner. It then
// has no owner: the next definition of the name is another one. The template of
// another owner stays, or a user could take it over with a schedule of its name.
func archiveUnused(u *UnitOfWork, c rota.Command, s *rota.Schedule) bool {
	TemplateSchedules.want(u, otherUsers(s.Spec.Template))
	TemplateSecrets.want(u, TemplateSecretsQuery{Template: s.Spec.Template})
	t := Templates.get(u, s.Spec.Template)
	if t == nil || t.Name != s.Name || t.Owner != s.Owner || t.State != rota.TemplateActive || usedByOthers(u, t.Name, s.Name) {
		return false
	}
	dropSecrets(u, c, t.Name, detailTemplateDropped)
	archived := *t
	archived.State, archived.Owner, archived.Version, archived.UpdatedAt = rota.TemplateArchived, "", c.Head().ID, u.Now
	Templates.set(u, t.Name, &archived)
	u.auditSideEffect(c, rota.AuditTemplateArchived, TemplateSubject(t.Name), "", templateChanges(t, &archived))
	return true
}

// plannedLeft reports whether a planned execution of the schedule has not
// ended.
func (u *UnitOfWork) plannedLeft(schedule string) bool {
	ids := slices.Concat(PlannedJobs.get(u, PlannedJobsQuery{Schedule: schedule, Limit: plannedMax}), u.createdBySchedule[schedule])
	return slices.ContainsFunc(ids, func(id rota.ID) bool {
		j := u.partOfJob(id)
		return j != nil && j.Sequel == "" && !j.PlanTime.IsZero()
	})
}

func usedByOthers(u *UnitOfWork, template, but string) bool {
	return otherUser(u, otherUsers(template), but) != ""
}

// otherUsers returns the query for enough schedules of a template to find
// another than one.
func otherUsers(template string) TemplateSchedulesQuery {
	return TemplateSchedulesQuery{Template: template, Disabled: true, Limit: 2}
}

// otherUser returns the first schedule of a template other than but, empty if
// there is none. Schedules that were not loaded count as stored.
func otherUser(u *UnitOfWork, q TemplateSchedulesQuery, but string) string {
	names := slices.Clone(TemplateSchedules.get(u, q))
	for r := range Schedules.of(u).changed() {
		names = append(names, r.key)
	}
	slices.Sort(names)
	for _, name := range names {
		s, known := Schedules.peek(u, name)
		if name != but && (!known || s != nil && s.Spec.Template == q.Template) {
			return name
		}
	}
	return ""
}
