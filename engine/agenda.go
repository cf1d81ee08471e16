package engine

import (
	"context"
	"time"
)

// agenda knows when what is due, and wakes the loop that does it. It asks the
// store when something was written, when the next thing is due, and once a
// second, so that a clock that was set is noticed.
type agenda struct {
	e    *Engine
	wall time.Time // the clock when it was looked at last
	mono time.Time // the same moment, by a clock that nobody sets
	out  outage
}

const (
	agendaEvery = time.Second
	agendaGap   = 5 * time.Millisecond  // between two looks while there is much to do
	setMin      = 50 * time.Millisecond // what a clock must go by to have been set
)

func newAgenda(e *Engine) *agenda { return &agenda{e: e} }

func (a *agenda) run(ctx context.Context) {
	wake, unwake := a.e.store.Wake()
	defer unwake()
	for {
		next := a.look(ctx)
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-wake:
			timer.Stop()
			if !pause(ctx, agendaGap) {
				return
			}
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// look wakes those who have something to do, and says how long to sleep.
func (a *agenda) look(ctx context.Context) time.Duration {
	a.watchClock()
	due, err := a.e.store.NextDue(ctx)
	if err != nil {
		if ctx.Err() == nil {
			a.out.failed(a.e.config.Logger, "the store does not say what is due", "error", err)
		}
		return agendaEvery
	}
	a.out.passed(a.e.config.Logger, "the store says again what is due")
	a.e.firer.checkBack(due.Now)
	next := agendaEvery
	passed := func(t time.Time) bool {
		if t.IsZero() {
			return false
		}
		in := t.Sub(due.Now)
		if in > 0 {
			next = min(next, in)
		}
		return in <= 0
	}
	if passed(due.Ready) {
		a.e.desk.ready()
	}
	if passed(due.Fire) {
		a.e.firer.bell.ring()
	}
	if passed(due.Expire) || due.Sweep {
		a.e.sweeper.bell.ring()
	}
	return next
}

// watchClock tells the firer of a clock that was set back; one that was set
// forward shows in what is due. The desk may wait for a rate by a clock that no
// longer is.
func (a *agenda) watchClock() {
	wall, mono := a.e.config.Clock(), time.Now()
	back := mono.Sub(a.mono) - wall.Round(0).Sub(a.wall)
	if !a.mono.IsZero() && back.Abs() > setMin {
		a.e.desk.ready()
	}
	if !a.mono.IsZero() && back > setMin {
		a.e.config.Logger.Warn("the clock was set back", "by", back.Round(time.Millisecond).String())
		a.e.firer.setBack()
	}
	a.wall, a.mono = wall.Round(0), mono
}
