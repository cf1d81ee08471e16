package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// normaliser renumbers the queue while no process runs a job, so that there are gaps between
// jobs for later moves. It reaches every priority, whether its jobs are ready or held.
type normaliser struct {
	e    *Engine
	next int // priority at which the next round starts
}

// A page locks the order of the queue, which claims and enqueues wait for. A page that is
// not the last one has no more room than its jobs use now, so pages are long. Between two
// pages there is a pause, so that other work is not slowed down.
const (
	normalisePage  = rota.OrderMax
	normalisePause = 20 * time.Millisecond
)

func newNormaliser(e *Engine) normaliser { return normaliser{e: e, next: rota.PriorityMax} }

// run renumbers one priority after the other, page by page, from the highest to the
// lowest. If a job starts meanwhile, it stops. The next round continues with the
// priority below, so that a long priority does not keep the others from their turn.
func (n *normaliser) run(ctx context.Context) {
	for priority, after := n.next, (rota.ID{}); n.quiet(ctx); {
		if n.next = priority - 1; n.next < rota.PriorityMin {
			n.next = rota.PriorityMax
		}
		page, err := do[*rota.Normalised](ctx, n.e, &rota.Normalise{Meta: rota.NewMeta(""), Priority: priority, After: after, Limit: normalisePage})
		switch code := rota.CodeOf(err); {
		case (code == rota.Conflict || code == rota.Busy) && priority > rota.PriorityMin:
			priority, after = priority-1, rota.ID{} // the queue changed meanwhile: a later round renumbers the rest of this priority
		case err != nil && ctx.Err() == nil:
			n.e.config.Logger.Warn("the queue was not renumbered", "priority", priority, "error", err)
			return
		case err != nil:
			return
		case page.More:
			after = page.Last
		case page.Below != nil:
			priority, after = *page.Below, rota.ID{}
		default:
			n.next = rota.PriorityMax
			return
		}
		if !pause(ctx, normalisePause) {
			return
		}
	}
}

// quiet reports whether no job runs, in this process or in another one.
func (n *normaliser) quiet(ctx context.Context) bool {
	if n.e.pool.snapshot().Running > 0 {
		return false
	}
	open, err := n.e.store.Jobs(ctx, rota.JobQuery{State: rota.StateRunning, Limit: 1})
	return err == nil && len(open) == 0
}
