package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// batch is a batch of commands of the dispatcher, and the answer of the store.
type batch struct {
	ended       []*ending
	commands    []rota.Command // notes, then finishes, then Ready and Claim
	notesEnd    int            // index after the last note
	finishesEnd int            // index after the last finish
	sendsReady  bool
	claimSlots  int // slots taken for its claim; 0: it has none
	wakeups     int // dispatcher.wakeups when it was sent

	resent  bool // it was sent more than once
	results []rota.Result
	err     error
}

// inFlightLimit bounds the batches in flight. A store that applies several batches at
// once has two: while it applies one, this process prepares the other. More would
// split the same work among more transactions, each of which has a fixed cost.
const inFlightLimit = 2

// inFlightMax is how many batches may be in flight.
func inFlightMax(store rota.Store) int { return max(1, min(inFlightLimit, store.Limits().Batches)) }

// slowAfter is when a batch in flight counts as slow: ends no longer wait for it to be
// answered.
const slowAfter = 20 * time.Millisecond

// worthSending reports whether to send a batch while another is in flight. A batch
// that would use less than half of the remaining slots waits and collects more:
// each batch has a fixed cost.
func (d *dispatcher) worthSending(load int) bool {
	switch {
	case d.inFlight == 0:
		return true
	case d.inFlight >= d.inFlightMax:
		return false
	case d.lastSent.elapsed() >= slowAfter:
		return load > 0
	}
	return load*2 >= d.e.config.Workers-d.slotsInFlight
}

// claimLimit is how many slots a claim takes. While the queue has more jobs than
// slots, each batch takes its share, so that the batches do not wait for each other.
func (d *dispatcher) claimLimit() int {
	if !d.lastClaimFull {
		return rota.ClaimMax
	}
	return min(rota.ClaimMax, max(1, (d.e.config.Workers+d.inFlightMax-1)/d.inFlightMax))
}

// send sends a batch. If only one may be in flight, it waits for the answer.
func (d *dispatcher) send(ctx context.Context, b *batch) {
	d.inFlight++
	if b.claimSlots > 0 {
		d.claimsInFlight++
		d.slotsInFlight += b.claimSlots
	}
	d.lastSent.restart()
	d.slowTimer.Reset(slowAfter)
	if d.inFlightMax == 1 {
		d.applyBatch(ctx, b)
		d.settleBatch(ctx, b)
		return
	}
	go func() {
		d.applyBatch(ctx, b)
		d.done <- b
	}()
}

func (d *dispatcher) applyBatch(ctx context.Context, b *batch) {
	resent := d.e.resent.Load()
	b.results, b.err = d.e.apply(ctx, b.commands...)
	b.resent = d.e.resent.Load() > resent
}

// settleBatch processes the answer to a batch.
func (d *dispatcher) settleBatch(ctx context.Context, b *batch) {
	d.inFlight--
	if b.claimSlots > 0 {
		d.claimsInFlight--
		d.slotsInFlight -= b.claimSlots
	}
	if b.err != nil {
		d.settleUndecided(ctx, b)
		return
	}
	d.settleFinishes(ctx, b.ended, b.commands[b.notesEnd:b.finishesEnd], b.results[b.notesEnd:b.finishesEnd])
	results := b.results[b.finishesEnd:]
	if b.sendsReady {
		d.settleReady(results[0])
		results = results[1:]
	}
	if b.claimSlots > 0 {
		d.startClaimed(b.claimSlots, results[0], b.resent, b.wakeups)
	}
}

// settleUndecided handles a batch that the store could not decide at all. It sends
// each end by itself, unless the process ends: then the next incarnation settles it.
func (d *dispatcher) settleUndecided(ctx context.Context, b *batch) {
	if ctx.Err() != nil {
		return
	}
	d.recordEach(ctx, b.ended, b.err)
	if b.claimSlots > 0 {
		d.startClaimed(b.claimSlots, rota.Result{Err: rota.Errorf(rota.Internal, "claim", "%w", b.err)}, false, b.wakeups)
	}
}
