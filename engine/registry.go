package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
)

// Registry holds the handler of each type. Fill it before the engine runs.
type Registry struct {
	types      map[string]*registeredType
	middleware []Middleware // around all handlers; the first is the outermost
}

// registeredType is a type and its handler.
type registeredType struct {
	name        string
	spec        rota.TypeSpec
	concurrency int
	check       *payload.Compiled           // nil: params are not checked
	zero        rota.Payload                // zero value of its Go type; nil: it has none
	validate    func(json.RawMessage) error // decodes params and calls Validate; nil: it has no Go type
	handler     Handler
	middleware  []Middleware // inside of the middleware of the registry
}

// TypeOption sets a property of a type.
type TypeOption func(*registeredType)

// WithTimeout bounds the time of a run of this type, unless its template or the request
// sets another bound.
func WithTimeout(d time.Duration) TypeOption {
	return func(r *registeredType) { r.spec.Policy.Timeout = &d }
}

// WithRetries sets how often a failed job of this type is retried.
func WithRetries(n int) TypeOption { return func(r *registeredType) { r.spec.Policy.MaxRetries = &n } }

// WithBackoff sets how long the first retry of this type waits; each further one waits
// twice as long.
func WithBackoff(d time.Duration) TypeOption {
	return func(r *registeredType) { r.spec.Policy.Backoff = &d }
}

// WithConcurrency bounds how many jobs of this type run at once, in all processes on
// the store.
func WithConcurrency(n int) TypeOption { return func(r *registeredType) { r.concurrency = n } }

// WithDescription sets the text that says what the type is for.
func WithDescription(text string) TypeOption {
	return func(r *registeredType) { r.spec.Description = text }
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{types: map[string]*registeredType{}} }

// Handle registers the handler of a payload's type. The schema of its params is derived
// from the Go type. A job whose params do not match the schema, or that the payload's
// Validate refuses, fails with the code "payload" and is not retried; the handler is
// not called. Handle panics if the type has a handler already, or if no schema can
// be derived: these are mistakes in the program.
func Handle[P rota.Payload](reg *Registry, handler func(context.Context, P) error, options ...TypeOption) {
	zero := zeroPayload[P]()
	schema, err := payload.Schema(zero)
	if err != nil {
		panic(fmt.Sprintf("engine: %T cannot be a payload: %v", zero, err))
	}
	reg.Func(zero.JobType(), rota.TypeSpec{Schema: schema}, func(ctx context.Context, job *rota.Job) error {
		p, err := decodePayload[P](job.Params)
		if err != nil {
			return &payloadError{err}
		}
		return handler(ctx, p)
	}, options...)
	one := reg.types[zero.JobType()]
	one.zero = zero
	one.validate = func(params json.RawMessage) error {
		_, err := decodePayload[P](params)
		return err
	}
}

// decodePayload decodes params and calls Validate.
func decodePayload[P rota.Payload](params json.RawMessage) (P, error) {
	p := zeroPayload[P]()
	target := any(&p)
	if reflect.TypeFor[P]().Kind() == reflect.Pointer {
		target = p
	}
	if err := json.Unmarshal(params, target); err != nil {
		return p, &rota.Error{Code: rota.Invalid, Field: "params", Reason: fmt.Sprintf("cannot be decoded as %T", p), Err: err}
	}
	return p, rota.ValidatePayload(p)
}

// zeroPayload returns a payload whose JobType can be called: a pointer points to a zero
// value.
func zeroPayload[P rota.Payload]() (zero P) {
	if t := reflect.TypeFor[P](); t.Kind() == reflect.Pointer {
		return reflect.New(t.Elem()).Interface().(P)
	}
	return zero
}

// Func registers a handler that reads its params itself. It panics as Handle does.
func (r *Registry) Func(name string, spec rota.TypeSpec, handler Handler, options ...TypeOption) {
	one := &registeredType{name: name, spec: spec, handler: handler}
	for _, option := range options {
		option(one)
	}
	if _, twice := r.types[name]; twice {
		panic(fmt.Sprintf("engine: type %q has a handler already", name))
	}
	if len(spec.Schema) > 0 {
		compiled, err := payload.Compile(spec.Schema)
		if err != nil {
			panic(fmt.Sprintf("engine: type %q: %v", name, err))
		}
		one.check = compiled
	}
	r.types[name] = one
}

// Types lists the types that have a handler, in order of name.
func (r *Registry) Types() []string {
	names := make([]string, 0, len(r.types))
	for name := range r.types {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Spec returns how a type is declared, and whether it has a handler.
func (r *Registry) Spec(name string) (spec rota.TypeSpec, found bool) {
	one := r.types[name]
	if one == nil {
		return rota.TypeSpec{}, false
	}
	return one.spec, true
}

// Introduce tells a client the Go types of the registry, so that it checks changed params
// against them. Run does so with the client of the engine.
func (r *Registry) Introduce(client *rota.Client) {
	for _, one := range r.types {
		if one.zero != nil {
			client.KnowType(one.zero)
		}
	}
}

// limits reports whether any type has a concurrency limit.
func (r *Registry) limits() bool {
	for _, one := range r.types {
		if one.concurrency != 0 {
			return true
		}
	}
	return false
}

// check refuses a registry whose types do not fit into a claim.
func (r *Registry) check() error {
	if n := len(r.types); n == 0 || n > rota.TypesMax {
		return rota.Invalidf("types", "the registry has handlers for %d types; allowed are 1 to %d: register handlers with engine.Handle", n, rota.TypesMax)
	}
	return nil
}

// run checks the params and calls the handler.
func (r *registeredType) run(ctx context.Context, job *rota.Job) error {
	if r.check != nil {
		if err := r.check.Check(job.Params); err != nil {
			return &payloadError{err}
		}
	}
	return r.handler(ctx, job)
}

// payloadError reports params that do not match the schema of the type. A retry would
// fail the same way.
type payloadError struct{ err error }

func (e *payloadError) Error() string { return "the params do not fit the type: " + e.err.Error() }
func (e *payloadError) Unwrap() error { return e.err }
func (e *payloadError) Code() string  { return codePayload }
