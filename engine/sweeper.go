package engine

import (
	"context"

	"github.com/rotajobs/rota"
)

// sweeper expires jobs that have waited too long, and executes intent records page by
// page.
type sweeper struct {
	e      *Engine
	signal signal
}

func newSweeper(e *Engine) *sweeper { return &sweeper{e: e, signal: newSignal()} }

func (s *sweeper) run(ctx context.Context) {
	for {
		select {
		case <-s.signal:
		case <-ctx.Done():
			return
		}
		for s.sweep(ctx) {
		}
	}
}

// sweep executes one page of each, and reports whether there is more.
func (s *sweeper) sweep(ctx context.Context) (more bool) {
	results, err := s.e.apply(ctx, &rota.Expire{Meta: rota.NewMeta("")}, &rota.Sweep{Meta: rota.NewMeta("")})
	if err != nil {
		return false
	}
	for _, result := range results {
		switch reply := result.Reply.(type) {
		case *rota.Expired:
			more = more || reply.More
		case *rota.Swept:
			more = more || reply.More
		default:
			s.e.config.Logger.Error("the store refused a maintenance command", "error", result.Err)
			return false
		}
	}
	return more
}
