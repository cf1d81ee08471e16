package engine

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// firer fires what schedules owe. The expressions and zones are looked at here;
// the store decides, and of two that fire the same, one does.
type firer struct {
	e              *Engine
	signal         signal
	clockSetBack   atomic.Bool          // the clock was set back
	lastFireMicros atomic.Int64         // by which was fired last, in µs: a clock that shows less was set back since
	retryAt        map[string]time.Time // schedules that could not be fired, and when to try again
	outage         outageLog
}

// How much is fired in one transaction: others wait no longer than that for
// theirs. One schedule may fire more jobs by itself.
const (
	fireBatch = 250   // schedules
	fireJobs  = 1_000 // jobs
)

// planRetry is how long a schedule waits whose times cannot be found here, such
// as in a zone that this machine does not know.
const planRetry = time.Minute

func newFirer(e *Engine) *firer {
	f := &firer{e: e, signal: newSignal(), retryAt: map[string]time.Time{}}
	f.requestRealign() // while nobody looked, it may have been
	return f
}

// requestRealign has schedules looked at whose calendar was moved by a clock that was
// ahead of this one.
func (f *firer) requestRealign() {
	f.clockSetBack.Store(true)
	f.signal.send()
}

func (f *firer) run(ctx context.Context) {
	for {
		select {
		case <-f.signal:
		case <-ctx.Done():
			return
		}
		if f.clockSetBack.Swap(false) {
			f.realign(ctx)
		}
		for f.fireDue(ctx) {
		}
	}
}

// fireDue fires a page of what is due, and reports whether there may be more.
func (f *firer) fireDue(ctx context.Context) bool {
	page, err := f.e.store.DueSchedules(ctx, rota.PageMax)
	if err != nil {
		f.retryLater(ctx, err)
		return false
	}
	f.outage.recovered(f.e.config.Logger, "schedules are looked at again")
	fired := 0
	for schedules := range slices.Chunk(page.Schedules, fireBatch) {
		fired += f.fire(ctx, schedules, page.Now)
	}
	return fired > 0 && ctx.Err() == nil
}

// retryLater has the bell rung later: an error ends no schedule.
func (f *firer) retryLater(ctx context.Context, err error) {
	if ctx.Err() == nil {
		f.outage.failed(f.e.config.Logger, "schedules were not looked at", "error", err)
		time.AfterFunc(retryMax, f.signal.send)
	}
}

// fire fires some schedules in few steps, and says how many calendars moved.
func (f *firer) fire(ctx context.Context, schedules []*rota.Schedule, now time.Time) (moved int) {
	f.lastFireMicros.Store(now.UnixMicro())
	var fires []rota.Command
	jobs := 0
	for _, s := range schedules {
		if f.mustWait(s, now) {
			continue
		}
		fire, err := rota.PlanFire(rota.NewMeta(""), s, now)
		if err != nil {
			f.planFailed(s, err, now)
		}
		if err != nil || fire == nil {
			continue
		}
		fires = append(fires, fire)
		if jobs += len(fire.Times) * max(1, len(s.Spec.Scopes)); jobs >= fireJobs {
			moved += f.send(ctx, fires, now)
			fires, jobs = nil, 0
		}
	}
	return moved + f.send(ctx, fires, now)
}

// send fires in one step.
func (f *firer) send(ctx context.Context, fires []rota.Command, now time.Time) (moved int) {
	if len(fires) == 0 || ctx.Err() != nil {
		return 0
	}
	results, err := f.e.apply(ctx, fires...)
	if err != nil {
		return 0
	}
	for i, result := range results {
		moved += f.settleFire(fires[i].(*rota.Fire), result, now)
	}
	return moved
}

// settleFire looks at what came of a fire. One that was refused is tried again later,
// and does not keep the others waiting.
func (f *firer) settleFire(fire *rota.Fire, result rota.Result, now time.Time) (moved int) {
	if result.Err != nil && result.Err.Code == rota.Conflict && fire.Expect.After(now) {
		return 0 // another process has moved it since it was looked at: no clock was set back
	}
	if result.Err != nil {
		f.e.config.Logger.Error("a schedule could not be fired", "schedule", fire.Schedule, "error", result.Err)
		f.retryIn(fire.Schedule, now, retryMax)
		if fire.Expect.After(now) {
			f.clockSetBack.Store(true) // it was not due: only a second look finds it
		}
		return 0
	}
	delete(f.retryAt, fire.Schedule)
	fired := result.Reply.(*rota.Fired)
	switch {
	case fired.Disabled != "":
		f.e.config.Logger.Warn("a schedule was disabled", "schedule", fire.Schedule, "reason", fired.Disabled)
	case !fire.Missed.IsZero():
		f.e.config.Logger.Warn("a schedule gave up times that were missed", "schedule", fire.Schedule, "first", fire.Missed)
	}
	return 1
}

// retryIn has a schedule tried again in a while.
func (f *firer) retryIn(name string, now time.Time, wait time.Duration) {
	f.retryAt[name] = now.Add(wait)
	time.AfterFunc(wait, f.signal.send)
}

// mustWait says whether it is too early to try a schedule again. A time further
// off than that was told by a clock that has been set back since.
func (f *firer) mustWait(s *rota.Schedule, now time.Time) bool {
	wait := f.retryAt[s.Name].Sub(now)
	return wait > 0 && wait <= planRetry && !s.NextFire.After(now)
}

// planFailed says that the times of a schedule cannot be found here. It stays as
// it is, since another machine, or this one tomorrow, may know its zone.
func (f *firer) planFailed(s *rota.Schedule, why error, now time.Time) {
	f.e.config.Logger.Error("the times of a schedule cannot be found; trying again in a minute", "schedule", s.Name, "error", why)
	f.retryIn(s.Name, now, planRetry)
}

// checkClockSetBack looks for a clock that was ahead so shortly that only a fire saw it.
func (f *firer) checkClockSetBack(now time.Time) {
	if now.Add(clockStepMin).UnixMicro() < f.lastFireMicros.Load() {
		f.requestRealign()
	}
}

// realign finds the next times anew of schedules that were moved by a clock
// which has been set back since.
func (f *firer) realign(ctx context.Context) {
	due, err := f.e.store.NextDue(ctx)
	if err != nil {
		f.clockSetBack.Store(true)
		f.retryLater(ctx, err)
		return
	}
	f.lastFireMicros.Store(due.Now.UnixMicro())
	query := rota.ScheduleQuery{State: rota.ScheduleEnabled, Ahead: due.Now, Limit: rota.PageMax}
	for {
		schedules, err := f.e.store.Schedules(ctx, query)
		if err != nil {
			f.clockSetBack.Store(true)
			f.retryLater(ctx, err)
			return
		}
		if len(schedules) == 0 {
			return
		}
		query.After = schedules[len(schedules)-1].Name
		for chunk := range slices.Chunk(schedules, fireBatch) {
			f.fire(ctx, chunk, due.Now)
		}
	}
}
