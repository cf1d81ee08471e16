// Package definitions exports the definitions of a store as one document, and applies such a document: types,
// templates, schedules, limits and webhooks. It also checks the definitions that single requests name.
//
// An import compares the document with the store and plans the commands that make the store match it. The plan
// reports everything that is invalid, not only the first error. A document of up to 500 changes is written atomically.
package definitions

import (
	"context"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/secret"
)

// Sync exports and imports the definitions of a store. Store and Schemas are required.
type Sync struct {
	Store   rota.Store
	Schemas *payload.SchemaCache

	// Handles reports whether this process runs jobs of a type and declares the type itself. Nil: none.
	Handles  func(typ string) bool
	BytesMax int64 // approximate size of the largest export

	// Vault seals the secrets of webhooks, and has the store itself, not a Guard, so that it reads the ciphertexts of secrets.
	// Nil: secrets of webhooks stay as they are, and a document can have no secrets of templates.
	Vault *secret.Vault

	// CheckSecret refuses a secret that no job of a type can use. Nil: every secret is accepted.
	CheckSecret func(typ, key string, value []byte) error
}

func (s *Sync) handles(typ string) bool { return s.Handles != nil && s.Handles(typ) }

// builtinTypes are the types that every server declares itself.
var builtinTypes = []string{"noop", "sleep", "fail", "sql", "call", "exec", "http"}

// builtin reports whether a type is built in. Such a type is not exported, and a document cannot
// change it.
func (s *Sync) builtin(typ string) bool {
	return slices.Contains(builtinTypes, typ) && (s.Handles == nil || s.Handles(typ))
}

// Export returns all definitions as one consistent document, with or without the sealed secrets of templates and webhooks.
func (s *Sync) Export(ctx context.Context, secrets bool) (api.Definitions, error) {
	set, err := s.snapshot(ctx)
	if err != nil {
		return api.Definitions{}, err
	}
	v := set.show(s, secrets)
	if secrets {
		err = s.addSecrets(ctx, &v)
	}
	return v, err
}

// definitionSet holds all definitions.
type definitionSet struct {
	types     []*rota.Type
	templates []*rota.Template
	schedules []*rota.Schedule
	throttle  *rota.Throttle
	webhooks  *rota.Webhooks
}

// snapshot reads until two consecutive reads are equal. Versions are never reused, so the
// result existed at the moment between the two reads.
func (s *Sync) snapshot(ctx context.Context) (*definitionSet, error) {
	var last string
	for range 10 {
		set, err := s.read(ctx)
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

func (s *Sync) read(ctx context.Context) (set *definitionSet, err error) {
	set = &definitionSet{}
	budget := int(s.BytesMax)
	if set.types, err = readNamed(ctx, s, &budget, s.Store.Types, func(t *rota.Type) (string, int) { return t.Name, len(t.Spec.Schema) }); err != nil {
		return nil, err
	}
	if set.templates, err = readNamed(ctx, s, &budget, s.Store.Templates, func(t *rota.Template) (string, int) { return t.Name, len(t.Spec.Params) }); err != nil {
		return nil, err
	}
	schedules := func(ctx context.Context, q rota.NameQuery) ([]*rota.Schedule, error) {
		return s.Store.Schedules(ctx, rota.ScheduleQuery{After: q.After, Limit: q.Limit})
	}
	if set.schedules, err = readNamed(ctx, s, &budget, schedules, func(s *rota.Schedule) (string, int) { return s.Name, ScheduleSize(s) }); err != nil {
		return nil, err
	}
	if set.throttle, err = s.Store.Throttle(ctx); err != nil {
		return nil, err
	}
	set.webhooks, err = s.Store.Webhooks(ctx)
	return set, err
}

// readNamed reads all rows by name, in batches, up to a budget of bytes.
func readNamed[T any](
	ctx context.Context, s *Sync, budget *int, read func(context.Context, rota.NameQuery) ([]T, error), measure func(T) (name string, size int),
) (rows []T, err error) {
	for after := ""; ; {
		part, err := read(ctx, rota.NameQuery{After: after, Limit: readRows})
		if err != nil {
			return nil, err
		}
		for _, row := range part {
			name, size := measure(row)
			after = name
			if *budget -= size + definitionOverhead; *budget < 0 {
				return nil, problem.New(rota.Conflict, "", "to move a whole server, use a backup: GET /backup",
					"the definitions exceed %s, the limit for one document", problem.Size(s.BytesMax))
			}
		}
		rows = append(rows, part...)
		if len(part) < readRows {
			return rows, nil
		}
	}
}

// readRows is the number of rows read at a time; they may be large.
const readRows = 64

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

func (f *definitionSet) show(s *Sync, secrets bool) api.Definitions {
	v := api.Definitions{
		Version: api.DefinitionsVersion, Types: map[string]api.TypeDefinition{}, Templates: map[string]api.TemplateDefinition{}, Schedules: map[string]api.ScheduleDefinition{},
		Limits: api.NewLimitsDefinition(&f.throttle.Spec), Webhooks: api.NewWebhookDefinitions(f.webhooks.Spec, secrets),
	}
	for _, t := range f.types {
		switch {
		case rota.InternalType(t.Name):
		case !s.builtin(t.Name):
			v.Types[t.Name] = api.NewTypeDefinition(t)
		case t.Paused:
			v.Types[t.Name] = api.TypeDefinition{Paused: new(true)}
		}
	}
	for _, t := range f.templates {
		if t.Owner == "" {
			continue // its job was dropped: it does not exist for those who create one of its name
		}
		v.Templates[t.Name] = api.NewTemplateDefinition(t, secrets)
	}
	for _, schedule := range f.schedules {
		v.Schedules[schedule.Name] = api.NewScheduleDefinition(schedule)
	}
	return v
}

// ScheduleSize is the size of the large fields of a schedule, which may have many scopes.
func ScheduleSize(s *rota.Schedule) int {
	size := len(s.Spec.Params)
	for _, scope := range s.Spec.Scopes {
		size += len(scope.Kind) + len(scope.ID)
	}
	return size
}
