package httpapi

import (
	"net/http"
	"net/url"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
)

func (a *server) roleRoutes() {
	get(a, operation{
		method: "GET", path: "/roles", id: "list-roles", scope: readScope, tag: "Access", summary: "List roles",
		description: "By name. A user without ADMIN sees its own roles only.",
		query:       pageParams(), response: api.List[api.Role]{},
	}, func(c *call) (reply, error) {
		effects := access.NewEffects(c.Store)
		members, err := c.membersByRole(effects)
		if err != nil {
			return reply{}, err
		}
		return c.principals(cursorRoles, rota.KindRole, func(p *rota.Principal) (any, error) { return c.role(effects, members, p) })
	})
	route(a, operation{
		method: "POST", path: "/roles", id: "create-role", scope: writeScope, tag: "Access", summary: "Create a role",
		description: "A role holds privileges for its members. POST /grants grants privileges to it, and grants it to users and other roles.",
		example:     `{"name": "operators"}`, status: 201, response: api.Role{}, errors: []int{403, 409},
	}, createRole)
	get(a, operation{
		method: "GET", path: "/roles/{name}", id: "get-role", scope: readScope, tag: "Access", summary: "Show a role",
		response: api.Role{}, errors: []int{404},
	}, func(c *call) (reply, error) { return then(c.showRole)(c.principal(rota.KindRole)) })
	get(a, operation{
		method: "DELETE", path: "/roles/{name}", id: "delete-role", scope: writeScope, tag: "Access", summary: "Delete a role",
		description: "Its members lose what they have through it.", status: 204, errors: []int{403, 404},
	}, func(c *call) (reply, error) { return c.dropPrincipal(rota.KindRole) })
}

func createRole(c *call, body *api.RoleRequest) (reply, error) {
	command := &rota.PutPrincipal{Meta: c.meta(), Name: body.Name, Kind: rota.KindRole, Mode: rota.PutCreate}
	return then(func(p *rota.Principal) (reply, error) {
		answer, err := c.showRole(p)
		answer.status, answer.location = http.StatusCreated, base+"/roles/"+url.PathEscape(p.Name)
		return answer, err
	})(c.putPrincipal(command))
}

func (c *call) showRole(p *rota.Principal) (reply, error) {
	effects := access.NewEffects(c.Store)
	members, err := c.membersByRole(effects)
	if err != nil {
		return reply{}, err
	}
	return then(ok)(c.role(effects, members, p))
}

// role converts a role.
func (c *call) role(effects *access.Effects, members map[string][]string, p *rota.Principal) (any, error) {
	roles, grants, err := c.held(effects, p)
	if err != nil {
		return nil, err
	}
	return api.NewRole(p, members[p.Name], roles, grants), nil
}

// membersByRole returns the direct members of each role. A membership is part of its member, so this reads all users
// and roles.
func (c *call) membersByRole(effects *access.Effects) (map[string][]string, error) {
	members := map[string][]string{}
	for after := ""; ; {
		part, err := c.principalsOf("", after, rota.PageMax)
		if err != nil {
			return nil, err
		}
		for _, p := range part {
			roles, err := effects.Roles(c.ctx, p)
			if err != nil {
				return nil, err
			}
			for _, m := range roles {
				members[m.Role] = append(members[m.Role], p.Name)
			}
			after = p.Name
		}
		if len(part) < rota.PageMax {
			return members, nil
		}
	}
}
