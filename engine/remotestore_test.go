package engine_test

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// remoteStore is a store as a remote worker sees it: a claim is a long poll. Methods
// that a worker does not need are missing: calling them panics.
type remoteStore struct {
	rota.Store       // nil
	local            rota.Store
	wait             time.Duration // the longest that a claim waits
	calls            counter[rota.Verb]
	polls            counter[string] // claims that wait
	limits           counter[int]    // claims by their limit
	claimsWithOthers counter[string] // batches whose other commands would have to wait for a claim

	mu    sync.Mutex
	fault func(context.Context, rota.Command) error // before each command; nil: none
}

func (*remoteStore) Limits() rota.Limits {
	return rota.Limits{Claim: rota.ClaimMax, Items: rota.ItemsMax}
}

func (h *harness) newRemoteStore() *remoteStore {
	return &remoteStore{local: h.store, wait: time.Minute}
}

// setFault makes commands fail from now on; nil ends that.
func (d *remoteStore) setFault(fault func(context.Context, rota.Command) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = fault
}

func (d *remoteStore) faultOf(ctx context.Context, c rota.Command) error {
	d.mu.Lock()
	fault := d.fault
	d.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(ctx, c)
}

// denyVerbs is a fault that denies commands of some verbs, as for an unknown token.
func denyVerbs(verbs ...rota.Verb) func(context.Context, rota.Command) error {
	return func(_ context.Context, c rota.Command) error {
		for _, verb := range verbs {
			if c.Verb() == verb {
				return rota.Errorf(rota.Denied, "test", "the token is not known")
			}
		}
		return nil
	}
}

// Type is read by a worker before it declares its own.
func (d *remoteStore) Type(ctx context.Context, name string) (*rota.Type, error) {
	if err := d.faultOf(ctx, &rota.PutType{Name: name}); err != nil {
		return nil, err
	}
	return d.local.Type(ctx, name)
}

// Apply applies a batch; a claim waits for jobs.
func (d *remoteStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	for _, c := range b.Commands {
		d.calls.add(c.Verb(), 1)
		if err := d.faultOf(ctx, c); err != nil {
			return nil, err
		}
	}
	if !hasVerb(b, rota.VerbClaim) {
		return d.local.Apply(ctx, b)
	}
	if len(b.Commands) > 1 {
		d.claimsWithOthers.add("all", 1)
	}
	d.limits.add(b.Commands[len(b.Commands)-1].(*rota.Claim).Limit, 1)
	return d.poll(ctx, b)
}

func (d *remoteStore) poll(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	d.polls.add("all", 1)
	defer d.polls.add("all", -1)
	over := time.After(d.wait)
	wake, stopWake := d.local.Wake()
	defer stopWake()
	for {
		results, err := d.local.Apply(ctx, b)
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

// awaitPoll waits until one poll waits.
func (d *remoteStore) awaitPoll(h *harness) {
	h.Helper()
	h.eventually("a poll waits", func() bool { return d.polls.get("all") == 1 })
}

// startRemote runs a remote worker.
func (h *harness) startRemote(d *remoteStore, reg *engine.Registry, config engine.Config) *runningEngine {
	h.Helper()
	config.Remote, config.Name = true, "remote"
	return h.startOn(d, reg, config)
}
