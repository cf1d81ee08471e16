package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// berth has a claim go along with the enqueue that it is for: while the desk
// has nothing to do, who writes jobs to the store claims them for it in the same
// transaction, and they start one sync earlier.
type berth struct {
	state *atomic.Int32
	trips chan trip // has room for the one that may be under way
}

// States of a berth.
const (
	berthClosed int32 = iota // the desk is at work, and claims for itself
	berthOpen
	berthTaken // a claim is under way
)

// trip is a claim that went along, and what came of it.
type trip struct {
	claim  *rota.Claim
	result rota.Result
	err    error
}

func newBerth() berth { return berth{state: new(atomic.Int32), trips: make(chan trip, 1)} }

// offer opens the berth while the desk waits.
func (b berth) offer() { b.state.CompareAndSwap(berthClosed, berthOpen) }

// withdraw closes it, unless it is taken: then the desk hears of it.
func (b berth) withdraw() { b.state.CompareAndSwap(berthOpen, berthClosed) }

// piggybacker is a store that takes commands along.
type piggybacker interface {
	Piggyback(func([]rota.Command) (rota.Command, func(rota.Result, error))) (off func())
}

func (d *desk) embark() (off func()) {
	store, carries := d.e.store.(piggybacker)
	if !carries {
		return func() {}
	}
	return store.Piggyback(d.board)
}

// board claims for jobs that are about to be enqueued, as many as there are slots.
func (d *desk) board(commands []rota.Command) (rota.Command, func(rota.Result, error)) {
	jobs := d.startable(commands)
	if jobs == 0 || !d.berth.state.CompareAndSwap(berthOpen, berthTaken) {
		return nil, nil
	}
	slots := d.e.pool.take(min(jobs, rota.ClaimMax))
	if slots == 0 {
		d.berth.state.Store(berthClosed)
		return nil, nil
	}
	claim, sent := d.claim(slots), time.Now()
	return claim, func(result rota.Result, err error) {
		d.e.lends(sent, []rota.Result{result})
		d.berth.trips <- trip{claim, result, err}
		if err == nil {
			d.beginEach(result) // now: the desk may have to be woken first
		}
	}
}

// beginEach starts what a trip has brought, each by itself: the desk, which
// watches over a relay, is not there to.
func (d *desk) beginEach(result rota.Result) {
	if result.Err != nil {
		return
	}
	for _, job := range result.Reply.(*rota.Claimed).Jobs {
		d.e.pool.start(job, nil)
	}
}

// startable counts the jobs that could be started at once.
func (d *desk) startable(commands []rota.Command) (n int) {
	for _, command := range commands {
		enqueue, ok := command.(*rota.Enqueue)
		if !ok {
			continue
		}
		for i := range enqueue.Jobs {
			if job := &enqueue.Jobs[i]; job.RunAt.IsZero() && (job.Template != "" || d.e.Handles(job.Type)) {
				n++
			}
		}
	}
	return n
}

// arrived settles a trip, whose jobs have begun. Where nobody knows whether it
// was applied, the claim is sent again.
func (d *desk) arrived(ctx context.Context, t trip) {
	d.berth.state.Store(berthClosed)
	hungry, deep := d.hungry, d.deep
	defer func() { d.hungry, d.deep = d.hungry || hungry, deep }() // it knows nothing of what came after it
	if t.err == nil {
		d.settle(t.claim.Limit, t.result, false, d.woken)
		return
	}
	d.e.resent.Add(1)
	results, err := d.e.apply(ctx, t.claim)
	if err != nil {
		d.undecided(ctx, &flight{slots: t.claim.Limit, err: err})
		return
	}
	d.claimed(t.claim.Limit, results[0], true, d.woken)
}
