package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// Sending again begins soon and slows down.
const (
	retryFirst = 10 * time.Millisecond
	retryMax   = time.Second
)

// apply sends commands until the store has decided them, or ctx ends: sent
// again they are not done twice. An outage is logged when it begins and ends.
func (e *Engine) apply(ctx context.Context, commands ...rota.Command) ([]rota.Result, error) {
	var outage outageLog
	for wait := retryFirst; ; wait = min(2*wait, retryMax) {
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
			return nil, err // it will be so the next time, too
		}
		outage.failed(e.config.Logger, "the "+e.storeName()+" does not answer; trying until it does", "verb", commands[0].Verb(), "error", err)
		e.resent.Add(1)
		if !pause(ctx, wait) {
			return nil, err
		}
	}
}

// storeName is what people call the one who keeps the queue.
func (e *Engine) storeName() string {
	if e.config.Remote {
		return "server"
	}
	return "store"
}

// endIfDenied ends an engine that its server denies, and reports whether that is so.
// Nothing that still runs could be recorded, nor could its lease be kept: it is
// cut off at once, before it is given to somebody else.
func (e *Engine) endIfDenied(err error) bool {
	if !e.config.Remote || rota.CodeOf(err) != rota.Denied {
		return false
	}
	e.denied.CompareAndSwap(nil, rota.Errorf(rota.Denied, "engine: run", "%w", err))
	e.Cut()
	e.cancelRun()
	return true
}

// retryRead reads until the store answers, or ctx ends. A store that is at hand and
// does not answer is broken; one that is far away may only be restarting.
func (e *Engine) retryRead(ctx context.Context, read func() error) error {
	var outage outageLog
	for wait := retryFirst; ; wait = min(2*wait, retryMax) {
		err := read()
		code := rota.CodeOf(err)
		if !e.config.Remote || code != rota.Unavailable && code != rota.Busy || ctx.Err() != nil {
			outage.recovered(e.config.Logger, "the server answers")
			return err
		}
		outage.failed(e.config.Logger, "the server does not answer; trying until it does", "error", err)
		if !pause(ctx, wait) {
			return err
		}
	}
}

// do sends one command until it is decided, and returns its reply.
func do[R rota.Reply](ctx context.Context, e *Engine, command rota.Command) (R, error) {
	var none R
	results, err := e.apply(ctx, command)
	if err != nil {
		return none, err
	}
	if results[0].Err != nil {
		return none, results[0].Err
	}
	return results[0].Reply.(R), nil
}

// pause waits, and reports whether ctx let it.
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

// signal wakes one loop. It may be rung from anywhere, and rings once however
// often it is rung before it is heard.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (b signal) send() {
	select {
	case b <- struct{}{}:
	default:
	}
}
