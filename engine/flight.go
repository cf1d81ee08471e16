package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// flight is a step that is under way to the store, and what came of it.
type flight struct {
	ended    []*ending
	commands []rota.Command // notes, then finishes, then the rest
	noted    int            // of them: notes
	finished int            // of them: notes and finishes
	readies  bool
	slots    int // taken for a claim; 0: there is none
	woken    int // how often the desk had been woken when it left

	again   bool // it had to be sent again
	results []rota.Result
	err     error
}

// A store that works on several batches at once has two steps under way: while
// it works on one, this process works on the other. More would share the same
// work among more transactions, each of which costs something by itself.
const flightsMax = 2

// flights is how many steps may be under way.
func flights(store rota.Store) int { return max(1, min(flightsMax, store.Limits().Batches)) }

// flightLong is how long a step takes that is not waited for: nothing that has
// ended is held up by one that hangs.
const flightLong = 20 * time.Millisecond

// worth says whether a step is worth sending while another is under way. One with
// less than half of what there is room for waits, and takes with it what comes
// meanwhile: each costs something by itself.
func (d *desk) worth(load int) bool {
	switch {
	case d.aloft == 0:
		return true
	case d.aloft >= d.flights:
		return false
	case d.left.passed() >= flightLong:
		return load > 0
	}
	return load*2 >= d.e.config.Workers-d.taken
}

// share is how many slots a claim takes. While there is more than enough to do
// each flight has its part, so that they do not wait for each other.
func (d *desk) share() int {
	if !d.deep {
		return rota.ClaimMax
	}
	return min(rota.ClaimMax, max(1, (d.e.config.Workers+d.flights-1)/d.flights))
}

// depart sends a step. The only one that may be under way is waited for.
func (d *desk) depart(ctx context.Context, f *flight) {
	d.aloft++
	if f.slots > 0 {
		d.claims++
		d.taken += f.slots
	}
	d.left.mark()
	d.long.Reset(flightLong)
	if d.flights == 1 {
		d.fly(ctx, f)
		d.land(ctx, f)
		return
	}
	go func() {
		d.fly(ctx, f)
		d.landed <- f
	}()
}

func (d *desk) fly(ctx context.Context, f *flight) {
	resent := d.e.resent.Load()
	f.results, f.err = d.e.apply(ctx, f.commands...)
	f.again = d.e.resent.Load() > resent
}

// land settles what came of a step.
func (d *desk) land(ctx context.Context, f *flight) {
	d.aloft--
	if f.slots > 0 {
		d.claims--
		d.taken -= f.slots
	}
	if f.err != nil {
		d.undecided(ctx, f)
		return
	}
	d.recorded(ctx, f.ended, f.commands[f.noted:f.finished], f.results[f.noted:f.finished])
	results := f.results[f.finished:]
	if f.readies {
		d.readied(results[0])
		results = results[1:]
	}
	if f.slots > 0 {
		d.claimed(f.slots, results[0], f.again, f.woken)
	}
}

// undecided looks at a step that the store would not even decide. Unless the
// process ends, when the next life settles it, each end is told by itself.
func (d *desk) undecided(ctx context.Context, f *flight) {
	if ctx.Err() != nil {
		return
	}
	d.recordEach(ctx, f.ended, f.err)
	if f.slots > 0 {
		d.claimed(f.slots, rota.Result{Err: rota.Errorf(rota.Internal, "claim", "%w", f.err)}, false, f.woken)
	}
}
