package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// pruner removes history that is past its retention, in small pages with pauses, so
// that it does not slow down other work.
type pruner struct{ e *Engine }

const (
	prunePage  = 200                   // executions in one transaction
	prunePause = 20 * time.Millisecond // between two
	pruneFirst = 30 * time.Second      // after the start
)

func newPruner(e *Engine) *pruner { return &pruner{e} }

func (p *pruner) run(ctx context.Context) {
	for wait := min(pruneFirst, p.e.config.PruneEvery); pause(ctx, wait); wait = p.e.config.PruneEvery {
		if !p.e.membership.leads() {
			continue
		}
		if removed, err := p.prune(ctx); err != nil && ctx.Err() == nil {
			p.e.config.Logger.Error("the history was not pruned", "error", err)
		} else if removed > 0 {
			p.e.config.Logger.Info("the history was pruned", "executions", removed)
		}
		p.normaliseIdle(ctx)
	}
}

func (p *pruner) prune(ctx context.Context) (removed int, err error) {
	// A Prune of an unknown execution removes what else is past its time.
	if _, err := do[*rota.Pruned](ctx, p.e, &rota.Prune{Meta: rota.NewMeta(""), Executions: []rota.ID{rota.NewID()}}); err != nil {
		return 0, err
	}
	for query := (rota.PruneQuery{Retention: *p.e.config.Retention, Limit: prunePage}); ; {
		page, err := p.e.store.Prunable(ctx, query)
		if err != nil {
			return removed, err
		}
		if len(page.Executions) > 0 {
			pruned, err := do[*rota.Pruned](ctx, p.e, &rota.Prune{Meta: rota.NewMeta(""), Executions: page.Executions})
			if err != nil {
				return removed, err
			}
			removed += pruned.Executions
		}
		if !page.More || !pause(ctx, prunePause) {
			return removed, nil
		}
		query.From = page.Next
	}
}

// normaliseIdle renumbers the queue while nothing runs, so that there are gaps between
// jobs for later moves.
func (p *pruner) normaliseIdle(ctx context.Context) {
	if p.e.pool.snapshot().Running > 0 {
		return
	}
	queue, err := p.e.store.Queue(ctx, rota.ID{}, rota.PageMax)
	if err != nil || len(queue) == 0 || len(queue) == rota.PageMax {
		return // a longer queue is not idle
	}
	position := int64(0)
	for i, job := range queue {
		if i == 0 || job.Priority != queue[i-1].Priority {
			position = 0
		}
		if position += rota.PositionGap; job.Position == position {
			continue
		}
		p.normalise(ctx, job.Priority)
		return // one priority each time is enough
	}
}

func (p *pruner) normalise(ctx context.Context, priority int) {
	for after, more := (rota.ID{}), true; more; {
		page, err := do[*rota.Normalised](ctx, p.e, &rota.Normalise{Meta: rota.NewMeta(""), Priority: priority, After: after})
		if err != nil {
			if ctx.Err() == nil {
				p.e.config.Logger.Warn("the queue was not renumbered", "priority", priority, "error", err)
			}
			return
		}
		after, more = page.Last, page.More
	}
}
