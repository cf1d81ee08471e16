package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// normaliser renumbers the queue while nothing runs, so that there are gaps between
// jobs for later moves. It reaches every priority, whether its jobs are ready or held.
type normaliser struct {
	e    *Engine
	next int // priority at which the next round starts
}

// normalisePause is between two pages, so that other work is not slowed down.
const normalisePause = 20 * time.Millisecond

func newNormaliser(e *Engine) normaliser { return normaliser{e: e, next: rota.PriorityMax} }

// run renumbers one priority after the other, page by page, from the highest to the
// lowest. If a handler starts meanwhile, it stops. The next round continues with the
// priority below, so that a long priority does not keep the others from their turn.
func (n *normaliser) run(ctx context.Context) {
	for priority, after := n.next, (rota.ID{}); n.e.pool.snapshot().Running == 0; {
		if n.next = priority - 1; n.next < rota.PriorityMin {
			n.next = rota.PriorityMax
		}
		page, err := do[*rota.Normalised](ctx, n.e, &rota.Normalise{Meta: rota.NewMeta(""), Priority: priority, After: after})
		switch {
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
