package access

import (
	"context"
	"fmt"

	"github.com/rotajobs/rota"
)

// Token returns the token of the identity, without its hash, or nil if it logged in otherwise. It needs no right: a client that
// has a token may know what it is.
func (g *Guard) Token(ctx context.Context) (*rota.AccessToken, error) {
	a, err := g.directory.authority(ctx, g.id)
	if err != nil || a.token == nil {
		return nil, err
	}
	return withoutHash(a.token), nil
}

// putPrincipal requires ADMIN, except for a user that changes its own password. A token does not prove that its holder
// knows the password, so a request with a token has to prove that first; then it has no token.
func (k *check) putPrincipal(c *rota.PutPrincipal) error {
	own := c.Name == k.user && c.Kind == rota.KindUser && c.Mode == rota.PutReplace && c.Verifier != nil && *c.Verifier != "" && c.Certificate == nil
	switch {
	case k.unrestricted() || own && k.token == nil:
		return nil
	case own:
		return k.tokenCannot("change the password of user "+k.user, "send current_password with the new password, as rota user passwd does, or change it in a SQL session that has logged in with the password")
	}
	return k.missingOnAll(rota.Admin)
}

// putToken requires ADMIN, except for a user that creates a token of its own. A token for workers reads the params of all
// jobs. A token must not create one that outlives or exceeds it, except for that of a login with a password. Only such a
// login creates sessions.
func (k *check) putToken(c *rota.PutToken) error {
	own := c.User == k.user && c.Scope != rota.ScopeWorker
	switch {
	case k.unrestricted() || own && k.token == nil || own && k.token.Scope == rota.ScopeSession && c.Scope != rota.ScopeSession:
		return nil
	case own:
		return k.tokenCannot("create tokens", "log in with the password of user "+k.user+": POST /login answers with a token that can; or ask an administrator: rota token create --user "+k.user)
	}
	return k.missingOnAll(rota.Admin)
}

// tokenCannot is the refusal of what the user may do and its token may not.
func (k *check) tokenCannot(act, hint string) *rota.Error {
	return &rota.Error{Code: rota.Denied, Reason: fmt.Sprintf("a token of scope %s cannot %s", k.token.Scope, act), Hint: hint}
}

// revokeToken requires ADMIN, or that the token belongs to the user.
func (k *check) revokeToken(c *rota.RevokeToken) error {
	if k.unrestricted() {
		return nil
	}
	t, err := k.store.AccessToken(k.ctx, c.TokenID)
	if err != nil {
		return err
	}
	if t.User == k.user && !t.CreatedAt.Before(k.since) {
		if !k.reaches("") {
			return k.outOfToken()
		}
		return nil
	}
	return notFound(kindToken, c.TokenID)
}

// revokesItself reports whether a command revokes the token that it is sent with, which every token may.
func (k *check) revokesItself(c rota.Command) bool {
	revoke, is := c.(*rota.RevokeToken)
	return is && k.token != nil && revoke.TokenID == k.token.ID
}

// Grants that users without ADMIN can give to one principal. They leave room for those of administrators and of each other.
const (
	ownersGrantsMax = rota.GrantsMax / 2
	ownerGrantsMax  = ownersGrantsMax / 10 // of one user
)

// roomForGrants refuses a grant of an owner to a principal that has too many already: they are stored in one row.
func (k *check) roomForGrants(c *rota.GrantPrivileges) error {
	for _, name := range c.To {
		p, err := k.store.Principal(k.ctx, name)
		switch {
		case c.Revoke || rota.CodeOf(err) == rota.NotFound: // the rules refuse it
			continue
		case err != nil:
			return err
		}
		own := 0
		for _, g := range p.Spec.Grants {
			if g.By == k.user {
				own++
			}
		}
		if own+len(c.Privileges) > ownerGrantsMax || len(p.Spec.Grants)+len(c.Privileges) > ownersGrantsMax {
			return &rota.Error{
				Code: rota.Denied, Reason: fmt.Sprintf("user %s has no ADMIN, and %s has as many grants as owners can give", k.user, name),
				Hint: "revoke grants that are not needed any more, grant to a role instead, or ask an administrator",
			}
		}
	}
	return nil
}
