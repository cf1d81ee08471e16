package engine

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// firer fires due schedules. It evaluates expressions and time zones; the store
// decides, so that of two processes that fire the same time only one succeeds.
type firer struct {
	e              *Engine
	signal         signal
	clockSetBack   atomic.Bool          // schedules may have been moved by a clock that was ahead
	lastFireMicros atomic.Int64         // clock of the last fire: a smaller value means it was set back since
	retryAt        map[string]time.Time // schedules that could not be fired, and when to retry
	outage         outageLog
}

// Bounds of one transaction, so that other transactions do not wait long. One schedule
// alone may fire more jobs.
const (
	fireBatch = 250   // schedules
	fireJobs  = 1_000 // jobs
)

// planRetry is how long a schedule waits whose times cannot be computed here, such as
// in a time zone that this machine does not know.
const planRetry = time.Minute

// olderNodeRetry is how long a schedule waits whose due time another node may fire.
const olderNodeRetry = 500 * time.Millisecond

func newFirer(e *Engine) *firer {
	f := &firer{e: e, signal: newSignal(), retryAt: map[string]time.Time{}}
	f.requestRealign() // the clock may have been set back while no process ran
	return f
}

// requestRealign has the firer check schedules whose next time was set by a clock that
// was ahead of this one.
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
	asked := time.Now()
	page, err := f.e.store.DueSchedules(ctx, rota.PageMax)
	if err != nil {
		f.retryLater(ctx, err)
		return false
	}
	alive := f.e.uptime.observe(page.Now, asked)
	f.outage.recovered(f.e.config.Logger, "schedules are read again")
	fired := 0
	for schedules := range slices.Chunk(page.Schedules, fireBatch) {
		fired += f.fire(ctx, schedules, page.Now, alive)
	}
	return fired > 0 && ctx.Err() == nil
}

// retryLater logs an error and signals the firer later: an error ends no schedule.
func (f *firer) retryLater(ctx context.Context, err error) {
	if ctx.Err() == nil {
		f.outage.failed(f.e.config.Logger, "due schedules could not be read; retrying", "error", err)
		time.AfterFunc(retryMax, f.signal.send)
	}
}

// fire fires schedules in few batches, and returns how many moved to a later time. At now,
// this process has run since alive.
func (f *firer) fire(ctx context.Context, schedules []*rota.Schedule, now, alive time.Time) (moved int) {
	f.lastFireMicros.Store(now.UnixMicro())
	var fires []rota.Command
	jobs := 0
	for _, s := range schedules {
		if f.mustWait(s, now) || f.leftToOlderNode(s, now, alive) {
			continue
		}
		fire, err := rota.PlanFire(rota.NewMeta(""), s, now, alive)
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

// send fires schedules in one batch.
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

// settleFire processes the answer to a fire. A fire that was refused is retried later,
// and does not delay the others.
func (f *firer) settleFire(fire *rota.Fire, result rota.Result, now time.Time) (moved int) {
	if result.Err != nil && result.Err.Code == rota.Conflict && fire.Expect.After(now) {
		return 0 // another process has moved the schedule since it was read: no clock was set back
	}
	if result.Err != nil {
		f.e.config.Logger.Error("a schedule could not be fired", "schedule", fire.Schedule, "error", result.Err)
		f.retryIn(fire.Schedule, now, retryMax)
		if fire.Expect.After(now) {
			f.clockSetBack.Store(true) // the schedule is not due: only another realign finds it
		}
		return 0
	}
	delete(f.retryAt, fire.Schedule)
	fired := result.Reply.(*rota.Fired)
	switch {
	case fired.ScheduleChanged: // another process has fired it
	case fired.Disabled != "":
		f.e.config.Logger.Warn("a schedule was disabled", "schedule", fire.Schedule, "reason", fired.Disabled)
	case !fire.Missed.IsZero():
		f.e.config.Logger.Warn("a schedule dropped missed times", "schedule", fire.Schedule, "first", fire.Missed)
	}
	return 1
}

// retryIn schedules a retry of one schedule.
func (f *firer) retryIn(name string, now time.Time, wait time.Duration) {
	f.retryAt[name] = now.Add(wait)
	time.AfterFunc(wait, f.signal.send)
}

// mustWait reports whether it is too early to retry a schedule. A retry time further
// off than planRetry was set by a clock that has been set back since.
func (f *firer) mustWait(s *rota.Schedule, now time.Time) bool {
	wait := f.retryAt[s.Name].Sub(now)
	return wait > 0 && wait <= planRetry && !s.NextFire.After(now)
}

// leftToOlderNode reports whether a due time was missed by this process but not by
// another node. That node fires it, or its lease ends and the time was missed by all.
// The other node may be unable to fire it, such as in a time zone that its machine does
// not know. After MisfireGrace, catch-up decides on every node, so this process fires it.
func (f *firer) leftToOlderNode(s *rota.Schedule, now, alive time.Time) bool {
	if s.NextFire.After(now) || now.Sub(s.NextFire) > rota.MisfireGrace || !s.NextFire.Before(alive) || s.NextFire.Before(s.ResumedAt) || !f.e.membership.othersSince(s.NextFire) {
		return false
	}
	f.retryIn(s.Name, now, olderNodeRetry)
	return true
}

// planFailed logs that the times of a schedule cannot be computed here. The schedule
// stays as it is, since another machine, or this one after an update, may know its
// time zone.
func (f *firer) planFailed(s *rota.Schedule, why error, now time.Time) {
	f.e.config.Logger.Error("the next times of a schedule cannot be computed; retrying in a minute", "schedule", s.Name, "error", why)
	f.retryIn(s.Name, now, planRetry)
}

// checkClockSetBack finds a clock that was ahead so shortly that only a fire saw it.
func (f *firer) checkClockSetBack(now time.Time) {
	if now.Add(clockStepMin).UnixMicro() < f.lastFireMicros.Load() {
		f.requestRealign()
	}
}

// realign recomputes the next times of schedules that were moved by a clock which has
// been set back since.
func (f *firer) realign(ctx context.Context) {
	asked := time.Now()
	due, err := f.e.store.NextDue(ctx)
	if err != nil {
		f.clockSetBack.Store(true)
		f.retryLater(ctx, err)
		return
	}
	alive := f.e.uptime.observe(due.Now, asked)
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
			f.fire(ctx, chunk, due.Now, alive)
		}
	}
}
