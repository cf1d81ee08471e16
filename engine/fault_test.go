package engine_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/wrap"
)

// errDown is the error of a store that cannot be reached.
var errDown = rota.Errorf(rota.Unavailable, "test", "the store is down")

// hasVerb reports whether a batch has a command with this verb.
func hasVerb(b rota.Batch, verb rota.Verb) bool {
	return slices.ContainsFunc(b.Commands, func(c rota.Command) bool { return c.Verb() == verb })
}

// outageSwitch makes a store fail while it is off.
type outageSwitch struct {
	off     atomic.Bool
	refused atomic.Int64
}

func (p *outageSwitch) fault() wrap.Fault {
	return wrap.Fault{Before: func(rota.Batch) error {
		if p.off.Load() {
			p.refused.Add(1)
			return errDown
		}
		return nil
	}}
}

// gate holds back batches with a verb, or their answers.
type gate struct {
	verb    rota.Verb
	once    sync.Once
	reached chan struct{} // closed when a batch has reached it
	open    chan struct{} // close it to let batches pass
}

func newGate(verb rota.Verb) *gate {
	return &gate{verb: verb, reached: make(chan struct{}), open: make(chan struct{})}
}

func (g *gate) hold(b rota.Batch) {
	if hasVerb(b, g.verb) {
		g.once.Do(func() { close(g.reached) })
		<-g.open
	}
}

// before holds batches back before they are applied.
func (g *gate) before() wrap.Fault {
	return wrap.Fault{Before: func(b rota.Batch) error { g.hold(b); return nil }}
}

// after holds back the answers.
func (g *gate) after() wrap.Fault {
	return wrap.Fault{After: func(b rota.Batch, _ []rota.Result) error { g.hold(b); return nil }}
}

// refusing is a store that refuses some commands, each by itself.
type refusing struct {
	rota.Store
	refuse func(rota.Command) *rota.Error
}

// Apply applies the commands that are not refused.
func (s *refusing) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	all := make([]rota.Result, len(b.Commands))
	trace := rota.Batch{Now: b.Now}
	for i, c := range b.Commands {
		if all[i].Err = s.refuse(c); all[i].Err == nil {
			trace.Commands = append(trace.Commands, c)
		}
	}
	if len(trace.Commands) == 0 {
		return all, nil
	}
	results, err := s.Store.Apply(ctx, trace)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Err == nil {
			all[i], results = results[0], results[1:]
		}
	}
	return all, nil
}

// noEvents is a store that publishes no events.
type noEvents struct{ rota.Store }

// Watch never calls the function.
func (noEvents) Watch(func([]rota.Event)) (stop func()) { return func() {} }
