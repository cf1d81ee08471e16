package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// batch is a step that is under way to the store, and what came of it.
type batch struct {
	ended       []*ending
	commands    []rota.Command // notes, then finishes, then the rest
	notesEnd    int            // of them: notes
	finishesEnd int            // of them: notes and finishes
	sendsReady  bool
	claimSlots  int // taken for a claim; 0: there is none
	wakeups     int // how often the desk had been woken when it left

	resent  bool // it had to be sent again
	results []rota.Result
	err     error
}

// A store that works on several batches at once has two steps under way: while
// it works on one, this process works on the other. More would share the same
// work among more transactions, each of which costs something by itself.
const inFlightLimit = 2

// inFlightMax is how many steps may be under way.
func inFlightMax(store rota.Store) int { return max(1, min(inFlightLimit, store.Limits().Batches)) }

// slowAfter is how long a step takes that is not waited for: nothing that has
// ended is held up by one that hangs.
const slowAfter = 20 * time.Millisecond

// worthSending says whether a step is worth sending while another is under way. One with
// less than half of what there is room for waits, and takes with it what comes
// meanwhile: each costs something by itself.
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

// claimLimit is how many slots a claim takes. While there is more than enough to do
// each flight has its part, so that they do not wait for each other.
func (d *dispatcher) claimLimit() int {
	if !d.lastClaimFull {
		return rota.ClaimMax
	}
	return min(rota.ClaimMax, max(1, (d.e.config.Workers+d.inFlightMax-1)/d.inFlightMax))
}

// send sends a step. The only one that may be under way is waited for.
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

// settleBatch settles what came of a step.
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

// settleUndecided looks at a step that the store would not even decide. Unless the
// process ends, when the next life settles it, each end is told by itself.
func (d *dispatcher) settleUndecided(ctx context.Context, b *batch) {
	if ctx.Err() != nil {
		return
	}
	d.recordEach(ctx, b.ended, b.err)
	if b.claimSlots > 0 {
		d.startClaimed(b.claimSlots, rota.Result{Err: rota.Errorf(rota.Internal, "claim", "%w", b.err)}, false, b.wakeups)
	}
}
