package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// SetCutGrace sets how long a handler has to return once a shutdown has cut it off.
func (e *Engine) SetCutGrace(d time.Duration) { e.cutGrace = d }

// SetRecordGrace sets how long a store may take to record what was cut off.
func (e *Engine) SetRecordGrace(d time.Duration) { e.recordGrace = d }

// LogDisabled logs the skipped times of disabled schedules since the last call.
func (e *Engine) LogDisabled(ctx context.Context) time.Duration { return e.disabledLog.check(ctx) }

// EndLogDisabled logs what is left of the fires of disabled schedules.
func (e *Engine) EndLogDisabled() { e.disabledLog.end() }

// TypeHandler returns what an engine calls to run a job of a type.
func (r *Registry) TypeHandler(name string) Handler {
	kinds, err := r.typeRunners()
	if err != nil {
		panic(err)
	}
	return kinds[name].run
}

// SetReportGrace sets how long the last reports may take.
func (e *Engine) SetReportGrace(d time.Duration) { e.reportGrace = d }

// SetReportMax sets how many reports may wait.
func (e *Engine) SetReportMax(n int) {
	e.reporter.mu.Lock()
	defer e.reporter.mu.Unlock()
	e.reporter.queueMax = n
}

// StartAfterLeaseEnded starts a run whose lease ends just before, as in a process that was
// suspended at that moment.
func (e *Engine) StartAfterLeaseEnded(job *rota.Job) {
	const left = 100 * time.Millisecond
	for e.pool.takeSlots(1) == 0 { // a claim in flight holds it
		time.Sleep(time.Millisecond)
	}
	e.leaseDeadlines.add(time.Now(), job.Run.StaleAfter.Add(-left), job)
	if t := e.pool.prepare(job, nil); t != nil {
		time.Sleep(left)
		t.run()
	}
}

// UptimeStart returns since when the engine has run; zero: it has not read the clock yet.
func (e *Engine) UptimeStart() time.Time { return e.uptime.start() }

// Uptime is the uptime of an engine.
type Uptime = uptime

// Observe records a reading of the store's clock.
func (u *uptime) Observe(now, asked time.Time) time.Time { return u.observe(now, asked) }
