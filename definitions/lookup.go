package definitions

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/internal/suggest"
	"github.com/rotajobs/rota/payload"
)

// Lookup reads the types and templates that a request names, each once, and checks params against them.
type Lookup struct {
	ctx       context.Context
	store     rota.Store
	schemas   *payload.SchemaCache
	types     cache[rota.Type]
	templates cache[rota.Template]
	searched  string // where a template was searched, for the error that it is missing
}

// NewLookup returns a Lookup for one request.
func NewLookup(ctx context.Context, store rota.Store, schemas *payload.SchemaCache) Lookup {
	return Lookup{ctx: ctx, store: store, schemas: schemas}
}

// cache holds rows by name. It allocates nothing for the first one, since most requests name one type and at most one
// template.
type cache[T any] struct {
	name  string
	first *T
	more  map[string]*T
}

func (c *cache[T]) get(name string) *T {
	if c.first != nil && c.name == name {
		return c.first
	}
	return c.more[name]
}

func (c *cache[T]) put(name string, row *T) {
	switch {
	case c.first == nil || c.name == name:
		c.name, c.first = name, row
	case c.more == nil:
		c.more = map[string]*T{name: row}
	default:
		c.more[name] = row
	}
}

// Type reads a type that a request names. An undeclared type is an error in the request.
func (l *Lookup) Type(name string) (*rota.Type, error) {
	if t := l.types.get(name); t != nil {
		return t, nil
	}
	t, err := l.store.Type(l.ctx, name)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, problem.New(rota.Invalid, "type", "check the name, or declare it with PUT /types/NAME", "type %s is not declared", name)
	}
	if err == nil {
		l.types.put(name, t)
	}
	return t, err
}

// Template reads a template that a request names, in any state.
func (l *Lookup) Template(name string) (*rota.Template, error) {
	if t := l.templates.get(name); t != nil {
		return t, nil
	}
	t, err := l.store.Template(l.ctx, name)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, problem.New(rota.Invalid, "template", "check the name", "there is no template %s%s", name, l.searched)
	}
	if err == nil {
		l.templates.put(name, t)
	}
	return t, err
}

// ActiveTemplate is Template, but refuses an archived one.
func (l *Lookup) ActiveTemplate(name string) (*rota.Template, error) {
	t, err := l.Template(name)
	if err == nil && t.State == rota.TemplateArchived {
		return nil, problem.New(rota.Conflict, "template", "unarchive it, or use another template", "template %s is archived and accepts no new jobs", name)
	}
	return t, err
}

// CheckParams checks the merged params of a job against the schema of its type.
func (l *Lookup) CheckParams(t *rota.Type, layers ...json.RawMessage) error {
	return l.schemas.Check(t, rota.MergeParams(layers...))
}

// CheckDefaults checks the default params of a template: what a job adds later may be missing.
func (l *Lookup) CheckDefaults(t *rota.Type, params json.RawMessage) error {
	return l.schemas.CheckPartial(t, params)
}

// CheckJob checks a job against its definitions: its template is usable, its type is declared, its params are valid.
func (l *Lookup) CheckJob(n *rota.NewJob) error {
	var defaults json.RawMessage
	name := n.Type
	if n.Template != "" {
		t, err := l.ActiveTemplate(n.Template)
		if err != nil {
			return err
		}
		if n.Type != "" && n.Type != t.Spec.Type {
			return rota.Invalidf("type", "is %s, but template %s has type %s; omit type", n.Type, n.Template, t.Spec.Type)
		}
		defaults, name = t.Spec.Params, t.Spec.Type
	}
	t, err := l.Type(name)
	if err != nil {
		return err
	}
	return l.CheckParams(t, defaults, n.Params)
}

// CheckLimits refuses limits of undeclared types: a limit with a misspelled name would have no effect.
// Types that already have a limit are accepted.
func (l *Lookup) CheckLimits(limits []LimitedType) error {
	if len(limits) == 0 {
		return nil
	}
	stored, err := l.store.Throttle(l.ctx)
	if err != nil {
		return err
	}
	var unknown []LimitedType
	known := LimitedTypes(&stored.Spec)
	for _, limit := range limits {
		if slices.ContainsFunc(known, func(k LimitedType) bool { return k.Type == limit.Type }) {
			continue
		}
		_, err := l.store.Type(l.ctx, limit.Type)
		switch {
		case rota.CodeOf(err) == rota.NotFound:
			unknown = append(unknown, limit)
		case err != nil:
			return err
		}
	}
	return l.unknownTypesError(unknown)
}

// LimitedType is a type that a limit names, and the field of the limits that names it.
type LimitedType struct{ Field, Type string }

// LimitedTypes returns the types that limits name.
func LimitedTypes(spec *rota.ThrottleSpec) (types []LimitedType) {
	for _, limit := range spec.Types {
		types = append(types, LimitedType{"types", limit.Type})
	}
	for _, limit := range spec.EachKeyOfType {
		types = append(types, LimitedType{"each_key_of_type", limit.Type})
	}
	return types
}

// unknownTypesError names each undeclared type, with a suggestion.
func (l *Lookup) unknownTypesError(unknown []LimitedType) error {
	if len(unknown) == 0 {
		return nil
	}
	declared, err := l.typeNames()
	if err != nil {
		return err
	}
	var errs []api.FieldError
	for _, limit := range unknown[:min(len(unknown), problem.Max)] {
		reason := "this type is not declared"
		if meant := suggest.Nearest(limit.Type, declared); meant != "" {
			reason += "; did you mean " + meant + "?"
		}
		errs = append(errs, api.FieldError{Field: api.FieldPath(limit.Field, limit.Type), Reason: reason})
	}
	p := problem.Fields(errs)
	p.Hint = "check the name, or declare it with PUT /types/NAME"
	return p
}

// typeNames lists the first types by name, up to one page.
func (l *Lookup) typeNames() (names []string, err error) {
	const few = 100 // per read, since each row contains its schema
	for after := ""; len(names) < rota.PageMax; after = names[len(names)-1] {
		types, err := l.store.Types(l.ctx, rota.NameQuery{After: after, Limit: few})
		if err != nil {
			return nil, err
		}
		for _, t := range types {
			names = append(names, t.Name)
		}
		if len(types) < few {
			break
		}
	}
	return names, nil
}
