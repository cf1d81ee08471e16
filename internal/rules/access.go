package rules

import (
	"time"

	"github.com/rotajobs/rota"
)

// principalEntry names the audit entry about a principal, whatever its kind is.
func principalEntry(name string) string { return "principal " + name }

// principalSubject is the subject of the audit entries about a principal.
func principalSubject(p *rota.Principal) string { return kindWord(p.Kind) + " " + p.Name }

// kindWord is the kind of a principal in a text, and the command of the CLI about it.
func kindWord(kind rota.PrincipalKind) string {
	if kind == rota.KindRole {
		return "role"
	}
	return "user"
}

// accessTime is the time of what a command creates that has or names a principal or a definition: now, but later than each
// earlier one if the clock was set back. A reference that is older than its object has no effect.
func (u *UnitOfWork) accessTime() time.Time {
	if s := AccessState.get(u, one); s != nil && s.Newest.After(u.Now) {
		return s.Newest.Add(time.Microsecond)
	}
	return u.Now
}

// setAccess records that a command changes principals or tokens, and the time that it gives to them, zero if to none.
func (u *UnitOfWork) setAccess(c rota.Command, at time.Time) {
	next := &rota.AccessState{Version: c.Head().ID, Newest: at}
	if s := AccessState.get(u, one); s != nil && s.Newest.After(at) {
		next.Newest = s.Newest
	}
	AccessState.set(u, one, next)
}

func decidePutPrincipal(u *UnitOfWork, c *rota.PutPrincipal) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, principalEntry(c.Name))
	AccessState.want(u, one)
	if newCertificate(c) != "" {
		CertificateUsers.want(u, CertificateQuery{newCertificate(c)})
	}
	p := Principals.get(u, c.Name)
	if u.auditedSubject(c, principalEntry(c.Name)) {
		return &rota.PrincipalPut{Principal: p}, nil
	}
	if refusal := mayPutPrincipal(u, c, p); refusal != nil {
		return nil, refusal
	}
	at := u.accessTime()
	next, act := &rota.Principal{Name: c.Name, Kind: c.Kind, CreatedBy: c.Actor, CreatedAt: at}, rota.AuditUserCreated
	if c.Kind == rota.KindRole {
		act = rota.AuditRoleCreated
	}
	if p != nil {
		*next, act = *p, rota.AuditUserModified
	}
	if c.Verifier != nil && *c.Verifier != next.Spec.Verifier {
		next.Spec.Verifier, next.Spec.PasswordAt = *c.Verifier, at
	}
	if c.Certificate != nil {
		next.Spec.Certificate = *c.Certificate
	}
	if p != nil && next.Spec.Verifier == p.Spec.Verifier && next.Spec.Certificate == p.Spec.Certificate {
		return &rota.PrincipalPut{Principal: p}, nil
	}
	next.Version, next.UpdatedAt = c.ID, u.Now
	Principals.set(u, c.Name, next)
	u.setAccess(c, at)
	u.auditName(c, principalEntry(c.Name), act, principalSubject(next), "", credentialChanges(p, next))
	return &rota.PrincipalPut{Principal: next, Changed: true}, nil
}

func newCertificate(c *rota.PutPrincipal) string {
	if c.Certificate == nil {
		return ""
	}
	return *c.Certificate
}

// mayPutPrincipal refuses to create or change a principal whose current state is not what the sender
// expects, and a certificate of another user.
func mayPutPrincipal(u *UnitOfWork, c *rota.PutPrincipal, p *rota.Principal) *rota.Error {
	kind, version := c.Kind, rota.ID{}
	if p != nil {
		kind, version = p.Kind, p.Version
	}
	switch {
	case p != nil && kind != c.Kind && c.Mode != rota.PutCreate:
		return &rota.Error{
			Code: rota.Conflict, Field: "kind", Reason: c.Name + " is a " + kindWord(kind) + ", not a " + kindWord(c.Kind),
			Hint: "users and roles share one set of names; choose another name, or drop the " + kindWord(kind) + " first",
		}
	default:
		if refusal := mayPut(c.Mode, kindWord(kind), c.Name, p != nil, version, c.Version); refusal != nil {
			return refusal
		}
	}
	if other := u.certificateUser(newCertificate(c), c.Name); other != "" {
		return &rota.Error{
			Code: rota.Conflict, Field: "certificate", Reason: "user " + other + " has this certificate already",
			Hint: "remove it from that user first, or use a certificate with another name",
		}
	}
	return nil
}

// certificateUser returns a user other than the given one that has a certificate, "" if there is none.
func (u *UnitOfWork) certificateUser(certificate, but string) string {
	if certificate == "" {
		return ""
	}
	has := func(p *rota.Principal) bool { return p != nil && p.Name != but && p.Spec.Certificate == certificate }
	if stored := CertificateUsers.get(u, CertificateQuery{certificate}); stored != "" && has(Principals.get(u, stored)) {
		return stored
	}
	for r := range Principals.of(u).changed() {
		if has(r.is) {
			return r.key
		}
	}
	return ""
}

// decideDropPrincipal deletes a principal. Memberships, grants and tokens that refer to it are older than
// a principal that is created later under its name, so that they have no effect on it: see accessTime.
func decideDropPrincipal(u *UnitOfWork, c *rota.DropPrincipal) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, principalEntry(c.Name))
	AccessState.want(u, one)
	OwnedDefinitions.want(u, OwnedDefinitionsQuery{Owner: c.Name, Limit: 1})
	p := Principals.get(u, c.Name)
	switch {
	case u.auditedSubject(c, principalEntry(c.Name)):
		return &rota.PrincipalDropped{Gone: true}, nil
	case p == nil || p.Kind != c.Kind:
		return nil, noName(kindWord(c.Kind), c.Name)
	}
	if refusal := mayDropOwner(u, p.Name); refusal != nil {
		return nil, refusal
	}
	act := rota.AuditUserDropped
	if p.Kind == rota.KindRole {
		act = rota.AuditRoleDropped
	}
	Principals.set(u, c.Name, nil)
	u.setAccess(c, time.Time{})
	u.auditName(c, principalEntry(c.Name), act, principalSubject(p), "", credentialChanges(p, nil))
	return &rota.PrincipalDropped{}, nil
}
