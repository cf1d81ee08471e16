package engine

import (
	"context"
	"slices"

	"github.com/rotajobs/rota"
)

// declare puts the types that have a handler here into the store, with their schemas
// and policies, and how many of each may run at once. It writes only what differs.
func (e *Engine) declare(ctx context.Context) error {
	var commands []rota.Command
	for _, name := range e.reg.Types() {
		one := e.reg.types[name]
		var known *rota.Type
		err := e.retryRead(ctx, func() (err error) {
			known, err = e.store.Type(ctx, name)
			return err
		})
		if err != nil && rota.CodeOf(err) != rota.NotFound {
			return err
		}
		if known == nil || !known.Spec.Equal(one.spec) {
			commands = append(commands, &rota.PutType{Meta: rota.NewMeta(e.client.Actor()), Name: name, Spec: one.spec})
		}
	}
	if len(commands) > 0 {
		results, err := e.apply(ctx, commands...)
		if err != nil {
			return err
		}
		for _, result := range results {
			if result.Err != nil {
				return result.Err
			}
		}
	}
	return e.throttle(ctx)
}

// throttle sets the concurrency limits of the registry, if it has any. All limits are
// one document: it is read, changed, and written on condition that no other process
// has written it meanwhile.
func (e *Engine) throttle(ctx context.Context) error {
	for e.reg.limits() {
		var throttle *rota.Throttle
		err := e.retryRead(ctx, func() (err error) {
			throttle, err = e.store.Throttle(ctx)
			return err
		})
		if err != nil {
			return err
		}
		spec, changed := e.limited(throttle.Spec)
		if !changed {
			return nil
		}
		_, err = do[*rota.ThrottlePut](ctx, e, &rota.PutThrottle{Meta: rota.NewMeta(e.client.Actor()), Version: &throttle.Version, Spec: spec})
		if rota.CodeOf(err) != rota.Conflict {
			return err
		}
	}
	return nil
}

// limited returns spec with the limits of the registry, and whether it differs.
func (e *Engine) limited(spec rota.ThrottleSpec) (_ rota.ThrottleSpec, changed bool) {
	spec.Types = slices.Clone(spec.Types)
	for _, name := range e.reg.Types() {
		limit := e.reg.types[name].concurrency
		if limit == 0 || spec.Type(name).Concurrency == limit {
			continue
		}
		changed = true
		i := slices.IndexFunc(spec.Types, func(t rota.TypeLimit) bool { return t.Type == name })
		if i < 0 {
			i = len(spec.Types)
			spec.Types = append(spec.Types, rota.TypeLimit{Type: name})
		}
		spec.Types[i].Concurrency = limit
	}
	return spec, changed
}
