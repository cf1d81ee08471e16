package engine_test

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// remoteStore is a store as a worker far away sees it: a claim waits there until
// there is something to claim. What a worker has no need of is not there at all:
// to call it panics.
type remoteStore struct {
	rota.Store       // none
	local            rota.Store
	wait             time.Duration // the longest that a claim waits
	calls            counter[rota.Verb]
	polls            counter[string] // claims that wait
	limits           counter[int]    // claims by how many jobs they are for
	claimsWithOthers counter[string] // batches in which others would have to wait for a claim

	mu    sync.Mutex
	fault func(context.Context, rota.Command) error // before a command; nil: there is none
}

func (*remoteStore) Limits() rota.Limits {
	return rota.Limits{Claim: rota.ClaimMax, Items: rota.ItemsMax}
}

func (h *harness) newRemoteStore() *remoteStore {
	return &remoteStore{local: h.store, wait: time.Minute}
}

// setFault has commands fail from now on, nil that they do not.
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

// denyVerbs is the answer to commands of some verbs of one whom nobody knows.
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

// Type is what a worker looks at before it declares its own.
func (d *remoteStore) Type(ctx context.Context, name string) (*rota.Type, error) {
	if err := d.faultOf(ctx, &rota.PutType{Name: name}); err != nil {
		return nil, err
	}
	return d.local.Type(ctx, name)
}

// Apply applies, and has a claim wait.
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

// awaitPoll waits until a call waits.
func (d *remoteStore) awaitPoll(h *harness) {
	h.Helper()
	h.eventually("a call waits", func() bool { return d.polls.get("all") == 1 })
}

// startRemote runs a worker far away.
func (h *harness) startRemote(d *remoteStore, reg *engine.Registry, config engine.Config) *runningEngine {
	h.Helper()
	config.Remote, config.Name = true, "afar"
	return h.startOn(d, reg, config)
}
