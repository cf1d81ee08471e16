package engine_test

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// distant is a store as a worker far away sees it: a claim waits there until
// there is something to claim. What a worker has no need of is not there at all:
// to call it panics.
type distant struct {
	rota.Store // none
	near       rota.Store
	wait       time.Duration // the longest that a claim waits
	calls      tally[rota.Verb]
	polls      tally[string] // claims that wait
	limits     tally[int]    // claims by how many jobs they are for
	mixed      tally[string] // batches in which others would have to wait for a claim

	mu    sync.Mutex
	fault func(context.Context, rota.Command) error // before a command; nil: there is none
}

func (*distant) Limits() rota.Limits { return rota.Limits{Claim: rota.ClaimMax, Items: rota.ItemsMax} }

func (w *world) distant() *distant { return &distant{near: w.store, wait: time.Minute} }

// breaks has commands fail from now on, nil that they do not.
func (d *distant) breaks(fault func(context.Context, rota.Command) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = fault
}

func (d *distant) failing(ctx context.Context, c rota.Command) error {
	d.mu.Lock()
	fault := d.fault
	d.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(ctx, c)
}

// denies is the answer to commands of some verbs of one whom nobody knows.
func denies(verbs ...rota.Verb) func(context.Context, rota.Command) error {
	return func(_ context.Context, c rota.Command) error {
		for _, verb := range verbs {
			if c.Verb() == verb {
				return rota.Errorf(rota.Denied, "test", "the token is not known")
			}
		}
		return nil
	}
}

// Type is what a worker looks at before it declares its own.
func (d *distant) Type(ctx context.Context, name string) (*rota.Type, error) {
	if err := d.failing(ctx, &rota.PutType{Name: name}); err != nil {
		return nil, err
	}
	return d.near.Type(ctx, name)
}

// Apply applies, and has a claim wait.
func (d *distant) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	for _, c := range b.Commands {
		d.calls.add(c.Verb(), 1)
		if err := d.failing(ctx, c); err != nil {
			return nil, err
		}
	}
	if !hasVerb(b, rota.VerbClaim) {
		return d.near.Apply(ctx, b)
	}
	if len(b.Commands) > 1 {
		d.mixed.add("all", 1)
	}
	d.limits.add(b.Commands[len(b.Commands)-1].(*rota.Claim).Limit, 1)
	return d.poll(ctx, b)
}

func (d *distant) poll(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	d.polls.add("all", 1)
	defer d.polls.add("all", -1)
	over := time.After(d.wait)
	wake, unwake := d.near.Wake()
	defer unwake()
	for {
		results, err := d.near.Apply(ctx, b)
		if err != nil || len(b.Commands) > 1 || results[0].Err != nil || len(results[0].Reply.(*rota.Claimed).Jobs) > 0 {
			return results, err
		}
		select {
		case <-wake:
		case <-over:
			return results, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// waits waits until a call waits.
func (d *distant) waits(w *world) {
	w.Helper()
	w.until("a call waits", func() bool { return d.polls.of("all") == 1 })
}

// remote runs a worker far away.
func (w *world) remote(d *distant, reg *engine.Registry, config engine.Config) *running {
	w.Helper()
	config.Remote, config.Name = true, "afar"
	return w.startOn(d, reg, config)
}
