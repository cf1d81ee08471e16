package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
)

// sessionLife is how long the token of a login lives.
const sessionLife = 12 * time.Hour

// loginPath is the only path of the API that needs no token.
const loginPath = base + "/login"

func (a *server) loginRoutes() {
	route(a, operation{
		method: "POST", path: "/login", id: "login", tag: "Access", summary: "Log in with a password, or check a token", public: true,
		description: "Needs no token. A user and its password create a token of scope session that ends after 12 hours; POST /logout ends it earlier. " +
			"A token is checked, and returned as it is. Each login with a password creates a new token, so the request takes no Idempotency-Key.",
		example: `{"user": "bob", "password": "a text that nobody guesses"}`, response: api.Login{},
	}, login)
	get(a, operation{
		method: "POST", path: "/logout", id: "logout", scope: ownScope, tag: "Access", summary: "Revoke the token of the request",
		description: "Does nothing if the request was not sent with a token of a user.", status: 204, errors: []int{403},
	}, logout)
}

// isLogin reports whether a request is the one that needs no token.
func isLogin(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == loginPath
}

func login(c *call, body *api.LoginRequest) (reply, error) {
	switch {
	case body.Token != "" && (body.User != "" || body.Password != ""):
		return reply{}, rota.Invalidf("token", "is set beside user and password; send a token, or a user and a password")
	case body.Token != "":
		return c.loginByToken(body.Token)
	case body.User == "":
		return reply{}, rota.Invalidf("user", "is missing; send a user and a password, or a token")
	case body.Password == "":
		return reply{}, rota.Invalidf("password", "is missing; send the password of the user")
	case strings.HasPrefix(body.User, rota.TokenPrefix): // as on the SQL port
		return c.loginByToken(body.Password)
	}
	return c.loginByPassword(body.User, body.Password)
}

func (c *call) loginByToken(token string) (reply, error) {
	identity, refusal := c.auth.byToken(c.r, token)
	if refusal != nil {
		return reply{}, refusal.asError(c.w)
	}
	stored, err := c.Access.Guard(identity).Token(c.ctx)
	if err != nil {
		return reply{}, err
	}
	c.Access.LoggedIn(identity, c.loginOrigin())
	answer := api.Login{Token: token, User: identity.User}
	if stored != nil {
		answer.ExpiresAt = api.Time{Time: stored.ExpiresAt}
	}
	return ok(answer)
}

// loginOrigin says where a login comes from, for the audit.
func (c *call) loginOrigin() string { return "http from " + access.NetworkOf(c.r.RemoteAddr) }

// loginByPassword creates a token for a user. An unknown user and a wrong password have the same answer, after the
// same time.
func (c *call) loginByPassword(user, password string) (reply, error) {
	identity, err := c.provePassword(user, password, &api.Problem{
		Title: "Not authorized", Status: http.StatusUnauthorized, Code: string(rota.Denied), Detail: "the user or the password is wrong",
		Hint: "check both; an administrator can set a new password with rota user passwd",
	})
	if err != nil {
		return reply{}, err
	}
	c.Access.LoggedIn(identity, c.loginOrigin())
	return c.newSession(identity)
}

// provePassword returns the identity of a user by its password. Wrong passwords slow down further ones.
func (c *call) provePassword(user, password string, wrong *api.Problem) (none access.Identity, _ error) {
	attempt := c.Logins.Attempt(user, c.r.RemoteAddr)
	if attempt.Wait > 0 {
		return none, tooManyLogins(attempt.Wait).asError(c.w)
	}
	if err := pause(c.ctx, attempt.Delay); err != nil {
		return none, err
	}
	check, wait := c.Logins.Begin(user, c.r.RemoteAddr, attempt)
	if wait > 0 {
		return none, tooManyLogins(wait).asError(c.w)
	}
	identity, err := c.byPassword(user, password)
	if rota.CodeOf(err) != rota.Denied {
		check.Succeeded()
		return identity, err
	}
	c.Access.LoginFailed(user, c.loginOrigin())
	if failed := check.Failed(); failed.Wait > 0 {
		return none, tooManyLogins(failed.Wait).asError(c.w)
	}
	return none, wrong
}

// byPassword returns the identity of a user. The password of the built-in admin is the admin token of this node, as on
// the SQL port.
func (c *call) byPassword(user, password string) (access.Identity, error) {
	if user == rota.AdminUser {
		if c.auth.isAdminToken(password) {
			return access.Admin(), nil
		}
		return access.Identity{}, access.ErrWrongPassword // no verifier is needed to know it, which would cost processor time
	}
	return c.Access.ByPassword(c.ctx, user, password)
}

// newSession creates a token for a user that has logged in. It has no verifier: it is not for the SQL port.
func (c *call) newSession(identity access.Identity) (reply, error) {
	guard := c.Access.Guard(identity)
	due, err := guard.NextDue(c.ctx)
	if err != nil {
		return reply{}, err
	}
	id, token := access.NewToken()
	put, err := rota.Do[*rota.TokenPut](c.ctx, guard, &rota.PutToken{
		Meta: rota.NewMeta(identity.User), TokenID: id, User: identity.User, Scope: rota.ScopeSession, Hash: access.HashToken(token),
		ExpiresAt: due.Now.Add(sessionLife),
	})
	if err != nil {
		return reply{}, err
	}
	return ok(api.Login{Token: token, User: identity.User, ExpiresAt: api.Time{Time: put.Token.ExpiresAt}})
}

// pause waits, unless the request ends meanwhile.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func tooManyLogins(wait time.Duration) *refusal {
	return &refusal{wait: wait, problem: &api.Problem{
		Title: "Too many requests", Status: http.StatusTooManyRequests, Code: codeTooMany,
		Detail: "too many failed logins of this user from this address", Hint: "wait as long as the header Retry-After says, then send the right password",
	}}
}

// logout revokes the token of the request, whatever its scope is.
func logout(c *call) (reply, error) {
	id := c.Store.Identity().Token
	if id == "" {
		return reply{status: http.StatusNoContent}, nil
	}
	_, err := c.revoke(&rota.RevokeToken{Meta: c.meta(), TokenID: id})
	return reply{status: http.StatusNoContent}, err
}
