package engine

import (
	"context"
	"encoding/json"

	"github.com/rotajobs/rota"
)

// Within runs the handler of another type inside of the run that ctx belongs to,
// with params of its own, which are held to its schema. The run stays what it is:
// its time-out, its log, its result, and what [Job] answers. Middleware of that
// type is around its handler; what [Registry.Use] puts around all is around the
// run already. A type that has no handler is NotFound.
func (r *Registry) Within(ctx context.Context, name string, params json.RawMessage) error {
	one := r.types[name]
	if one == nil {
		return &rota.Error{Code: rota.NotFound, Act: "run within", Field: "type", Reason: "there is no handler of the type " + name}
	}
	job := &rota.Job{}
	if outer := Job(ctx); outer != nil {
		*job = *outer
	}
	job.Type, job.Params = name, params
	run := Recovery()(one.run)
	for i := len(one.middleware) - 1; i >= 0; i-- {
		if run = one.middleware[i](run); run == nil {
			return rota.Invalidf("middleware", "number %d around type %q makes no handler", i+1, name)
		}
	}
	return run(ctx, job)
}
