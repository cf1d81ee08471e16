package engine

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/mask"
)

// Why the context of a handler ended. A handler reads it with context.Cause.
var (
	errTimeout      = errors.New("the run exceeded its timeout")
	errCancelled    = errors.New("the run was cancelled")
	errLeaseLost    = errors.New("the lease of the run was lost")
	errLeaseExpired = errors.New("the lease of the run could not be extended in time")
	errShutdown     = errors.New("the process is shutting down")
)

// errGoexit is the error of a run whose handler neither returned nor panicked.
var errGoexit = errors.New("the handler ended its goroutine with runtime.Goexit")

// task is one run in this process, from its claim until its end is recorded.
type task struct {
	pool    *pool
	job     *rota.Job
	runner  *typeRunner
	lease   rota.LeaseRef
	log     runLog
	secrets mask.Set // values that the handler has got

	ctx     context.Context
	cancel  context.CancelCauseFunc
	timeout *time.Timer // nil: no limit

	mu             sync.Mutex
	settled        bool        // the outcome is known: the handler returned, or was abandoned
	stopped        bool        // its context was cancelled
	grace          *time.Timer // runs once it was stopped; then the handler is abandoned
	progress       json.RawMessage
	progressUnsent bool // the progress is not written yet
	artifacts      []string
	result         json.RawMessage
	rowsAffected   *int64
	exitCode       *int
	completion     *completion // last call of CompleteTx that was not refused; nil: none

	leaseEnds  time.Time // when the lease is over by the clock of this process; zero: no other process takes the job
	staleAfter time.Time // the same by the clock of the store

	recorded chan struct{} // closed when the end is recorded or dropped; nil: no caller waits for it
}

// run runs the handler and settles the run. This includes a handler that calls
// runtime.Goexit.
func (t *task) run() {
	if t.isSettled() { // it was abandoned before it started
		t.pool.abandonedReturned(t)
		return
	}
	err := errGoexit
	defer func() {
		if p := recover(); p != nil {
			err = logPanic(p, &t.log)
		}
		t.returned(err)
	}()
	began := time.Now()
	if t.leaseExpired(began) { // the process was suspended, or slow, since the claim
		t.cancel(errLeaseExpired)
		err = errLeaseExpired
		return
	}
	err = t.runner.run(t.ctx, t.job)
	t.runner.average.add(time.Since(began))
}

// returned settles a run whose handler has returned. If it was abandoned before, its
// result comes too late.
func (t *task) returned(err error) {
	err = t.masked(err)
	if !t.settle() {
		t.pool.abandonedReturned(t)
		return
	}
	t.pool.end(t, err, t.pool.e.config.CancelGrace)
}

func (t *task) isSettled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.settled
}

// isStopped reports whether the context of the handler was cancelled.
func (t *task) isStopped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopped
}

// settle reports whether the caller is the first to settle the run, and so determines
// its outcome.
func (t *task) settle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.settled {
		return false
	}
	t.settled = true
	if t.timeout != nil {
		t.timeout.Stop()
	}
	if t.grace != nil {
		t.grace.Stop()
	}
	return true
}

// stop cancels the context of the handler. If the handler has not returned when the
// grace is over, it is abandoned. The first cause counts, but a shutdown may shorten
// the grace.
func (t *task) stop(cause error, grace time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.settled || t.stopped && cause != errShutdown {
		return
	}
	t.stopped = true
	t.cancel(cause)
	if t.grace != nil {
		t.grace.Stop()
	}
	t.grace = time.AfterFunc(grace, t.giveUp)
}

// giveUp settles a run whose handler does not return. Its slot is free again; its
// goroutine continues.
func (t *task) giveUp() {
	if !t.settle() {
		return
	}
	t.pool.abandon(t)
}

// takeProgress returns progress that is not written yet, nil if there is none. A run that
// completes in a transaction has sent it there.
func (t *task) takeProgress() (progress []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progressUnsent && !t.settled && !t.completesLocked() {
		progress, t.progressUnsent = t.progress, false
	}
	return progress
}

// restoreProgress marks progress as unwritten again after a failed write.
func (t *task) restoreProgress(progress []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if progress != nil && !t.progressUnsent {
		t.progressUnsent = true
	}
}
