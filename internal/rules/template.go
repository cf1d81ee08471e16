package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

func TemplateSubject(name string) string { return "template " + name }

// otherUsersQuery returns the query for enough schedules of a template to find
// another than one among them, even if some were changed in the same
// transaction.
func otherUsersQuery(template string) TemplateSchedulesQuery {
	return TemplateSchedulesQuery{Template: template, Disabled: true, Limit: rota.DependsMax}
}

func decidePutTemplate(u *UnitOfWork, c *rota.PutTemplate) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, TemplateSubject(c.Name))
	wantSealedWebhooks(u, c.Spec.Webhooks)
	TemplateSchedules.want(u, usersQuery(c.Name))
	if c.OnlySchedule != "" {
		TemplateSchedules.want(u, otherUsersQuery(c.Name))
	}
	if c.Mode == rota.PutCreate || c.Recreate {
		AccessState.want(u, one)
		TemplateSecrets.want(u, TemplateSecretsQuery{Template: c.Name})
	}
	t := Templates.get(u, c.Name)
	if u.auditedSubject(c, TemplateSubject(c.Name)) {
		return &rota.TemplatePut{Template: t}, nil
	}
	version := rota.ID{}
	if t != nil {
		version = t.Version
	}
	dropped := t != nil && t.Owner == "" && c.Mode == rota.PutCreate // does not exist for the creator of a new one
	if refusal := mayPut(c.Mode, "template", c.Name, t != nil && !dropped, version, c.Version); refusal != nil {
		return nil, refusal
	}
	next := &rota.Template{Name: c.Name, State: rota.TemplateActive, CreatedBy: c.Actor, CreatedAt: u.Now}
	renew := t == nil || t.Owner == "" || c.Recreate
	if t != nil {
		other := ""
		if c.OnlySchedule != "" {
			other = otherUser(u, otherUsersQuery(c.Name), c.OnlySchedule)
		}
		switch {
		case t.Spec.Equal(c.Spec) && (!renew || other != ""):
			return &rota.TemplatePut{Template: t}, nil
		case other != "":
			return nil, templateShared(c.Name, other)
		}
		*next = *t
	}
	if refusal := mayPutWebhooks(u, next.Spec.Webhooks, c.Spec.Webhooks); refusal != nil {
		return nil, refusal
	}
	if dropped {
		next.State = rota.TemplateActive
	}
	act, was, detail := rota.AuditTemplateModified, t, ""
	if renew {
		if t != nil {
			dropSecrets(u, c, c.Name, detailTemplateRecreated)
		}
		renewTemplate(u, c, next)
		act, was = rota.AuditTemplateCreated, nil
	}
	next.Spec, next.Version, next.UpdatedAt = c.Spec.Canonical(), c.ID, u.Now
	Templates.set(u, c.Name, next)
	if t != nil && !t.Spec.Equal(next.Spec) {
		detail = auditUsers(u, c, t, next)
	}
	u.auditSubject(c, act, TemplateSubject(c.Name), detail, templateChanges(was, next))
	return &rota.TemplatePut{Template: next, Changed: true}, nil
}

// templateShared refuses to change a template for one schedule if another
// schedule uses it too.
func templateShared(template, other string) *rota.Error {
	return &rota.Error{
		Code: rota.Conflict, Field: "only_schedule", Reason: "template " + template + " is used by schedule " + other + " too",
		Hint: "alter the template, which changes all its schedules, or give this schedule its own template",
	}
}

// decideArchive archives a template, which takes effect at once, and disables
// the first of its schedules. A Sweep disables the rest.
func decideArchive(u *UnitOfWork, c *rota.Archive) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, TemplateSubject(c.Name))
	TemplateSchedules.want(u, TemplateSchedulesQuery{Template: c.Name, Limit: rota.SweepMax + 1})
	t := Templates.get(u, c.Name)
	switch {
	case t == nil:
		return nil, noName("template", c.Name)
	case u.auditedSubject(c, TemplateSubject(c.Name)):
		return &rota.TemplatePut{Template: t}, nil
	case isOther(c.Version, t.Version):
		return nil, changedSince(TemplateSubject(c.Name))
	case t.State == rota.TemplateArchived:
		return &rota.TemplatePut{Template: t}, nil
	}
	next := setTemplate(u, c, t, rota.TemplateArchived, rota.AuditTemplateArchived)
	disabled, more := disableUsing(u, c, c.Name, rota.SweepMax+1)
	if more {
		u.addIntent(IntentTemplate, c.Name)
	}
	return &rota.TemplatePut{Template: next, Changed: true, Disabled: disabled}, nil
}

func setTemplate(u *UnitOfWork, c rota.Command, t *rota.Template, state rota.TemplateState, act string) *rota.Template {
	next := *t
	next.State, next.Version, next.UpdatedAt = state, c.Head().ID, u.Now
	if t.Owner == "" {
		renewTemplate(u, c, &next)
	}
	Templates.set(u, t.Name, &next)
	u.auditSubject(c, act, TemplateSubject(t.Name), "", templateChanges(t, &next))
	return &next
}

// disableUsing disables the loaded schedules of a template except the one
// beyond the limit, which shows that there are more.
func disableUsing(u *UnitOfWork, c rota.Command, template string, limit int) (disabled int, more bool) {
	for _, s := range u.usersOf(template, limit) {
		if disabled == limit-1 {
			return disabled, true
		}
		disable(u, c, s, "template "+template+" is archived")
		disabled++
	}
	return disabled, false
}

// usersOf returns the schedules of a template that are not disabled, by name.
func (u *UnitOfWork) usersOf(template string, limit int) (schedules []*rota.Schedule) {
	names := slices.Clone(TemplateSchedules.get(u, TemplateSchedulesQuery{Template: template, Limit: limit}))
	for r := range Schedules.of(u).changed() {
		names = append(names, r.key)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	u.each(len(names), func(i int) {
		if s := Schedules.get(u, names[i]); s != nil && s.Spec.Template == template && s.State != rota.ScheduleDisabled {
			schedules = append(schedules, s)
		}
	})
	return schedules[:min(len(schedules), limit)]
}

func decideUnarchive(u *UnitOfWork, c *rota.Unarchive) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, TemplateSubject(c.Name))
	t := Templates.get(u, c.Name)
	switch {
	case t == nil:
		return nil, noName("template", c.Name)
	case u.auditedSubject(c, TemplateSubject(c.Name)):
		return &rota.TemplatePut{Template: t}, nil
	case isOther(c.Version, t.Version):
		return nil, changedSince(TemplateSubject(c.Name))
	case t.State == rota.TemplateActive:
		return &rota.TemplatePut{Template: t}, nil
	}
	return &rota.TemplatePut{
		Template: setTemplate(u, c, t, rota.TemplateActive, rota.AuditTemplateUnarchived), Changed: true,
	}, nil
}
