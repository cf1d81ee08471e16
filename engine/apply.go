package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// Sending again begins soon and slows down.
const (
	againFirst = 10 * time.Millisecond
	againMax   = time.Second
)

// apply sends commands until the store has decided them, or ctx ends: sent
// again they are not done twice. An outage is logged when it begins and ends.
func (e *Engine) apply(ctx context.Context, commands ...rota.Command) ([]rota.Result, error) {
	var out outage
	for wait := againFirst; ; wait = min(2*wait, againMax) {
		sent := time.Now()
		results, err := e.store.Apply(ctx, rota.Batch{Commands: commands})
		switch {
		case err == nil:
			e.lends(sent, results)
			out.passed(e.config.Logger, "the "+e.keeper()+" answers again")
			for i := range results {
				if results[i].Err != nil {
					e.deny(results[i].Err)
				}
			}
			return results, nil
		case ctx.Err() != nil:
			return nil, err
		case rota.CodeOf(err) == rota.Invalid, e.deny(err):
			return nil, err // it will be so the next time, too
		}
		out.failed(e.config.Logger, "the "+e.keeper()+" does not answer; trying until it does", "verb", commands[0].Verb(), "error", err)
		e.resent.Add(1)
		if !pause(ctx, wait) {
			return nil, err
		}
	}
}

// keeper is what people call the one who keeps the queue.
func (e *Engine) keeper() string {
	if e.config.Remote {
		return "server"
	}
	return "store"
}

// deny ends an engine that its server denies, and reports whether that is so.
// Nothing that still runs could be recorded, nor could its lease be kept: it is
// cut off at once, before it is given to somebody else.
func (e *Engine) deny(err error) bool {
	if !e.config.Remote || rota.CodeOf(err) != rota.Denied {
		return false
	}
	e.denied.CompareAndSwap(nil, rota.Errorf(rota.Denied, "engine: run", "%w", err))
	e.Cut()
	e.end()
	return true
}

// ask reads until the store answers, or ctx ends. A store that is at hand and
// does not answer is broken; one that is far away may only be restarting.
func (e *Engine) ask(ctx context.Context, read func() error) error {
	var out outage
	for wait := againFirst; ; wait = min(2*wait, againMax) {
		err := read()
		code := rota.CodeOf(err)
		if !e.config.Remote || code != rota.Unavailable && code != rota.Busy || ctx.Err() != nil {
			out.passed(e.config.Logger, "the server answers")
			return err
		}
		out.failed(e.config.Logger, "the server does not answer; trying until it does", "error", err)
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

// bell wakes one loop. It may be rung from anywhere, and rings once however
// often it is rung before it is heard.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}
