package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// pruner removes history that is past its retention, in small pages with pauses, so
// that it does not slow down other work.
type pruner struct {
	e         *Engine
	normalise normaliser
}

const (
	prunePage  = 200                   // executions in one transaction
	prunePause = 20 * time.Millisecond // between two
	pruneFirst = 30 * time.Second      // after the start
)

func newPruner(e *Engine) *pruner { return &pruner{e: e, normalise: newNormaliser(e)} }

func (p *pruner) run(ctx context.Context) {
	for wait := min(pruneFirst, p.e.config.PruneEvery); pause(ctx, wait); wait = p.e.config.PruneEvery {
		if !p.e.membership.leads() {
			continue
		}
		if err := p.pruneAudit(ctx); err != nil && ctx.Err() == nil {
			p.e.config.Logger.Error("the audit was not pruned", "error", err)
		}
		if removed, err := p.prune(ctx); err != nil && ctx.Err() == nil {
			p.e.config.Logger.Error("the history was not pruned", "error", err)
		} else if removed > 0 {
			p.e.config.Logger.Info("the history was pruned", "executions", removed)
		}
		p.normalise.run(ctx)
	}
}

func (p *pruner) prune(ctx context.Context) (removed int, err error) {
	if err := p.pruneExpired(ctx); err != nil {
		return 0, err
	}
	for query := (rota.PruneQuery{Retention: *p.e.config.Retention, Limit: prunePage}); ; {
		page, err := p.e.store.Prunable(ctx, query)
		if err != nil {
			return removed, err
		}
		for rest := page.Executions; len(rest) > 0; {
			pruned, err := do[*rota.Pruned](ctx, p.e, &rota.Prune{Meta: rota.NewMeta(""), Executions: rest})
			if err != nil {
				return removed, err
			}
			removed += pruned.Executions
			if rest = pruned.Rest; len(rest) > 0 && !pause(ctx, prunePause) {
				return removed, nil
			}
		}
		if !page.More || !pause(ctx, prunePause) {
			return removed, nil
		}
		query.From = page.Next
	}
}

// pruneExpired removes what is past its time besides executions, with a Prune of an unknown execution.
func (p *pruner) pruneExpired(ctx context.Context) error {
	_, err := do[*rota.Pruned](ctx, p.e, &rota.Prune{Meta: rota.NewMeta(""), Executions: []rota.ID{rota.NewID()}})
	return err
}

// pruneAudit removes the audit entries that are past their retention.
func (p *pruner) pruneAudit(ctx context.Context) error {
	chain, has := rota.StoreAs[rota.AuditChain](p.e.store)
	age := p.e.config.Retention.Audit
	if !has || age <= 0 {
		return nil
	}
	due, err := p.e.store.NextDue(ctx) // the clock of the store
	if err != nil {
		return err
	}
	for removed := 0; ; {
		n, err := chain.PruneAudit(ctx, due.Now.Add(-age), rota.SealMax, p.e.config.SignAnchor)
		if err != nil {
			return err
		}
		removed += n
		if n < rota.SealMax || !pause(ctx, prunePause) {
			if removed > 0 {
				p.e.config.Logger.Info("the audit was pruned", "entries", removed)
			}
			return nil
		}
	}
}
