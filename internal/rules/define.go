package rules

import (
	"github.com/rotajobs/rota"
)

// mayPut refuses to write a definition whose current state is not what the
// sender expects.
func mayPut(mode rota.PutMode, kind, name string, there bool, is rota.ID, read *rota.ID) *rota.Error {
	switch {
	case mode == rota.PutCreate && there:
		return &rota.Error{
			Code: rota.Conflict, Field: "name", Reason: "there is a " + kind + " " + name + " already", Hint: "change it, or choose another name",
		}
	case !there && (mode == rota.PutReplace || read != nil):
		return noName(kind, name)
	case isOther(read, is):
		return changedSince(kind + " " + name)
	}
	return nil
}

func noName(kind, name string) *rota.Error {
	return &rota.Error{
		Code: rota.NotFound, Field: "name", Reason: "there is no " + kind + " " + name,
		Hint: "check the name; rota " + kind + " list shows the names",
	}
}

func changedSince(what string) *rota.Error {
	return &rota.Error{
		Code: rota.Conflict, Field: "version", Reason: what + " was changed since it was read", Hint: "read it again, then repeat the change",
	}
}

// isOther reports whether the sender has read another version than the current one.
func isOther(read *rota.ID, is rota.ID) bool { return read != nil && *read != is }

func typeSubject(name string) string { return "type " + name }

func decidePutType(u *UnitOfWork, c *rota.PutType) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, typeSubject(c.Name))
	t := Types.get(u, c.Name)
	if u.auditedSubject(c, typeSubject(c.Name)) {
		return &rota.TypePut{Type: t}, nil
	}
	if refusal := mayPut(c.Mode, "type", c.Name, t != nil, versionOf(t), c.Version); refusal != nil {
		return nil, refusal
	}
	next, act := &rota.Type{Name: c.Name, CreatedBy: c.Actor, CreatedAt: u.Now}, rota.AuditTypeCreated
	if t != nil {
		if t.Spec.Equal(c.Spec) {
			return &rota.TypePut{Type: t}, nil
		}
		*next, act = *t, rota.AuditTypeModified
	}
	next.Spec, next.Version, next.UpdatedAt = c.Spec.Canonical(), c.ID, u.Now
	Types.set(u, c.Name, next)
	u.auditSubject(c, act, typeSubject(c.Name), "", typeChanges(t, next))
	return &rota.TypePut{Type: next, Changed: true}, nil
}

func versionOf(t *rota.Type) rota.ID {
	if t == nil {
		return rota.ID{}
	}
	return t.Version
}

func decideSwitchType(u *UnitOfWork, c *rota.SwitchType) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, typeSubject(c.Name))
	t := Types.get(u, c.Name)
	switch {
	case t == nil:
		return nil, noName("type", c.Name)
	case u.auditedSubject(c, typeSubject(c.Name)):
		return &rota.TypePut{Type: t}, nil
	case isOther(c.Version, t.Version):
		return nil, changedSince(typeSubject(c.Name))
	case t.Paused == c.Paused:
		return &rota.TypePut{Type: t}, nil
	}
	next, act := *t, rota.AuditTypeResumed
	if c.Paused {
		act = rota.AuditTypePaused
	}
	next.Paused, next.Version, next.UpdatedAt = c.Paused, c.ID, u.Now
	Types.set(u, c.Name, &next)
	u.auditSubject(c, act, typeSubject(c.Name), "", typeChanges(t, &next))
	return &rota.TypePut{Type: &next, Changed: true}, nil
}
