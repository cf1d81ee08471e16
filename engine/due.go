package engine

import (
	"context"
	"math/rand/v2"
	"time"
)

// dueChecker asks the store when the next thing is due and wakes the loop that does
// it. It checks after a write, when the next thing is due, and once a second, so
// that it notices a clock that was set.
//
// Every process does what is due, so that none depends on another one. The leader does it at once. The
// others wait a little, and then mostly find it done: in a store that several processes share, each attempt
// costs a write.
type dueChecker struct {
	e      *Engine
	wall   time.Time     // the wall clock at the last check
	mono   time.Time     // the same moment by the monotonic clock
	after  time.Duration // how long this process leaves what is due to the leader
	sweeps bool          // the last check found records to sweep
	outage outageLog
}

const (
	dueEvery     = time.Second
	dueGap       = 5 * time.Millisecond  // between two checks while many writes arrive
	clockStepMin = 50 * time.Millisecond // the smallest deviation that counts as a set clock

	// The time that a process leaves to the leader is random, so that the others do not collide either.
	followerAfter  = 200 * time.Millisecond
	followerSpread = 200 * time.Millisecond
)

func newDueChecker(e *Engine) *dueChecker {
	return &dueChecker{e: e, after: followerAfter + rand.N(followerSpread)}
}

func (d *dueChecker) run(ctx context.Context) {
	wake, stopWake := d.e.store.Wake()
	defer stopWake()
	for {
		next := d.check(ctx)
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-wake:
			timer.Stop()
			if !pause(ctx, dueGap) {
				return
			}
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// check wakes the loops that have something to do, and returns how long to sleep.
func (d *dueChecker) check(ctx context.Context) time.Duration {
	d.checkClock()
	asked := time.Now()
	due, err := d.e.store.NextDue(ctx)
	if err != nil {
		if ctx.Err() == nil {
			d.outage.failed(d.e.config.Logger, "the next due time cannot be read; retrying", "error", err)
		}
		return dueEvery
	}
	d.outage.recovered(d.e.config.Logger, "the next due time can be read again")
	d.e.uptime.observe(due.Now, asked)
	d.e.firer.checkClockSetBack(due.Now)
	next := dueEvery
	isDue := func(t time.Time, after time.Duration) bool {
		if t.IsZero() {
			return false
		}
		in := t.Add(after).Sub(due.Now)
		if in > 0 {
			next = min(next, in)
		}
		return in <= 0
	}
	after := time.Duration(0)
	if !d.e.membership.leads() {
		after = d.after
	}
	if isDue(due.Ready, 0) { // any process may run the job
		d.e.dispatcher.requestReady()
	}
	if isDue(due.Fire, after) {
		d.e.firer.signal.send()
	}
	if isDue(due.Expire, after) || due.Sweep && (after == 0 || d.sweeps) {
		d.e.sweeper.signal.send()
	}
	if due.Sweep && !d.sweeps {
		next = min(next, d.after)
	}
	d.sweeps = due.Sweep
	return next
}

// checkClock notifies the firer of a clock that was set back; a clock that was set
// forward shows in what is due. It also wakes the dispatcher, whose timer for the
// next claim may follow the old clock.
func (d *dueChecker) checkClock() {
	wall, mono := d.e.config.Clock(), time.Now()
	back := mono.Sub(d.mono) - wall.Round(0).Sub(d.wall)
	if !d.mono.IsZero() && back.Abs() > clockStepMin {
		d.e.dispatcher.requestReady()
	}
	if !d.mono.IsZero() && back > clockStepMin {
		d.e.config.Logger.Warn("the clock was set back", "by", back.Round(time.Millisecond).String())
		d.e.firer.requestRealign()
	}
	d.wall, d.mono = wall.Round(0), mono
}
