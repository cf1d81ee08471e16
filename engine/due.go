package engine

import (
	"context"
	"time"
)

// dueChecker asks the store when the next thing is due and wakes the loop that does
// it. It checks after a write, when the next thing is due, and once a second, so
// that it notices a clock that was set.
type dueChecker struct {
	e      *Engine
	wall   time.Time // the wall clock at the last check
	mono   time.Time // the same moment by the monotonic clock
	outage outageLog
}

const (
	dueEvery     = time.Second
	dueGap       = 5 * time.Millisecond  // between two checks while many writes arrive
	clockStepMin = 50 * time.Millisecond // the smallest deviation that counts as a set clock
)

func newDueChecker(e *Engine) *dueChecker { return &dueChecker{e: e} }

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
	isDue := func(t time.Time) bool {
		if t.IsZero() {
			return false
		}
		in := t.Sub(due.Now)
		if in > 0 {
			next = min(next, in)
		}
		return in <= 0
	}
	if isDue(due.Ready) {
		d.e.dispatcher.requestReady()
	}
	if isDue(due.Fire) {
		d.e.firer.signal.send()
	}
	if isDue(due.Expire) || due.Sweep {
		d.e.sweeper.signal.send()
	}
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
