package httpapi

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
)

func (a *server) meRoutes() {
	get(a, operation{
		method: "GET", path: "/me", id: "get-me", scope: ownScope, tag: "Access", summary: "Show who sends the request",
		description: "The user of the request, its roles and its privileges. A token of scope worker sees neither roles nor privileges.", response: api.Me{},
	}, showMe)
}

func showMe(c *call) (reply, error) {
	me := api.Me{User: c.actor, Roles: []string{}, Privileges: []api.MyPrivilege{}}
	token, err := c.Store.Token(c.ctx)
	if err != nil {
		return reply{}, err
	}
	if token != nil {
		me.Token = api.NewMeToken(token)
		if token.Scope == rota.ScopeWorker { // it may read nothing
			return ok(me)
		}
	}
	if c.actor == rota.AdminUser {
		me.Admin, me.Privileges = true, append(me.Privileges, api.MyPrivilege{Privilege: string(rota.Admin)})
		return ok(me)
	}
	effects := access.NewEffects(c.Store)
	p, err := effects.Principal(c.ctx, c.actor)
	if err != nil {
		return reply{}, err
	}
	if p == nil {
		return reply{}, noPrincipal(rota.KindUser, c.actor)
	}
	err = effects.Reached(c.ctx, p, func(one *rota.Principal) error {
		through := ""
		if one != p {
			through = one.Name
			me.Roles = append(me.Roles, through)
		}
		grants, err := effects.Grants(c.ctx, one)
		for _, g := range grants {
			me.Admin = me.Admin || g.Privilege == rota.Admin
			me.Privileges = append(me.Privileges, api.MyPrivilege{Privilege: string(g.Privilege), Job: api.Text(g.Job), Through: api.Text(through)})
		}
		return err
	})
	slices.Sort(me.Roles)
	return show(func(me api.Me) api.Me { return me })(me, err)
}
