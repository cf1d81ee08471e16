package httpapi

import (
	"net/http"
	"net/url"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
)

func (a *server) userRoutes() {
	get(a, operation{
		method: "GET", path: "/users", id: "list-users", scope: readScope, tag: "Access", summary: "List users",
		description: "By name, without the built-in user " + rota.AdminUser + ". A user without ADMIN sees itself only.",
		query:       pageParams(), response: api.List[api.User]{},
	}, func(c *call) (reply, error) {
		effects := access.NewEffects(c.Store)
		return c.principals(cursorUsers, rota.KindUser, func(p *rota.Principal) (any, error) { return c.user(effects, p) })
	})
	route(a, operation{
		method: "POST", path: "/users", id: "create-user", scope: writeScope, tag: "Access", summary: "Create a user",
		description: "Without a password and a certificate the user can use tokens only.",
		example:     `{"name": "bob", "password": "a text that nobody guesses"}`, secret: true,
		status: 201, required: []string{"name"}, response: api.User{}, errors: []int{403, 409},
	}, createUser)
	get(a, operation{
		method: "GET", path: "/users/{name}", id: "get-user", scope: readScope, tag: "Access", summary: "Show a user",
		response: api.User{}, errors: []int{404},
	}, func(c *call) (reply, error) { return then(c.showUser)(c.principal(rota.KindUser)) })
	route(a, operation{
		method: "PATCH", path: "/users/{name}", version: userVersion, id: "change-user", scope: writeScope, tag: "Access", summary: "Change the password or the certificate of a user",
		description: "Changes only the fields in the request; null removes a credential. Tokens of the user stay valid. " +
			"A user without ADMIN may change its own password; with a token it also sends current_password.",
		example: `{"password": "another text that nobody guesses"}`, secret: true, response: api.User{}, errors: []int{403, 404, 409},
	}, changeUser)
	get(a, operation{
		method: "DELETE", path: "/users/{name}", id: "delete-user", scope: writeScope, tag: "Access", summary: "Delete a user",
		description: "Its tokens and grants end with it. They stay without effect if a new user gets the name. A user that owns a template or schedule cannot be deleted.",
		status:      204, errors: []int{403, 404, 409},
	}, func(c *call) (reply, error) { return c.dropPrincipal(rota.KindUser) })
}

func createUser(c *call, body *api.UserRequest) (reply, error) {
	command := &rota.PutPrincipal{Meta: c.meta(), Kind: rota.KindUser, Mode: rota.PutCreate}
	body.Name.SetValue(&command.Name)
	if err := setCredentials(command, body.Password, body.Certificate); err != nil {
		return reply{}, err
	}
	return then(func(p *rota.Principal) (reply, error) {
		answer, err := c.showUser(p)
		answer.status, answer.location = http.StatusCreated, base+"/users/"+url.PathEscape(p.Name)
		return answer, err
	})(c.putPrincipal(command))
}

func changeUser(c *call, body *api.UserChange) (reply, error) {
	command := &rota.PutPrincipal{Meta: c.meta(), Name: c.name(), Kind: rota.KindUser, Mode: rota.PutReplace, Version: c.required}
	if err := setCredentials(command, body.Password, body.Certificate); err != nil {
		return reply{}, err
	}
	if err := c.useCurrentPassword(body.CurrentPassword); err != nil {
		return reply{}, err
	}
	return then(c.showUser)(c.putPrincipal(command))
}

// useCurrentPassword proves the password of the user of a request, and lets the request continue as if the user had logged in
// with the password instead of a token. The scope of the token was checked before.
func (c *call) useCurrentPassword(password string) error {
	switch {
	case password == "":
		return nil
	case c.name() != c.actor:
		return rota.Invalidf("current_password", "is set, but %s is not the user of the request; leave it out", c.name())
	}
	identity, err := c.provePassword(c.actor, password, &api.Problem{
		Title: "Forbidden", Status: http.StatusForbidden, Code: string(rota.Denied), Detail: "the current password is wrong",
		Hint: "send the password that the user has now; an administrator can set a new one with rota user passwd",
	})
	if err == nil {
		c.Store = c.Access.Guard(identity)
	}
	return err
}

// setCredentials converts the credentials of a request. A repeated request has another salt: the store answers a command
// that it has applied without a comparison.
func setCredentials(command *rota.PutPrincipal, password, certificate api.Opt[string]) error {
	if password.Set {
		command.Verifier = new(string)
	}
	if password.Value != nil {
		if err := access.CheckPassword(*password.Value); err != nil {
			return err
		}
		*command.Verifier = access.NewVerifier(*password.Value).String()
	}
	if certificate.Set {
		command.Certificate = new(string)
		certificate.SetValue(command.Certificate)
	}
	return nil
}

// putPrincipal validates and sends the command.
func (c *call) putPrincipal(command *rota.PutPrincipal) (*rota.Principal, error) {
	if err := command.Validate(); err != nil {
		return nil, err
	}
	put, err := do[*rota.PrincipalPut](c, command)
	switch {
	case err != nil:
		return nil, err
	case put.Principal == nil || put.Principal.Kind != command.Kind: // a repeated request
		return nil, noPrincipal(command.Kind, command.Name)
	}
	return put.Principal, nil
}

func (c *call) dropPrincipal(kind rota.PrincipalKind) (reply, error) {
	command := &rota.DropPrincipal{Meta: c.meta(), Name: c.name(), Kind: kind}
	if err := command.Validate(); err != nil {
		if _, missing := c.principal(kind); missing != nil {
			return reply{}, missing
		}
		return reply{}, err
	}
	_, err := do[*rota.PrincipalDropped](c, command)
	return reply{status: http.StatusNoContent}, err
}

// principal reads the user or the role of the path.
func (c *call) principal(kind rota.PrincipalKind) (*rota.Principal, error) {
	p, err := c.Store.Principal(c.ctx, c.name())
	if rota.CodeOf(err) == rota.NotFound || err == nil && p.Kind != kind {
		return nil, noPrincipal(kind, c.name())
	}
	return p, err
}

func noPrincipal(kind rota.PrincipalKind, name string) error {
	if name == rota.AdminUser {
		return &rota.Error{Code: rota.NotFound, Reason: name + " is built in and has no entry", Hint: "it has every privilege; each node has its own token for it"}
	}
	if kind == rota.KindRole {
		return &rota.Error{Code: rota.NotFound, Reason: "there is no role " + name, Hint: "check the name; rota role list shows the names"}
	}
	return &rota.Error{Code: rota.NotFound, Reason: "there is no user " + name, Hint: "check the name; rota user list shows the names"}
}

func (c *call) showUser(p *rota.Principal) (reply, error) {
	return then(ok)(c.user(access.NewEffects(c.Store), p))
}

// user converts a user.
func (c *call) user(effects *access.Effects, p *rota.Principal) (any, error) {
	admin, err := effects.IsAdmin(c.ctx, p)
	if err != nil {
		return nil, err
	}
	roles, grants, err := c.held(effects, p)
	if err != nil {
		return nil, err
	}
	return api.NewUser(p, admin, roles, grants), nil
}

// held returns the memberships and grants of a principal that have an effect.
func (c *call) held(effects *access.Effects, p *rota.Principal) (roles []rota.RoleMembership, grants []rota.Grant, err error) {
	if roles, err = effects.Roles(c.ctx, p); err == nil {
		grants, err = effects.Grants(c.ctx, p)
	}
	return roles, grants, err
}

// principals responds with a page of users or roles.
func (c *call) principals(cursor cursorKind, kind rota.PrincipalKind, convert func(*rota.Principal) (any, error)) (answer reply, err error) {
	var failed error
	answer, err = rowList[*rota.Principal, any]{
		kind: cursor, position: func(p *rota.Principal) []byte { return []byte(p.Name) },
		read: func(after []byte, n int) ([]*rota.Principal, error) { return c.principalsOf(kind, string(after), n) },
		show: func(p *rota.Principal) any {
			shown, err := convert(p)
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

// principalsOf returns the first n users or roles after a name. An empty kind selects both.
func (c *call) principalsOf(kind rota.PrincipalKind, after string, n int) (found []*rota.Principal, err error) {
	for {
		part, err := c.Store.Principals(c.ctx, rota.NameQuery{After: after, Limit: rota.PageMax})
		if err != nil {
			return nil, err
		}
		for _, p := range part {
			after = p.Name
			if kind == "" || p.Kind == kind {
				found = append(found, p)
			}
			if len(found) == n {
				return found, nil
			}
		}
		if len(part) < rota.PageMax {
			return found, nil
		}
	}
}
