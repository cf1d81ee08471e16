package engine

import (
	"context"
	"slices"

	"github.com/rotajobs/rota"
)

// Handler runs one job.
type Handler func(ctx context.Context, job *rota.Job) error

// Middleware wraps a handler: it receives the next handler and returns one that calls
// it. It may extend the context, return without calling the next handler, and change
// its error; the run ends with what it returns. It runs in the goroutine of the
// handler, within its timeout, and may use [Job], [Log] and the other functions of a
// handler's context. It sees params that do not match the schema, and a panic of the
// handler, as errors.
type Middleware func(next Handler) Handler

// Use wraps every handler in middleware, whether it is registered before or after. The
// first is the outermost.
func (r *Registry) Use(middleware ...Middleware) {
	mustNotBeNil(middleware)
	r.middleware = append(r.middleware, middleware...)
}

// WithMiddleware wraps the handler of one type in middleware, inside of what Use adds.
func WithMiddleware(middleware ...Middleware) TypeOption {
	mustNotBeNil(middleware)
	return func(r *registeredType) { r.middleware = append(r.middleware, middleware...) }
}

func mustNotBeNil(middleware []Middleware) {
	if slices.ContainsFunc(middleware, func(m Middleware) bool { return m == nil }) {
		panic("engine: a middleware is nil")
	}
}

// typeRunner runs the jobs of one type in one engine.
type typeRunner struct {
	run     Handler
	average durationAverage
}

// typeRunners wraps each handler in its middleware, once for all its runs. The
// innermost wrapper turns a panic into an error, so that all middleware sees it;
// without middleware, the task does that itself.
func (r *Registry) typeRunners() (map[string]*typeRunner, error) {
	runners := make(map[string]*typeRunner, len(r.types))
	for name, one := range r.types {
		run, middleware := Handler(one.run), slices.Concat(r.middleware, one.middleware)
		if len(middleware) > 0 {
			run = maskErrors(Recovery()(run))
		}
		for i, wrap := range slices.Backward(middleware) {
			if run = wrap(run); run == nil {
				return nil, rota.Invalidf("middleware", "middleware %d of type %q returned a nil handler", i+1, name)
			}
		}
		runners[name] = &typeRunner{run: run}
	}
	return runners, nil
}
