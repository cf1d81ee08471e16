package engine

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// reporter passes failures to a Reporter, and check-ins of schedules to a Monitor. It
// subscribes to the event ring, so that it includes jobs that ran elsewhere, and
// reads from the store what events leave out. A nil reporter does nothing.
type reporter struct {
	e       *Engine
	target  Reporter
	monitor Monitor // target, if it is a Monitor; nil: it is not
	signal  signal
	ctx     context.Context // ends when all work must stop
	cancel  context.CancelFunc
	done    chan struct{} // closed when run has returned

	mu       sync.Mutex
	queueMax int // events that may wait
	queue    []rota.Event
	dropped  int  // since the queue was empty
	closing  bool // no more events arrive

	readOutage, callOutage outageLog
}

const (
	reportMax     = 4_096            // events that may wait
	reportTimeout = 10 * time.Second // of the context of one call
	reportGrace   = 5 * time.Second  // for all waiting events when the engine ends
)

func newReporter(e *Engine) *reporter {
	r := &reporter{e: e, target: e.config.Reporter, queueMax: reportMax, signal: newSignal(), done: make(chan struct{})}
	r.monitor, _ = r.target.(Monitor)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// handleEvents queues events that are to be reported. The store waits until it returns.
func (r *reporter) handleEvents(events []rota.Event) {
	if r == nil {
		return
	}
	for i := range events {
		if r.wants(&events[i]) {
			r.enqueue(events[i])
		}
	}
}

// wants reports whether an event is to be reported.
func (r *reporter) wants(ev *rota.Event) bool {
	return isFailure(ev) || r.monitor != nil && isCheckIn(ev)
}

// isFailure selects the ends that are reported. Of Rota's own jobs only those that are
// dead are: retries are part of their normal operation.
func isFailure(ev *rota.Event) bool {
	if rota.InternalType(ev.Type) {
		return ev.Kind == rota.EventJobDead
	}
	return ev.Kind == rota.EventJobFailed
}

// isCheckIn selects the events that happen once in an execution of a schedule. The start
// of a retry is not one of them.
func isCheckIn(ev *rota.Event) bool {
	if ev.Schedule == "" || ev.Kind == rota.EventJobStarted && ev.Attempt > 1 {
		return false
	}
	return checkIns[ev.Kind] != ""
}

var checkIns = map[rota.EventKind]CheckInStatus{
	rota.EventJobStarted: CheckInStarted, rota.EventJobCompleted: CheckInCompleted, rota.EventJobDead: CheckInFailed,
	rota.EventScheduleMissed: CheckInMissed,
}

// enqueue queues an event, unless too many wait already. It logs the drop from another
// goroutine, because the store waits.
func (r *reporter) enqueue(ev rota.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) < r.queueMax {
		r.queue = append(r.queue, ev)
		r.signal.send()
		return
	}
	if r.dropped++; r.dropped == 1 {
		go r.e.config.Logger.Warn("too many reports are waiting; dropping new ones", "waiting", len(r.queue))
	}
}

func (r *reporter) start() {
	if r != nil {
		go r.run()
	}
}

// close waits until the waiting events are reported, for a limited time: a Reporter
// that does not return must not keep the process from ending.
func (r *reporter) close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	r.signal.send()
	grace := time.NewTimer(r.e.reportGrace)
	defer grace.Stop()
	select {
	case <-r.done:
	case <-grace.C:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.e.config.Logger.Error("the reporter did not finish in time; the waiting reports are lost", "waiting", len(r.queue))
	}
	r.cancel()
}

func (r *reporter) run() {
	defer close(r.done)
	for r.await() {
		ev, dropped := r.take()
		if dropped > 0 {
			r.e.config.Logger.Warn("reports were dropped", "reports", dropped)
		}
		if isFailure(&ev) {
			r.report(&ev)
		} else {
			r.checkIn(&ev)
		}
	}
}

// await waits until there is an event to report, and reports whether there is.
func (r *reporter) await() bool {
	for {
		r.mu.Lock()
		some, closing := len(r.queue) > 0, r.closing
		r.mu.Unlock()
		if r.ctx.Err() != nil || !some && closing {
			return false
		}
		if some {
			return true
		}
		select {
		case <-r.signal:
		case <-r.ctx.Done():
		}
	}
}

// take takes the first event. With the last one it returns how many were dropped.
func (r *reporter) take() (ev rota.Event, dropped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ev = r.queue[0]
	r.queue[0], r.queue = rota.Event{}, r.queue[1:]
	if len(r.queue) == 0 {
		r.queue, dropped, r.dropped = nil, r.dropped, 0
	}
	return ev, dropped
}

func (r *reporter) report(ev *rota.Event) {
	job := r.job(ev.JobID)
	if job == nil {
		return
	}
	dead := job.Sequel == rota.SequelDead
	if ev.ErrorCode == rota.CodeShutdown && !dead {
		return
	}
	r.call(func(ctx context.Context) { r.target.Report(ctx, Report{Job: job, Dead: dead}) })
}

func (r *reporter) checkIn(ev *rota.Event) {
	c := CheckIn{Status: checkIns[ev.Kind], At: ev.At}
	switch c.Status {
	case CheckInMissed:
		c.Missed = ev.Detail
	case CheckInStarted:
		if !ev.PlanTime.IsZero() {
			c.Late = max(0, ev.At.Sub(ev.PlanTime))
		}
	}
	if c.Status != CheckInMissed {
		if c.Job = r.job(ev.JobID); c.Job == nil {
			return
		}
	}
	if c.Schedule = r.schedule(ev.Schedule); c.Schedule == nil {
		return
	}
	r.call(func(ctx context.Context) { r.monitor.CheckIn(ctx, c) })
}

// job reads a job, nil if it cannot be read or no longer exists.
func (r *reporter) job(id rota.ID) (job *rota.Job) {
	_ = r.read(func() (err error) {
		job, err = r.e.store.Job(r.ctx, id)
		return err
	})
	return job
}

// schedule reads a schedule, nil if it cannot be read. If it was deleted, the result has
// only its name.
func (r *reporter) schedule(name string) (schedule *rota.Schedule) {
	err := r.read(func() (err error) {
		schedule, err = r.e.store.Schedule(r.ctx, name)
		return err
	})
	if rota.CodeOf(err) == rota.NotFound {
		return &rota.Schedule{Name: name}
	}
	return schedule
}

// read calls read until the store can be reached.
func (r *reporter) read(read func() error) error {
	for wait := retryFirst; ; wait = min(2*wait, retryMax) {
		err := read()
		code := rota.CodeOf(err)
		if err == nil || code == rota.NotFound {
			r.readOutage.recovered(r.e.config.Logger, "jobs and schedules to report can be read again")
			return err
		}
		r.readOutage.failed(r.e.config.Logger, "a job or schedule to report could not be read", "error", err)
		if code != rota.Unavailable && code != rota.Busy || !pause(r.ctx, wait) {
			return err
		}
	}
}

// call calls the Reporter, and recovers if it panics.
func (r *reporter) call(report func(context.Context)) {
	ctx, done := context.WithTimeout(r.ctx, reportTimeout)
	defer done()
	defer func() {
		if p := recover(); p != nil {
			r.callOutage.failed(r.e.config.Logger, "the reporter panicked", "error", newPanicError(p))
		}
	}()
	report(ctx)
	r.callOutage.recovered(r.e.config.Logger, "the reporter no longer panics")
}
