package rules

import (
	"cmp"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// ownerFor returns the owner of what an actor creates: the actor if it is a user. It reads the user, so that
// the lock of principals keeps it from being dropped meanwhile.
func ownerFor(u *UnitOfWork, actor string) string {
	AccessState.want(u, one) // beginsAt reads it next
	if actor == "" || rota.ReservedPrincipal(actor) {
		return rota.AdminUser
	}
	if p := Principals.get(u, actor); p != nil && p.Kind == rota.KindUser {
		return actor
	}
	return rota.AdminUser
}

// beginsAt returns since when a definition is a new one: later than every grant, even if the clock was set back, because grants on
// an earlier definition of its name must not apply to it. It is not before the definition whose row it takes.
func beginsAt(u *UnitOfWork, before time.Time) time.Time {
	if at := u.accessTime(); at.After(before) {
		return at
	}
	return before
}

// renewTemplate makes a template a new definition of the actor.
func renewTemplate(u *UnitOfWork, c rota.Command, t *rota.Template) {
	t.Owner, t.Since = ownerFor(u, c.Head().Actor), beginsAt(u, t.Since)
}

// decideSetOwner gives the template and the schedule of a name, or one of them, another owner. Since stays, so
// that grants on the definition stay valid.
func decideSetOwner(u *UnitOfWork, c *rota.SetOwner) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, TemplateSubject(c.Name))
	u.wantAuditedSubject(c, ScheduleSubject(c.Name))
	Templates.want(u, c.Name)
	Schedules.want(u, c.Name)
	Principals.want(u, c.Owner)
	t, s := Templates.get(u, c.Name), Schedules.get(u, c.Name)
	switch c.Kind {
	case rota.ExpectTemplate:
		s = nil
	case rota.ExpectSchedule:
		t = nil
	}
	reply := &rota.OwnerSet{Template: t, Schedule: s}
	if u.auditedSubject(c, TemplateSubject(c.Name)) || u.auditedSubject(c, ScheduleSubject(c.Name)) {
		return reply, nil
	}
	if t != nil && t.Owner == "" { // what was dropped is nobody's until it is created again
		t, reply.Template = nil, nil
	}
	switch {
	case t == nil && s == nil:
		return nil, noName(cmp.Or(c.Kind, "job"), c.Name)
	case t != nil && isOther(c.Version, t.Version):
		return nil, changedSince(TemplateSubject(c.Name))
	case s != nil && isOther(c.Version, s.Version):
		return nil, changedSince(ScheduleSubject(c.Name))
	}
	if refusal := mayOwn(u, c.Owner); refusal != nil {
		return nil, refusal
	}
	if t != nil && t.Owner != c.Owner {
		next := *t
		next.Owner, next.Version, next.UpdatedAt = c.Owner, c.ID, u.Now
		Templates.set(u, c.Name, &next)
		u.auditSubject(c, rota.AuditTemplateModified, TemplateSubject(c.Name), "", templateChanges(t, &next))
		reply.Template, reply.Changed = &next, true
	}
	if s != nil && s.Owner != c.Owner {
		next := *s
		next.Owner, next.Version, next.UpdatedAt = c.Owner, c.ID, u.Now
		Schedules.set(u, c.Name, &next)
		u.auditSubject(c, rota.AuditScheduleModified, ScheduleSubject(c.Name), "", scheduleChanges(u, s, &next))
		reply.Schedule, reply.Changed = &next, true
	}
	return reply, nil
}

// mayOwn refuses an owner that is not a user.
func mayOwn(u *UnitOfWork, owner string) *rota.Error {
	if owner == rota.AdminUser {
		return nil
	}
	if p := Principals.get(u, owner); p != nil && p.Kind == rota.KindUser {
		return nil
	}
	return &rota.Error{
		Code: rota.NotFound, Field: "owner", Reason: "there is no user " + owner, Hint: "create it first, or check the name",
	}
}

// mayDropOwner refuses to drop a user that owns a template or a schedule. All transactions that make a user an owner
// read the user, so the lock of principals covers the search.
func mayDropOwner(u *UnitOfWork, user string) *rota.Error {
	owned := ownedBy(u, user)
	if owned == "" {
		return nil
	}
	_, name, _ := strings.Cut(owned, " ")
	return &rota.Error{
		Code: rota.Conflict, Field: "name", Reason: "user " + user + " owns " + owned,
		Hint: "give it another owner first: ALTER JOB " + name + " OWNER TO other",
	}
}

// ownedBy returns the subject of a definition that a user owns, "" if there is none. Rows that were not loaded count
// as stored.
func ownedBy(u *UnitOfWork, user string) string {
	changed, decided := 0, ""
	for r := range Templates.of(u).changed() {
		if changed++; r.is != nil && r.is.Owner == user {
			decided = TemplateSubject(r.key)
		}
	}
	for r := range Schedules.of(u).changed() {
		if changed++; r.is != nil && r.is.Owner == user {
			decided = ScheduleSubject(r.key)
		}
	}
	for _, subject := range OwnedDefinitions.get(u, OwnedDefinitionsQuery{Owner: user, Limit: changed + 1}) {
		if stillOwns(u, user, subject) {
			return subject
		}
	}
	return decided
}

// stillOwns reports whether a stored owner is the owner as decided.
func stillOwns(u *UnitOfWork, user, subject string) bool {
	kind, name, _ := strings.Cut(subject, " ")
	if kind == rota.ExpectTemplate {
		t, known := Templates.peek(u, name)
		return !known || t != nil && t.Owner == user
	}
	s, known := Schedules.peek(u, name)
	return !known || s != nil && s.Owner == user
}
