package engine

import (
	"context"
	"encoding/json"

	"github.com/rotajobs/rota"
)

// Within runs the handler of another type inside of the run that ctx belongs to, with
// its own params, which are checked against the schema of that type. The run keeps its
// timeout, its log, its result and the job that [Job] returns. The middleware of that
// type wraps its handler; the middleware of [Registry.Use] already wraps the run. For a
// type without a handler the error is NotFound.
func (r *Registry) Within(ctx context.Context, name string, params json.RawMessage) error {
	one := r.types[name]
	if one == nil {
		return &rota.Error{Code: rota.NotFound, Act: "run within", Field: "type", Reason: "no handler for type " + name + " is registered"}
	}
	job := &rota.Job{}
	if outer := Job(ctx); outer != nil {
		*job = *outer
	}
	job.Type, job.Params = name, params
	run := Recovery()(one.run)
	for i := len(one.middleware) - 1; i >= 0; i-- {
		if run = one.middleware[i](run); run == nil {
			return rota.Invalidf("middleware", "middleware %d of type %q returned a nil handler", i+1, name)
		}
	}
	return run(ctx, job)
}
