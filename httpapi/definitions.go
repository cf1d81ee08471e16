package httpapi

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func (a *server) definitionRoutes() {
	get(a, operation{
		method: "GET", path: "/definitions", id: "get-definitions", tag: "Server", summary: "Export all definitions",
		description: "Types except the built-in ones, templates, schedules with their states, limits, and the webhooks for all events, " +
			"as one consistent document that PUT accepts unchanged.",
		query:    []param{{name: "secrets", form: formFlag, doc: "Include the secrets that sign webhook deliveries; default false."}},
		response: api.Definitions{}, errors: []int{409},
	}, getDefinitions)
	route(a, operation{
		method: "PUT", path: "/definitions", id: "put-definitions", tag: "Server", summary: "Import definitions",
		description: "A definition that already matches is left unchanged, including its next fire times, and definitions that the document does not name stay. In a named definition an omitted field " +
			"returns to its default, except the state, which stays. The import is atomic up to 500 changes; a dry run shows the number of steps. " +
			"A schedule whose only time has passed is skipped, and its note says so.",
		query: []param{{name: "dry_run", form: formFlag, doc: "Write nothing, and report what would be written."}},
		example: `{"types": {"mail": {"max_retries": 5}}, "templates": {"digest": {"type": "mail", "default_params": {"to": "all"}}},
			"schedules": {"digest": {"template": "digest", "cron": "0 7 * * *", "timezone": "Europe/Berlin"}}, "limits": {"types": {"mail": {"rate": "100/1m"}}}}`,
		bulk: true, response: api.DefinitionsPut{}, errors: []int{409},
	}, putDefinitions)
}

// builtinTypes are the types that every server declares itself.
var builtinTypes = []string{"noop", "sleep", "fail", "sql", "call", "exec", "http"}

// isBuiltin reports whether a type is built in. Such a type is not exported, and a document cannot
// change it.
func (c *call) isBuiltin(typ string) bool {
	return slices.Contains(builtinTypes, typ) && (c.Engine == nil || c.Engine.Handles(typ))
}

func getDefinitions(c *call) (reply, error) {
	secrets, err := c.boolParam("secrets")
	if err != nil {
		return reply{}, err
	}
	if err := c.largeBodies.acquire(c.ctx, largeBodyWait); err != nil { // the document takes as much memory as a large body
		return reply{}, err
	}
	defer c.largeBodies.release()
	set, err := c.definitionSnapshot()
	if err != nil {
		return reply{}, err
	}
	return ok(set.show(c, secrets))
}

// definitionSet holds all definitions.
type definitionSet struct {
	types     []*rota.Type
	templates []*rota.Template
	schedules []*rota.Schedule
	throttle  *rota.Throttle
	webhooks  *rota.Webhooks
}

// definitionSnapshot reads until two consecutive reads are equal. Versions are never reused, so the
// result existed at the moment between the two reads.
func (c *call) definitionSnapshot() (*definitionSet, error) {
	var last string
	for range 10 {
		set, err := c.readDefinitionSet()
		if err != nil {
			return nil, err
		}
		fingerprint := set.fingerprint()
		if fingerprint == last {
			return set, nil
		}
		last = fingerprint
	}
	return nil, &rota.Error{Code: rota.Busy, Reason: "the definitions changed during every attempt to read them", Hint: "retry in a moment"}
}

func (c *call) readDefinitionSet() (set *definitionSet, err error) {
	set = &definitionSet{}
	budget := int(c.BatchMax)
	if set.types, err = readNamed(c, &budget, c.Store.Types, func(t *rota.Type) (string, int) { return t.Name, len(t.Spec.Schema) }); err != nil {
		return nil, err
	}
	if set.templates, err = readNamed(c, &budget, c.Store.Templates, func(t *rota.Template) (string, int) { return t.Name, len(t.Spec.Params) }); err != nil {
		return nil, err
	}
	schedules := func(ctx context.Context, q rota.NameQuery) ([]*rota.Schedule, error) {
		return c.Store.Schedules(ctx, rota.ScheduleQuery{After: q.After, Limit: q.Limit})
	}
	if set.schedules, err = readNamed(c, &budget, schedules, func(s *rota.Schedule) (string, int) { return s.Name, scheduleSize(s) }); err != nil {
		return nil, err
	}
	if set.throttle, err = c.Store.Throttle(c.ctx); err != nil {
		return nil, err
	}
	set.webhooks, err = c.Store.Webhooks(c.ctx)
	return set, err
}

// readNamed reads all rows by name, in batches, up to a budget of bytes.
func readNamed[T any](
	c *call, budget *int, read func(context.Context, rota.NameQuery) ([]T, error), measure func(T) (name string, size int),
) (rows []T, err error) {
	for after := ""; ; {
		part, err := read(c.ctx, rota.NameQuery{After: after, Limit: readRows})
		if err != nil {
			return nil, err
		}
		for _, row := range part {
			name, size := measure(row)
			after = name
			if *budget -= size + definitionOverhead; *budget < 0 {
				return nil, &rota.Error{
					Code: rota.Conflict, Reason: fmt.Sprintf("the definitions exceed %s, the limit for one document", sizeText(c.BatchMax)),
					Hint: "to move a whole server, use a backup: GET /backup",
				}
			}
		}
		rows = append(rows, part...)
		if len(part) < readRows {
			return rows, nil
		}
	}
}

// definitionOverhead is the approximate size of a definition without its long fields.
const definitionOverhead = 256

// fingerprint identifies one read of the definitions. It includes the state of schedules, since Rota
// disables a schedule without a new version.
func (f *definitionSet) fingerprint() string {
	var fingerprint []byte
	for _, t := range f.types {
		fingerprint = append(fingerprint, t.Version[:]...)
	}
	for _, t := range f.templates {
		fingerprint = append(fingerprint, t.Version[:]...)
	}
	for _, s := range f.schedules {
		fingerprint = append(append(fingerprint, s.Version[:]...), s.State...)
	}
	fingerprint = append(fingerprint, f.throttle.Version[:]...)
	fingerprint = append(fingerprint, f.webhooks.Version[:]...)
	return string(fingerprint)
}

func (f *definitionSet) show(c *call, secrets bool) api.Definitions {
	v := api.Definitions{
		Version: api.DefinitionsVersion, Types: map[string]api.TypeDefinition{}, Templates: map[string]api.TemplateDefinition{}, Schedules: map[string]api.ScheduleDefinition{},
		Limits: api.NewLimitsDefinition(&f.throttle.Spec), Webhooks: api.NewWebhookDefinitions(f.webhooks.Spec, secrets),
	}
	for _, t := range f.types {
		switch {
		case rota.InternalType(t.Name):
		case !c.isBuiltin(t.Name):
			v.Types[t.Name] = api.NewTypeDefinition(t)
		case t.Paused:
			v.Types[t.Name] = api.TypeDefinition{Paused: new(true)}
		}
	}
	for _, t := range f.templates {
		v.Templates[t.Name] = api.NewTemplateDefinition(t, secrets)
	}
	for _, s := range f.schedules {
		v.Schedules[s.Name] = api.NewScheduleDefinition(s)
	}
	return v
}

// sortedNames returns the names of one kind of definition in document order.
func sortedNames[D any](definitions map[string]D) []string {
	return slices.Sorted(maps.Keys(definitions))
}
