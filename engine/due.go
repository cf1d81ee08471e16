package engine

import (
	"context"
	"time"
)

// dueChecker knows when what is due, and wakes the loop that does it. It asks the
// store when something was written, when the next thing is due, and once a
// second, so that a clock that was set is noticed.
type dueChecker struct {
	e      *Engine
	wall   time.Time // the clock when it was looked at last
	mono   time.Time // the same moment, by a clock that nobody sets
	outage outageLog
}

const (
	dueEvery     = time.Second
	dueGap       = 5 * time.Millisecond  // between two looks while there is much to do
	clockStepMin = 50 * time.Millisecond // what a clock must go by to have been set
)

func newDueChecker(e *Engine) *dueChecker { return &dueChecker{e: e} }

func (a *dueChecker) run(ctx context.Context) {
	wake, stopWake := a.e.store.Wake()
	defer stopWake()
	for {
		next := a.check(ctx)
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

// check wakes those who have something to do, and says how long to sleep.
func (a *dueChecker) check(ctx context.Context) time.Duration {
	a.checkClock()
	due, err := a.e.store.NextDue(ctx)
	if err != nil {
		if ctx.Err() == nil {
			a.outage.failed(a.e.config.Logger, "the store does not say what is due", "error", err)
		}
		return dueEvery
	}
	a.outage.recovered(a.e.config.Logger, "the store says again what is due")
	a.e.firer.checkClockSetBack(due.Now)
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
		a.e.dispatcher.requestReady()
	}
	if isDue(due.Fire) {
		a.e.firer.signal.send()
	}
	if isDue(due.Expire) || due.Sweep {
		a.e.sweeper.signal.send()
	}
	return next
}

// checkClock tells the firer of a clock that was set back; one that was set
// forward shows in what is due. The desk may wait for a rate by a clock that no
// longer is.
func (a *dueChecker) checkClock() {
	wall, mono := a.e.config.Clock(), time.Now()
	back := mono.Sub(a.mono) - wall.Round(0).Sub(a.wall)
	if !a.mono.IsZero() && back.Abs() > clockStepMin {
		a.e.dispatcher.requestReady()
	}
	if !a.mono.IsZero() && back > clockStepMin {
		a.e.config.Logger.Warn("the clock was set back", "by", back.Round(time.Millisecond).String())
		a.e.firer.requestRealign()
	}
	a.wall, a.mono = wall.Round(0), mono
}
