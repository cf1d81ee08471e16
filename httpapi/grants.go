package httpapi

import (
	"bytes"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func (a *server) grantRoutes() {
	get(a, operation{
		method: "GET", path: "/grants", id: "list-grants", scope: readScope, tag: "Access", summary: "List privileges and roles that were granted",
		description: "By grantee. Grants without an effect are omitted, such as one on a job that was created again later. A user without ADMIN sees its own.",
		query: pageParams(
			param{name: "user", form: formName, doc: "What this user or role has, also through roles."},
			param{name: "job", form: formName, doc: "Privileges on this template or schedule, without those on all."},
		),
		response: api.List[api.Grant]{}, errors: []int{404},
	}, listGrants)
	route(a, operation{
		method: "POST", path: "/grants", id: "grant", scope: writeScope, tag: "Access", summary: "Grant privileges or a role",
		description: "The owner of a template or schedule may grant privileges on it; everything else needs ADMIN.",
		example:     `{"privileges": ["EXECUTE JOB", "VIEW JOB HISTORY"], "job": "nightly", "to": ["bob"]}`,
		response:    api.GrantsChanged{}, errors: []int{403, 404, 409},
	}, func(c *call, body *api.GrantRequest) (reply, error) { return c.sendGrant(body.Command()) })
	get(a, operation{
		method: "DELETE", path: "/grants", id: "revoke", scope: writeScope, tag: "Access", summary: "Revoke privileges or a role",
		description: "Takes effect at the next request. Revoking a privilege on all jobs keeps grants on single ones.",
		query: []param{
			{name: "privilege", form: formText, doc: "Privileges in either case, with spaces or underscores, separated by commas.", example: "EXECUTE JOB"},
			{name: "job", form: formText, doc: "Template or schedule that the privileges are for. Omitted: grants on all jobs.", example: "nightly"},
			{name: "role", form: formText, doc: "Role to revoke, instead of privileges."},
			{name: "from", form: formText, doc: "Users and roles, separated by commas.", example: "bob"},
		},
		response: api.GrantsChanged{}, errors: []int{403, 404},
	}, revokeGrants)
}

func revokeGrants(c *call) (reply, error) {
	for name, values := range c.query { // an empty job must not become all jobs
		if strings.TrimSpace(values[0]) == "" {
			return reply{}, problem.Malformed(name, "is empty; write a value, or omit the parameter")
		}
	}
	command := &rota.GrantPrivileges{
		To: c.queryList("from"), Privileges: api.ParsePrivileges(c.queryList("privilege")), Job: c.query.Get("job"), Role: c.query.Get("role"), Revoke: true,
	}
	renamed := func(err error) error { return problem.Rename(err, "to", "from", "privileges", "privilege") }
	if err := command.Validate(); err != nil {
		return reply{}, asMalformed(renamed(err))
	}
	answer, err := c.sendGrant(command)
	return answer, renamed(err)
}

// queryList returns the words of a parameter that are separated by commas.
func (c *call) queryList(name string) (words []string) {
	for word := range strings.SplitSeq(c.query.Get(name), ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

func (c *call) sendGrant(command *rota.GrantPrivileges) (reply, error) {
	command.Meta = c.meta()
	if err := command.Validate(); err != nil {
		return reply{}, err
	}
	return show(func(granted *rota.Granted) api.GrantsChanged {
		return api.GrantsChanged{Changed: granted.Changed || granted.Repeated, To: command.To}
	})(do[*rota.Granted](c, command))
}

// grantPosition orders a list of grants: by grantee; first its privileges by job, then its roles.
func grantPosition(g api.Grant) []byte {
	return []byte(strings.Join([]string{g.Grantee, string(g.Role), string(g.Job), string(g.Privilege)}, "\x00"))
}

func listGrants(c *call) (reply, error) {
	effects := access.NewEffects(c.Store)
	read := func(after []byte, n int) ([]api.Grant, error) { return c.grantsOfAll(effects, after, n) }
	if user := c.query.Get("user"); user != "" {
		read = func(after []byte, n int) ([]api.Grant, error) {
			all, err := c.grantsOf(effects, user)
			return firstGrants(all, after, n), err
		}
	}
	return rowList[api.Grant, api.Grant]{
		kind: cursorGrants, read: read, position: grantPosition, show: func(g api.Grant) api.Grant { return g },
	}.page(c)
}

// firstGrants returns the first n grants after a position.
func firstGrants(all []api.Grant, after []byte, n int) []api.Grant {
	all = slices.DeleteFunc(all, func(g api.Grant) bool { return after != nil && bytes.Compare(grantPosition(g), after) <= 0 })
	return all[:min(n, len(all))]
}

// grantsOf returns what a user or a role has, itself and through roles.
func (c *call) grantsOf(effects *access.Effects, name string) (all []api.Grant, err error) {
	p, err := effects.Principal(c.ctx, name)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, noPrincipal(rota.KindUser, name)
	}
	err = effects.Reached(c.ctx, p, func(one *rota.Principal) error {
		rows, err := c.grantRows(effects, one)
		for _, g := range rows {
			if one != p {
				g.Through = api.Text(one.Name)
			}
			all = append(all, g)
		}
		return err
	})
	slices.SortFunc(all, func(a, b api.Grant) int { return bytes.Compare(grantPosition(a), grantPosition(b)) })
	return all, err
}

// grantsOfAll returns the first n grants of all users and roles after a position.
func (c *call) grantsOfAll(effects *access.Effects, after []byte, n int) (found []api.Grant, err error) {
	name, _, _ := strings.Cut(string(after), "\x00")
	if name != "" { // the page may have ended within the grants of this one
		p, err := effects.Principal(c.ctx, name)
		if err != nil {
			return nil, err
		}
		if p != nil {
			rows, err := c.grantRows(effects, p)
			if err != nil {
				return nil, err
			}
			found = firstGrants(rows, after, n)
		}
	}
	for len(found) < n {
		part, err := c.principalsOf("", name, rota.PageMax)
		if err != nil {
			return nil, err
		}
		for _, p := range part {
			rows, err := c.grantRows(effects, p)
			if err != nil {
				return nil, err
			}
			name = p.Name
			if found = append(found, rows...); len(found) >= n {
				break
			}
		}
		if len(part) < rota.PageMax {
			break
		}
	}
	return found[:min(n, len(found))], nil
}

// grantRows returns what was granted to a principal itself and has an effect, in the order of the list.
func (c *call) grantRows(effects *access.Effects, p *rota.Principal) ([]api.Grant, error) {
	roles, grants, err := c.held(effects, p)
	if err != nil {
		return nil, err
	}
	rows := api.NewGrants(p, roles, grants)
	if job := c.query.Get("job"); job != "" {
		rows = slices.DeleteFunc(rows, func(g api.Grant) bool { return string(g.Job) != job })
	}
	slices.SortFunc(rows, func(a, b api.Grant) int { return bytes.Compare(grantPosition(a), grantPosition(b)) })
	return rows, nil
}
