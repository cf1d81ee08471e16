package engine

import (
	"context"
	"slices"

	"github.com/rotajobs/rota"
)

// Handler runs one job.
type Handler func(ctx context.Context, job *rota.Job) error

// Middleware is what goes on around a handler: it is given the next one and
// returns one that calls it. It may give it a context with more in it, answer
// without calling it, and change its error; what it returns is how the run ended.
// It runs in the goroutine of the handler, within its time-out, and has all that
// the context of a handler has: [Job], [Log] and the others. That the params do
// not fit the type, and that the handler panicked, it sees as errors.
type Middleware func(next Handler) Handler

// Use puts middleware around every handler, no matter which of them was
// registered first. The first is the outermost.
func (r *Registry) Use(middleware ...Middleware) {
	mustNotBeNil(middleware)
	r.middleware = append(r.middleware, middleware...)
}

// WithMiddleware puts middleware around the handler of one type, inside of what
// Use puts around all.
func WithMiddleware(middleware ...Middleware) TypeOption {
	mustNotBeNil(middleware)
	return func(r *registeredType) { r.middleware = append(r.middleware, middleware...) }
}

func mustNotBeNil(middleware []Middleware) {
	if slices.ContainsFunc(middleware, func(m Middleware) bool { return m == nil }) {
		panic("engine: a middleware is nil")
	}
}

// typeRunner is a type as one engine runs it.
type typeRunner struct {
	run     Handler
	average durationAverage
}

// typeRunners puts the middleware around each handler, once for all its runs. Next to
// the handler stands one that turns a panic into an error, so that all others
// see it; where there are no others, the task does that by itself.
func (r *Registry) typeRunners() (map[string]*typeRunner, error) {
	runners := make(map[string]*typeRunner, len(r.types))
	for name, one := range r.types {
		run, middleware := Handler(one.run), slices.Concat(r.middleware, one.middleware)
		if len(middleware) > 0 {
			run = Recovery()(run)
		}
		for i, wrap := range slices.Backward(middleware) {
			if run = wrap(run); run == nil {
				return nil, rota.Invalidf("middleware", "number %d around type %q makes no handler", i+1, name)
			}
		}
		runners[name] = &typeRunner{run: run}
	}
	return runners, nil
}
