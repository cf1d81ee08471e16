package engine

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// Why a handler's context ended. A handler finds it by context.Cause.
var (
	errTimeout      = errors.New("it ran out of time")
	errCancelled    = errors.New("it was asked to stop")
	errLeaseLost    = errors.New("its lease is lost")
	errLeaseExpired = errors.New("its lease could not be extended in time")
	errShutdown     = errors.New("the process stops")
)

// errGoexit is how a run ended whose handler neither returned nor panicked.
var errGoexit = errors.New("the handler ended its goroutine")

// task is one run in this process, from its claim until its end is recorded.
type task struct {
	pool   *pool
	job    *rota.Job
	runner *typeRunner
	lease  rota.LeaseRef
	log    runLog

	ctx     context.Context
	cancel  context.CancelCauseFunc
	timeout *time.Timer // nil: as long as it takes

	mu             sync.Mutex
	settled        bool        // how it ended is known: it returned, or was given up
	stopped        bool        // it was told to stop
	grace          *time.Timer // runs once it was told to stop
	progress       json.RawMessage
	progressUnsent bool // the progress has yet to be written down
	artifacts      []string
	result         json.RawMessage
	rowsAffected   *int64
	exitCode       *int

	leaseEnds  time.Time // when its lease is over, by the watch of this process; zero: nobody else takes it
	staleAfter time.Time // the same as the store has it

	recorded chan struct{} // closed when the end is recorded, or was lost; nil: nobody waits for it
}

// run runs the handler and settles how it ended. A handler that leaves by
// runtime.Goexit ends here, too.
func (t *task) run() {
	if t.isSettled() { // it was given up before its turn came
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
	if t.leaseExpired(began) { // the process was frozen, or slow, since it was to begin
		t.cancel(errLeaseExpired)
		err = errLeaseExpired
		return
	}
	err = t.runner.run(t.ctx, t.job)
	t.runner.average.add(time.Since(began))
}

// returned settles a run whose handler has returned. If it was given up before
// that, what it says comes too late.
func (t *task) returned(err error) {
	if !t.settle() {
		t.pool.abandonedReturned(t)
		return
	}
	t.pool.queueEnd(t, err)
}

func (t *task) isSettled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.settled
}

// settle reports whether the caller is the one who says how the run ended.
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

// stop tells the handler to stop. When the grace is over and it has not
// returned, it is given up. The first reason is the one that counts, but a later
// one may shorten the grace.
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

// giveUp settles a run whose handler does not return: nobody else would ever
// end it. Its slot is free again; its goroutine is not.
func (t *task) giveUp() {
	if !t.settle() {
		return
	}
	t.pool.abandon(t)
}

// takeProgress is the progress that has yet to be written down, nil if there is
// none.
func (t *task) takeProgress() (progress []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progressUnsent && !t.settled {
		progress, t.progressUnsent = t.progress, false
	}
	return progress
}

// restoreProgress has it told again, unless there is a newer one.
func (t *task) restoreProgress(progress []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if progress != nil && !t.progressUnsent {
		t.progressUnsent = true
	}
}
