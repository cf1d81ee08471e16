package httpapi

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func (a *server) tokenRoutes() {
	get(a, operation{
		method: "GET", path: "/tokens", id: "list-tokens", scope: readScope, tag: "Access", summary: "List tokens",
		description: "By id, with those that are expired or revoked. A user without ADMIN sees its own.",
		query:       pageParams(param{name: "user", form: formName, doc: "Tokens of this user."}), response: api.List[api.Token]{},
	}, listTokens)
	route(a, operation{
		method: "POST", path: "/tokens", id: "create-token", scope: writeScope, tag: "Access", summary: "Create a token",
		description: "The answer shows the token once; the server stores only a hash of it. A request that is repeated with its Idempotency-Key creates no " +
			"second token, and is answered with 409, because the token cannot be shown again. Revoke it then, and create another one.",
		example: `{"user": "ci", "scope": "write", "expires": "90d"}`, status: 201, response: api.TokenCreated{}, errors: []int{403, 404, 409},
	}, createToken)
	get(a, operation{
		method: "GET", path: "/tokens/{token_id}", id: "get-token", scope: readScope, tag: "Access", summary: "Show a token",
		response: api.Token{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return then(c.showToken)(c.Store.AccessToken(c.ctx, c.r.PathValue("token_id")))
	})
	get(a, operation{
		method: "DELETE", path: "/tokens/{token_id}", id: "revoke-token", scope: writeScope, ownToken: true, tag: "Access", summary: "Revoke a token",
		description: "Requests with it are refused from now on. A token that was revoked before stays as it is.", response: api.Token{}, errors: []int{403, 404},
	}, revokeToken)
}

func listTokens(c *call) (reply, error) {
	effects, failed := access.NewEffects(c.Store), error(nil)
	answer, err := rowList[*rota.AccessToken, api.Token]{
		kind: cursorTokens, position: func(t *rota.AccessToken) []byte { return []byte(t.ID) },
		read: func(after []byte, n int) ([]*rota.AccessToken, error) {
			found, err := c.Store.AccessTokens(c.ctx, rota.TokenQuery{After: string(after), User: c.query.Get("user"), Limit: n})
			return found, asMalformed(err)
		},
		show: func(t *rota.AccessToken) api.Token {
			shown, err := c.token(effects, t)
			if err != nil {
				failed = err
			}
			return shown
		},
	}.page(c)
	if failed != nil {
		return reply{}, failed
	}
	return answer, err
}

// token converts a token.
func (c *call) token(effects *access.Effects, t *rota.AccessToken) (api.Token, error) {
	user, err := effects.Principal(c.ctx, t.User)
	return api.NewToken(t, user, c.Clock()), err
}

func (c *call) showToken(t *rota.AccessToken) (reply, error) {
	return show(func(shown api.Token) any { return shown })(c.token(access.NewEffects(c.Store), t))
}

// chosenScopes are the scopes that a request may choose.
var chosenScopes = []rota.TokenScope{rota.ScopeRead, rota.ScopeWrite, rota.ScopeWorker}

func createToken(c *call, body *api.TokenRequest) (reply, error) {
	now, err := c.requestTime()
	if err != nil {
		return reply{}, err
	}
	command := &rota.PutToken{User: c.actor, Scope: rota.TokenScope(strings.ToLower(body.Scope))}
	if !slices.Contains(chosenScopes, command.Scope) { // a session comes from a login
		return reply{}, rota.Invalidf("scope", "is %s; allowed are read, write, worker", quoted(body.Scope))
	}
	if body.User.Value != nil {
		command.User = *body.User.Value
	}
	body.Type.SetValue(&command.Type)
	body.Job.SetValue(&command.Job)
	if command.ExpiresAt, err = body.ExpiresAt(now); err != nil {
		return reply{}, err
	}
	if err := c.checkTokenJob(command.Job); err != nil {
		return reply{}, err
	}
	put, token, err := c.putToken(command)
	if err != nil {
		return reply{}, problem.Rename(err, "expires_at", "expires")
	}
	return created(api.NewTokenCreated(put, token), base+"/tokens/"+put.ID)
}

// checkTokenJob refuses a token for a job that does not exist, or that the caller may not see: such a token could do nothing, and
// would be for whatever gets the name later.
func (c *call) checkTokenJob(name string) error {
	if name == "" {
		return nil
	}
	_, err := c.Store.Schedule(c.ctx, name)
	if rota.CodeOf(err) == rota.NotFound {
		_, err = c.Store.Template(c.ctx, name)
	}
	if rota.CodeOf(err) == rota.NotFound {
		return problem.New(rota.NotFound, "job", "check the name; rota schedule list and rota template list show the names", "there is no job %s", name)
	}
	return err
}

// putToken creates a secret for a token and sends the command. The id of the token follows from that of the command, so
// that a repeated request finds the token of the first one.
func (c *call) putToken(command *rota.PutToken) (*rota.AccessToken, string, error) {
	setToken(command, access.TokenFor(tokenIDFor(noCommand)))
	if err := command.Validate(); err != nil {
		return nil, "", err
	}
	if err := c.bindKey(); err != nil {
		return nil, "", err
	}
	command.Meta = c.meta()
	token := access.TokenFor(tokenIDFor(command.ID))
	setToken(command, token)
	command.Verifier = access.NewVerifier(token).String()
	put, err := do[*rota.TokenPut](c, command)
	switch {
	case err != nil:
		return nil, "", err
	case !put.Changed:
		return nil, "", problem.New(rota.Conflict, idempotencyHeader, "revoke it with DELETE /tokens/"+command.TokenID+", then send the request with a new key",
			"was used for a request that created token %s, which cannot be shown again", command.TokenID)
	}
	return put.Token, token, nil
}

// setToken writes what is stored of a token into a command.
func setToken(command *rota.PutToken, token string) {
	command.TokenID, _ = access.TokenID(token)
	command.Hash = access.HashToken(token)
}

// tokenIDFor returns the id of the token that a command creates. It is no secret.
func tokenIDFor(command rota.ID) string {
	hash := sha256.Sum256(append([]byte("token "), command[:]...))
	return access.TokenIDOf(hash[:])
}

func revokeToken(c *call) (reply, error) {
	command := &rota.RevokeToken{Meta: c.meta(), TokenID: c.r.PathValue("token_id")}
	if err := command.Validate(); err != nil {
		return reply{}, &rota.Error{Code: rota.NotFound, Reason: "there is no token " + quoted(command.TokenID), Hint: "the id of a token is its part between the underscores; rota token list shows the ids"}
	}
	return show(func(revoked *rota.TokenRevoked) api.Token { return api.NewToken(revoked.Token, nil, c.Clock()) })(c.revoke(command))
}

// revoke revokes a token. If it is that of the request, no key is bound, which tokens of scope read may not: a token is
// revoked once in any case.
func (c *call) revoke(command *rota.RevokeToken) (*rota.TokenRevoked, error) {
	if command.TokenID == c.Store.Identity().Token {
		return rota.Do[*rota.TokenRevoked](c.ctx, c.Store, command)
	}
	return do[*rota.TokenRevoked](c, command)
}
