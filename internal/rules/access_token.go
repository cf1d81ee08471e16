package rules

import (
	"time"

	"github.com/rotajobs/rota"
)

func decidePutToken(u *UnitOfWork, c *rota.PutToken) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, tokenSubject(c.TokenID))
	AccessState.want(u, one)
	if c.User != rota.AdminUser {
		Principals.want(u, c.User)
	}
	t := AccessTokens.get(u, c.TokenID)
	if u.auditedSubject(c, tokenSubject(c.TokenID)) {
		return &rota.TokenPut{Token: t}, nil
	}
	if refusal := mayPutToken(u, c, t); refusal != nil {
		return nil, refusal
	}
	next := &rota.AccessToken{
		ID: c.TokenID, User: c.User, Scope: c.Scope, Type: c.Type, Job: c.Job, Hash: c.Hash, Verifier: c.Verifier,
		CreatedBy: c.Actor, CreatedAt: u.accessTime(), ExpiresAt: micros(c.ExpiresAt),
	}
	AccessTokens.set(u, c.TokenID, next)
	u.setAccess(c, next.CreatedAt)
	u.auditSubject(c, rota.AuditTokenCreated, tokenSubject(c.TokenID), tokenDetail(next), tokenChanges(next))
	return &rota.TokenPut{Token: next, Changed: true}, nil
}

func mayPutToken(u *UnitOfWork, c *rota.PutToken, t *rota.AccessToken) *rota.Error {
	expires := micros(c.ExpiresAt)
	switch {
	case t != nil:
		return &rota.Error{
			Code: rota.Conflict, Field: "token_id", Reason: "there is a token " + c.TokenID + " already", Hint: "use another id",
		}
	case !isUser(u, c.User):
		return noUser("user", c.User)
	case expires.IsZero():
	case !expires.After(u.Now):
		return rota.Invalidf("expires_at", "%s is not after the time of the store, %s; use a later time", Stamp(expires), Stamp(u.Now))
	case expires.Sub(u.Now) > rota.TokenMax:
		return rota.Invalidf("expires_at", "%s is more than ten years away; use an earlier time, or none for a token that does not expire", Stamp(expires))
	}
	return nil
}

// isUser reports whether a user exists. The built-in one has no row.
func isUser(u *UnitOfWork, name string) bool {
	if name == rota.AdminUser {
		return true
	}
	p := Principals.get(u, name)
	return p != nil && p.Kind == rota.KindUser
}

func noUser(field, name string) *rota.Error {
	refusal := noName("user", name)
	refusal.Field = field
	return refusal
}

func decideRevokeToken(u *UnitOfWork, c *rota.RevokeToken) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, tokenSubject(c.TokenID))
	AccessState.want(u, one)
	t := AccessTokens.get(u, c.TokenID)
	switch {
	case t == nil:
		refusal := noName("token", c.TokenID)
		refusal.Field = "token_id"
		return nil, refusal
	case !t.RevokedAt.IsZero() || u.auditedSubject(c, tokenSubject(c.TokenID)): // sent again, it may find a later token with the id
		return &rota.TokenRevoked{Token: t}, nil
	}
	next := *t
	next.RevokedAt, next.RevokedBy = u.Now, c.Actor
	AccessTokens.set(u, c.TokenID, &next)
	u.setAccess(c, time.Time{})
	u.auditSubject(c, rota.AuditTokenRevoked, tokenSubject(c.TokenID), tokenDetail(&next), nil)
	return &rota.TokenRevoked{Token: &next, Changed: true}, nil
}

// decideTouchTokens records when tokens were used. A clock that is ahead must not make a token look used in
// the future.
func decideTouchTokens(u *UnitOfWork, c *rota.TouchTokens) (rota.Reply, *rota.Error) {
	for _, use := range c.Uses {
		AccessTokens.want(u, use.TokenID)
	}
	touched := map[string]bool{}
	for _, use := range c.Uses {
		t := AccessTokens.get(u, use.TokenID)
		at := micros(use.At)
		if at.After(u.Now) {
			at = u.Now
		}
		if t == nil || !at.After(t.LastUsedAt) {
			continue
		}
		next := *t
		next.LastUsedAt = at
		AccessTokens.set(u, use.TokenID, &next)
		touched[use.TokenID] = true
	}
	return &rota.TokensTouched{Touched: len(touched)}, nil
}
