package sqlite

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// FindPrune finds the first entries of the chain that are before a time.
func (r *Replica) FindPrune(ctx context.Context, before time.Time, limit int, sign rota.AnchorSigner) (*rota.AuditPrune, error) {
	w, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer r.release(w)
	prune := &rota.AuditPrune{}
	p, err := storekit.FindPruned(writing{w}, before, limit, func(last rota.AuditAnchor, next *rota.AuditAnchor) error {
		if prune.After = last.Seq; sign == nil {
			return nil
		}
		return sign(last, next)
	})
	if err != nil || p == nil {
		return nil, fault("prune audit", err)
	}
	prune.Anchor = p.Anchor
	return prune, nil
}

// pruneTo removes the entries up to an anchor of the log. It removes nothing if another anchor came first, or
// if the chain of this replica does not lead to the anchor.
func (w *writer) pruneTo(prune *rota.AuditPrune) error {
	if prune == nil {
		return nil
	}
	state, err := storekit.ChainState(writing{w})
	if err != nil || state.Anchor.Seq != prune.After {
		return err
	}
	limit := int(prune.Anchor.Seq - prune.After)
	p, err := storekit.FindPruned(writing{w}, prune.Anchor.RemovedBefore, limit, nil)
	if err != nil || p == nil || p.Anchor.AuditPoint != prune.Anchor.AuditPoint {
		return err
	}
	p.Anchor = prune.Anchor
	return w.pruneAudit(p)
}

// isTampering reports whether pruneTo failed because someone has changed the audit of this replica. Verify
// reports that. The entry of the log is applied nevertheless, without its prune: other replicas can do it.
func isTampering(err error) bool { return rota.CodeOf(err) == rota.Conflict || isConstraint(err) }
