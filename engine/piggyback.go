package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// piggyback lets a claim share the transaction of the enqueue whose jobs it claims.
// While the dispatcher is idle, a caller that enqueues jobs takes the claim along, and
// the jobs start one sync earlier.
type piggyback struct {
	state   *atomic.Int32
	answers chan piggybackAnswer // buffers the one claim that may be in flight
}

// States of a piggyback.
const (
	piggybackClosed  int32 = iota // the dispatcher is busy and sends its own claims
	piggybackOffered              // the next enqueue may take a claim along
	piggybackTaken                // a claim is in flight
)

// piggybackAnswer is a claim that was taken along, and the answer to it.
type piggybackAnswer struct {
	claim  *rota.Claim
	result rota.Result
	err    error
}

func newPiggyback() piggyback {
	return piggyback{state: new(atomic.Int32), answers: make(chan piggybackAnswer, 1)}
}

// offer offers a claim while the dispatcher waits.
func (b piggyback) offer() { b.state.CompareAndSwap(piggybackClosed, piggybackOffered) }

// withdraw ends the offer. If a claim is in flight, its answer still arrives.
func (b piggyback) withdraw() { b.state.CompareAndSwap(piggybackOffered, piggybackClosed) }

// piggybacker is a store that can add a command to the batch of another caller.
type piggybacker interface {
	Piggyback(func([]rota.Command) (rota.Command, func(rota.Result, error))) (stop func())
}

// piggybackOn offers claims to the store, if it takes them. The result ends that.
func (d *dispatcher) piggybackOn() (stop func()) {
	store, ok := d.e.store.(piggybacker)
	if !ok {
		return func() {}
	}
	return store.Piggyback(d.piggybackClaim)
}

// piggybackClaim returns a claim for the jobs that are about to be enqueued, limited
// by the free slots.
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
			d.startEach(result) // here, because waking the dispatcher takes time
		}
	}
}

// startEach starts claimed jobs, each in a goroutine of its own. Inline execution
// needs the dispatcher to watch it, and the dispatcher may still be asleep.
func (d *dispatcher) startEach(result rota.Result) {
	if result.Err != nil {
		return
	}
	for _, job := range result.Reply.(*rota.Claimed).Jobs {
		d.e.pool.start(job, nil)
	}
}

// startable counts the jobs that could start at once.
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

// settlePiggyback settles a claim whose jobs have started. If it is unknown whether
// the store applied it, it is sent again.
func (d *dispatcher) settlePiggyback(ctx context.Context, t piggybackAnswer) {
	d.piggyback.state.Store(piggybackClosed)
	mayHaveWork, lastClaimFull := d.mayHaveWork, d.lastClaimFull
	defer func() { d.mayHaveWork, d.lastClaimFull = d.mayHaveWork || mayHaveWork, lastClaimFull }() // the claim preceded any later wake-up
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
