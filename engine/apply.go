package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// Retries start at retryFirst and double up to retryMax.
const (
	retryFirst = 10 * time.Millisecond
	retryMax   = time.Second
)

// apply sends commands until the store has decided them, or ctx ends. A command that
// is sent again has no second effect. An outage is logged when it begins and ends.
func (e *Engine) apply(ctx context.Context, commands ...rota.Command) ([]rota.Result, error) {
	var outage outageLog
	for wait := retryFirst; ; wait = min(2*wait, retryMax) {
		e.flushLogsOf(ctx, commands)
		sent := time.Now()
		results, err := e.store.Apply(ctx, rota.Batch{Commands: commands})
		switch {
		case err == nil:
			e.noteLeases(sent, results)
			outage.recovered(e.config.Logger, "the "+e.storeName()+" answers again")
			for i := range results {
				if results[i].Err != nil {
					e.endIfDenied(results[i].Err)
				}
			}
			return results, nil
		case ctx.Err() != nil:
			return nil, err
		case rota.CodeOf(err) == rota.Invalid, e.endIfDenied(err):
			return nil, err // a retry has the same result
		}
		outage.failed(e.config.Logger, "the "+e.storeName()+" does not answer; retrying until it does", "verb", commands[0].Verb(), "error", err)
		e.resent.Add(1)
		if !pause(ctx, wait) {
			return nil, err
		}
	}
}

// storeName is what messages call the store.
func (e *Engine) storeName() string {
	if e.config.Remote {
		return "server"
	}
	return "store"
}

// endIfDenied ends an engine that its server denies, and reports whether it does.
// The engine could then neither record the end of a run nor extend its lease, so it
// cuts off running handlers at once, before the server gives their jobs to another
// worker.
func (e *Engine) endIfDenied(err error) bool {
	if !e.config.Remote || rota.CodeOf(err) != rota.Denied {
		return false
	}
	e.denied.CompareAndSwap(nil, rota.Errorf(rota.Denied, "engine: run", "%w", err))
	e.Cut()
	e.cancelRun()
	return true
}

// retryRead reads until the store answers, or ctx ends. It retries only a remote
// store, which may be restarting; a local store that does not answer is broken.
func (e *Engine) retryRead(ctx context.Context, read func() error) error {
	var outage outageLog
	for wait := retryFirst; ; wait = min(2*wait, retryMax) {
		err := read()
		code := rota.CodeOf(err)
		if !e.config.Remote || code != rota.Unavailable && code != rota.Busy || ctx.Err() != nil {
			outage.recovered(e.config.Logger, "the server answers")
			return err
		}
		outage.failed(e.config.Logger, "the server does not answer; retrying until it does", "error", err)
		if !pause(ctx, wait) {
			return err
		}
	}
}

// do sends one command until it is decided, and returns its reply.
func do[R rota.Reply](ctx context.Context, e *Engine, command rota.Command) (R, error) {
	results, err := e.apply(ctx, command)
	return replyOf[R](results, err)
}

// replyOf returns the reply to the only command of a batch.
func replyOf[R rota.Reply](results []rota.Result, err error) (R, error) {
	var none R
	if err != nil {
		return none, err
	}
	if results[0].Err != nil {
		return none, results[0].Err
	}
	return results[0].Reply.(R), nil
}

// pause waits for d, and reports whether ctx lasted as long.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// signal wakes one loop. Any goroutine may send it; sends before the loop receives
// count as one.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) send() {
	select {
	case s <- struct{}{}:
	default:
	}
}
