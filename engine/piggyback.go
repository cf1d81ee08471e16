package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// piggyback has a claim go along with the enqueue that it is for: while the desk
// has nothing to do, who writes jobs to the store claims them for it in the same
// transaction, and they start one sync earlier.
type piggyback struct {
	state   *atomic.Int32
	answers chan piggybackAnswer // has room for the one that may be under way
}

// States of a berth.
const (
	piggybackClosed int32 = iota // the desk is at work, and claims for itself
	piggybackOffered
	piggybackTaken // a claim is under way
)

// piggybackAnswer is a claim that went along, and what came of it.
type piggybackAnswer struct {
	claim  *rota.Claim
	result rota.Result
	err    error
}

func newPiggyback() piggyback {
	return piggyback{state: new(atomic.Int32), answers: make(chan piggybackAnswer, 1)}
}

// offer opens the berth while the desk waits.
func (b piggyback) offer() { b.state.CompareAndSwap(piggybackClosed, piggybackOffered) }

// withdraw closes it, unless it is taken: then the desk hears of it.
func (b piggyback) withdraw() { b.state.CompareAndSwap(piggybackOffered, piggybackClosed) }

// piggybacker is a store that takes commands along.
type piggybacker interface {
	Piggyback(func([]rota.Command) (rota.Command, func(rota.Result, error))) (stop func())
}

func (d *dispatcher) piggybackOn() (stop func()) {
	store, ok := d.e.store.(piggybacker)
	if !ok {
		return func() {}
	}
	return store.Piggyback(d.piggybackClaim)
}

// piggybackClaim claims for jobs that are about to be enqueued, as many as there are slots.
func (d *dispatcher) piggybackClaim(commands []rota.Command) (rota.Command, func(rota.Result, error)) {
	jobs := d.startable(commands)
	if jobs == 0 || !d.piggyback.state.CompareAndSwap(piggybackOffered, piggybackTaken) {
		return nil, nil
	}
	slots := d.e.pool.takeSlots(min(jobs, rota.ClaimMax))
	if slots == 0 {
		d.piggyback.state.Store(piggybackClosed)
		return nil, nil
	}
	claim, sent := d.newClaim(slots), time.Now()
	return claim, func(result rota.Result, err error) {
		d.e.noteLeases(sent, []rota.Result{result})
		d.piggyback.answers <- piggybackAnswer{claim, result, err}
		if err == nil {
			d.startEach(result) // now: the desk may have to be woken first
		}
	}
}

// startEach starts what a trip has brought, each by itself: the desk, which
// watches over a relay, is not there to.
func (d *dispatcher) startEach(result rota.Result) {
	if result.Err != nil {
		return
	}
	for _, job := range result.Reply.(*rota.Claimed).Jobs {
		d.e.pool.start(job, nil)
	}
}

// startable counts the jobs that could be started at once.
func (d *dispatcher) startable(commands []rota.Command) (n int) {
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

// settlePiggyback settles a trip, whose jobs have begun. Where nobody knows whether it
// was applied, the claim is sent again.
func (d *dispatcher) settlePiggyback(ctx context.Context, t piggybackAnswer) {
	d.piggyback.state.Store(piggybackClosed)
	mayHaveWork, lastClaimFull := d.mayHaveWork, d.lastClaimFull
	defer func() { d.mayHaveWork, d.lastClaimFull = d.mayHaveWork || mayHaveWork, lastClaimFull }() // it knows nothing of what came after it
	if t.err == nil {
		d.settleClaim(t.claim.Limit, t.result, false, d.wakeups)
		return
	}
	d.e.resent.Add(1)
	results, err := d.e.apply(ctx, t.claim)
	if err != nil {
		d.settleUndecided(ctx, &batch{claimSlots: t.claim.Limit, err: err})
		return
	}
	d.startClaimed(t.claim.Limit, results[0], true, d.wakeups)
}
