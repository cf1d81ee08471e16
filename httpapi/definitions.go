package httpapi

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
)

func (a *api) definitionRoutes() {
	get(a, operation{
		method: "GET", path: "/definitions", id: "get-definitions", tag: "Server", summary: "Show everything that was declared, as one document",
		description: "Types but for the built-in ones, templates, schedules with their states, limits, and the webhooks that are told of everything, " +
			"all as they stood at one moment. PUT takes the document as it is.",
		query:    []param{{name: "secrets", form: formFlag, doc: "With what deliveries of webhooks are signed with; else that is left out."}},
		response: Definitions{}, errors: []int{409},
	}, getDefinitions)
	route(a, operation{
		method: "PUT", path: "/definitions", id: "put-definitions", tag: "Server", summary: "Declare everything that a document names",
		description: "What stands so already is left alone, its next fires too; what the document does not name stays. Of what it names, what is left out goes back " +
			"to its default, but for the state, which stays. It is written whole or not at all, unless it makes more than 500 changes: see steps of a dry run. " +
			"A schedule whose only time has passed is left out, and so said.",
		query: []param{{name: "dry_run", form: formFlag, doc: "Write nothing, and say what would be written."}},
		example: `{"types": {"mail": {"max_retries": 5}}, "templates": {"digest": {"type": "mail", "default_params": {"to": "all"}}},
			"schedules": {"digest": {"template": "digest", "cron": "0 7 * * *", "timezone": "Europe/Berlin"}}, "limits": {"types": {"mail": {"rate": "100/1m"}}}}`,
		bulk: true, response: DefinitionsPut{}, errors: []int{409},
	}, putDefinitions)
}

// builtinTypes are the types that every server has, and declares itself.
var builtinTypes = []string{"noop", "sleep", "fail", "sql", "call", "exec", "http"}

// isBuiltin says whether a type is built in: neither is it exported, nor
// can a document change it.
func (c *call) isBuiltin(typ string) bool {
	return slices.Contains(builtinTypes, typ) && (c.Engine == nil || c.Engine.Handles(typ))
}

func getDefinitions(c *call) (reply, error) {
	secrets, err := c.boolParam("secrets")
	if err != nil {
		return reply{}, err
	}
	if err := c.largeBodies.acquire(c.ctx, largeBodyWait); err != nil { // it takes as much memory as a large body
		return reply{}, err
	}
	defer c.largeBodies.release()
	set, err := c.definitionSnapshot()
	if err != nil {
		return reply{}, err
	}
	return ok(set.show(c, secrets))
}

// definitionSet is everything that was declared.
type definitionSet struct {
	types     []*rota.Type
	templates []*rota.Template
	schedules []*rota.Schedule
	throttle  *rota.Throttle
	webhooks  *rota.Webhooks
}

// definitionSnapshot reads until two readings in a row are alike. Versions never come
// again, so all of it then stood so at the moment between the two.
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
	return nil, &rota.Error{Code: rota.Busy, Reason: "the definitions change faster than they can be read", Hint: "try again in a moment"}
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

// readNamed reads all that goes by name, a few at a time, as long as there is
// room.
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
					Code: rota.Conflict, Reason: fmt.Sprintf("the definitions have more than %s, which is the most that one document may have", sizeText(c.BatchMax)),
					Hint: "to move a server as it is, use its backup: GET /backup",
				}
			}
		}
		rows = append(rows, part...)
		if len(part) < readRows {
			return rows, nil
		}
	}
}

// definitionOverhead is about what a definition takes beside what is long in it.
const definitionOverhead = 256

// fingerprint tells one reading from another. A schedule that Rota itself disables
// keeps its version.
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

func (f *definitionSet) show(c *call, secrets bool) Definitions {
	v := Definitions{
		Version: definitionsVersion, Types: map[string]TypeDefinition{}, Templates: map[string]TemplateDefinition{}, Schedules: map[string]ScheduleDefinition{},
		Limits: newLimitsDefinition(&f.throttle.Spec), Webhooks: newWebhookDefinitions(f.webhooks.Spec, secrets),
	}
	for _, t := range f.types {
		switch {
		case rota.InternalType(t.Name):
		case !c.isBuiltin(t.Name):
			v.Types[t.Name] = newTypeDefinition(t)
		case t.Paused:
			v.Types[t.Name] = TypeDefinition{Paused: new(true)}
		}
	}
	for _, t := range f.templates {
		v.Templates[t.Name] = newTemplateDefinition(t, secrets)
	}
	for _, s := range f.schedules {
		v.Schedules[s.Name] = newScheduleDefinition(s)
	}
	return v
}

// sortedNames are the names of one kind in a document, in the order of their items.
func sortedNames[D any](definitions map[string]D) []string {
	return slices.Sorted(maps.Keys(definitions))
}
