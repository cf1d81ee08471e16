package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// authority is what an identity may do at this moment.
type authority struct {
	user  string
	since time.Time // when the user was created
	*rights
	token *rota.AccessToken // nil: no token bounds it
}

// builtInAdmin is the authority of the built-in admin, who needs no row.
var builtInAdmin = &authority{user: rota.AdminUser, rights: adminRights}

// authority returns what an identity may do, or an error that ends it.
func (d *Directory) authority(ctx context.Context, id Identity) (*authority, error) {
	if id == Admin() {
		return builtInAdmin, nil
	}
	s, err := d.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	a := &authority{user: id.User, since: id.UserSince}
	if id.User != rota.AdminUser {
		u := s.user(id.User)
		if u == nil || !u.CreatedAt.Equal(id.UserSince) {
			return nil, errEnded("user "+id.User+" was dropped", "log in as another user")
		}
	}
	a.rights = s.rightsOf(id.User)
	if id.Token == "" {
		return a, nil
	}
	a.token, err = d.token(ctx, s, id.Token)
	switch {
	case rota.CodeOf(err) == rota.NotFound:
		return nil, errEnded("token "+id.Token+" does not exist", "create one with rota token create")
	case err != nil:
		return nil, err
	}
	return a, d.usable(s, a.token, id)
}

// usable refuses a token that was revoked, has expired, or belongs to an earlier user of the same name, and the session of a
// password that was changed.
func (d *Directory) usable(s *snapshot, t *rota.AccessToken, id Identity) error {
	switch {
	case t.User != id.User || t.CreatedAt.Before(id.UserSince):
		return errEnded("token "+t.ID+" belongs to a user that was dropped", "create one with rota token create")
	case t.Scope == rota.ScopeSession && s.passwordAt(t.User).After(t.CreatedAt):
		return errEnded("the password of user "+t.User+" was changed after this login", "log in again")
	case !t.RevokedAt.IsZero():
		return errEnded("token "+t.ID+" was revoked", "create one with rota token create")
	case !t.UsableAt(d.clock()):
		return errEnded("token "+t.ID+" expired at "+t.ExpiresAt.UTC().Format(time.RFC3339), "create one with rota token create")
	}
	return nil
}

// fullScopes are the scopes that do not restrict an administrator.
var fullScopes = []rota.TokenScope{rota.ScopeWrite, rota.ScopeSession}

// unrestricted reports whether the identity may do and see everything.
func (a *authority) unrestricted() bool {
	return a.admin && (a.token == nil || slices.Contains(fullScopes, a.token.Scope) && a.token.Job == "")
}

// seesEverything reports whether no read has to be filtered.
func (a *authority) seesEverything() bool {
	return a.admin && (a.token == nil || a.token.Scope != rota.ScopeWorker && a.token.Job == "")
}

// inScope refuses what the scope of the token excludes, whatever its user may do.
func (a *authority) inScope(n need) *rota.Error {
	if a.token == nil {
		return nil
	}
	if slices.Contains(n.scopes(), a.token.Scope) {
		return nil
	}
	return &rota.Error{
		Code: rota.Denied, Reason: fmt.Sprintf("token %s has the scope %s, which does not allow this", a.token.ID, a.token.Scope),
		Hint: "use a token with the scope " + scopeNames(n.scopes()),
	}
}

func scopeNames(scopes []rota.TokenScope) string {
	names := make([]string, 0, len(scopes))
	for _, s := range scopes {
		if s != rota.ScopeSession { // nobody creates one for this purpose
			names = append(names, string(s))
		}
	}
	if len(names) == 0 {
		return "of an administrator"
	}
	return strings.Join(names, " or ")
}

// reaches reports whether the token may use a definition: one of a token for one job may use no other.
func (a *authority) reaches(name string) bool {
	return a.token == nil || a.token.Job == "" || a.token.Job == name
}

// viewsAll reports whether the identity may see the runs of all jobs.
func (a *authority) viewsAll() bool { return a.onAll(rota.ViewJobHistory) && a.reaches("") }

// may reports whether the identity has a privilege on a definition: as an administrator, as its owner or by a grant.
func (a *authority) may(p rota.Privilege, o *object) bool {
	return a.reaches(o.name) && (a.admin || a.owns(o) && p != rota.ExecuteExternalJob || a.on(p, o.name, o.since))
}

// owns reports whether the user owns a definition.
func (a *authority) owns(o *object) bool { return o.exists && o.owner == a.user }

// seesObject reports whether a definition is visible.
func (a *authority) seesObject(o *object) bool {
	return o.exists && a.reaches(o.name) && (a.owns(o) || a.sees(o.name, o.since))
}

// missing is the refusal of an identity that may see a definition and lacks a privilege on it.
func (a *authority) missing(p rota.Privilege, o *object) *rota.Error {
	owner := "an administrator"
	if o.owner != "" && o.owner != rota.AdminUser && p.OnJob() && a.seesObject(o) {
		owner = "its owner " + o.owner + " or an administrator"
	}
	return &rota.Error{
		Code: rota.Denied, Reason: fmt.Sprintf("user %s has no %s on %s", a.user, p, o.name),
		Hint: fmt.Sprintf("%s can grant it: GRANT %s ON JOB %s TO %s", owner, p, o.name, a.user),
	}
}

// missingOnAll is the refusal of an identity that lacks a privilege that is not about one definition.
func (a *authority) missingOnAll(p rota.Privilege) *rota.Error {
	if p == rota.Admin && a.admin {
		return &rota.Error{Code: rota.Denied, Reason: "token " + a.token.ID + " is for one job, and this is not about it", Hint: "use a token without a job"}
	}
	return &rota.Error{
		Code: rota.Denied, Reason: fmt.Sprintf("user %s has no %s", a.user, p),
		Hint: fmt.Sprintf("an administrator can grant it: GRANT %s TO %s", p, a.user),
	}
}
