package httpapi

import (
	"net/http"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/payload"
)

func (a *server) typeRoutes() {
	get(a, operation{
		method: "GET", path: "/types", id: "list-types", scope: readScope, tag: "Types", summary: "List types", description: "By name.",
		query: pageParams(), response: api.List[api.Type]{},
	}, listTypes)
	get(a, operation{
		method: "GET", path: "/types/{name}", id: "get-type", scope: anyScope, tag: "Types", summary: "Show a type", response: api.Type{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return show(c.showType)(c.Store.Type(c.ctx, c.name()))
	})
	route(a, operation{
		method: "PUT", path: "/types/{name}", version: typeVersion, id: "put-type", scope: writeScope, tag: "Types", summary: "Declare a type",
		description: "Declares a type for remote workers, or replaces its declaration. Jobs of undeclared types are refused. An omitted field returns to its default. A type that this server handles itself can only be declared unchanged. With the header If-None-Match: * the status is 412 if the type exists.",
		example:     `{"schema": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}, "max_retries": 5, "timeout": "30s"}`,
		response:    api.Type{}, otherStatuses: map[int]string{201: "The type is new."}, errors: []int{409, 412},
	}, putType)
	for path, paused := range map[string]bool{"pause": true, "resume": false} {
		get(a, operation{
			method: "POST", path: "/types/{name}/" + path, version: typeVersion, id: path + "-type", scope: writeScope, tag: "Types", summary: pauseSummaries[paused], response: api.Type{}, errors: []int{404},
			description: "Jobs of a paused type are accepted but not started; running jobs continue.",
		}, func(c *call) (reply, error) { return switchType(c, paused) })
	}
}

var pauseSummaries = map[bool]string{true: "Pause a type", false: "Resume a type"}

func listTypes(c *call) (reply, error) {
	workers := c.registry.workersByType()
	return namedList(c, cursorTypes, c.Store.Types, func(t *rota.Type) api.Type { return c.newType(t, workers) },
		func(t *rota.Type) string { return t.Name }, func(t *rota.Type) int { return len(t.Spec.Schema) })
}

// showType converts a type, with the workers that handle it.
func (c *call) showType(t *rota.Type) api.Type { return c.newType(t, c.registry.workersByType()) }

func (c *call) newType(t *rota.Type, workers map[string]int) api.Type {
	v := api.NewType(t)
	v.Handled, v.Workers = c.handles(t.Name), workers[t.Name]
	if t.Name == execType {
		v.Accounts, v.Allow, v.Env, v.Remote = c.ExecAccounts, c.ExecAllow, c.ExecEnv, c.ExecRemote
	}
	return v
}

var execType = action.Exec{}.JobType()

// handles reports whether this server runs jobs of a type.
func (c *call) handles(typ string) bool { return c.Engine != nil && c.Engine.Handles(typ) }

func putType(c *call, body *api.TypeRequest) (reply, error) {
	if rota.InternalType(c.name()) {
		return reply{}, internalType("name")
	}
	spec := rota.TypeSpec{Description: body.Description, Schema: body.Schema.Raw()}
	body.Apply(&spec.Policy)
	if len(spec.Schema) > 0 && len(spec.Schema) <= rota.SchemaMax {
		if _, err := payload.Compile(spec.Schema); err != nil {
			return reply{}, err
		}
	}
	if err := c.mayDeclare(c.name(), spec); err != nil {
		return reply{}, err
	}
	command := &rota.PutType{Meta: c.meta(), Name: c.name(), Version: c.required, Spec: spec}
	if c.r.Header.Get("If-None-Match") == "*" {
		command.Mode = rota.PutCreate
	}
	put, err := do[*rota.TypePut](c, command)
	if command.Mode == rota.PutCreate && rota.CodeOf(err) == rota.Conflict {
		return reply{}, existsAlready(err)
	}
	if err != nil {
		return reply{}, err
	}
	status := http.StatusOK
	if put.Type.CreatedAt.Equal(put.Type.UpdatedAt) && (put.Changed || put.Type.Version == c.commandID) {
		status = http.StatusCreated
	}
	return reply{status: status, body: c.showType(put.Type)}, nil
}

// existsAlready refuses a request with If-None-Match: * for something that exists.
func existsAlready(err error) *api.Problem {
	p := *problem.Of(err)
	p.Title, p.Status = "Precondition failed", http.StatusPreconditionFailed
	p.Hint = "omit If-None-Match to replace it"
	return &p
}

// mayDeclare refuses to change a type that this server declares itself, because its handler depends on
// the declared params. An equal declaration is accepted.
func (c *call) mayDeclare(name string, spec rota.TypeSpec) error {
	if !c.handles(name) && name != execType { // servers that run no programs declare it, too
		return nil
	}
	stored, err := c.Store.Type(c.ctx, name)
	if err != nil && rota.CodeOf(err) != rota.NotFound || err == nil && stored.Spec.Equal(spec) {
		return err
	}
	return problem.New(rota.Conflict, "", "change it where its handler is registered, or use another name; to stop its jobs from starting: POST /types/"+name+"/pause",
		"type %s is handled by this server, which declares it itself", name)
}

func switchType(c *call, paused bool) (reply, error) {
	return show(func(put *rota.TypePut) api.Type { return c.showType(put.Type) })(
		do[*rota.TypePut](c, &rota.SwitchType{Meta: c.meta(), Name: c.name(), Paused: paused, Version: c.required}))
}
