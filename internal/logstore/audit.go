package logstore

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// SealAudit does nothing, because replicas seal each audit entry when they write it.
func (s *Store) SealAudit(ctx context.Context, _ int) (int, error) { return 0, ctx.Err() }

// PruneAudit appends an entry that removes the first audit entries in all replicas. The anchor is signed
// once, by this process.
func (s *Store) PruneAudit(ctx context.Context, before time.Time, limit int, sign rota.AnchorSigner) (int, error) {
	if err := s.log.CatchUp(ctx); err != nil {
		return 0, err
	}
	prune, err := s.Replica.FindPrune(ctx, before.Truncate(time.Microsecond), limit, sign)
	if err != nil || prune == nil {
		return 0, err
	}
	if _, err := s.log.Commit(ctx, Entry{Prune: prune}); err != nil {
		return 0, err
	}
	state, err := s.Replica.AuditState(Local(ctx))
	if err != nil || state.Anchor.AuditPoint != prune.Anchor.AuditPoint || !state.Anchor.RemovedBefore.Equal(prune.Anchor.RemovedBefore) {
		return 0, err // another process has pruned first
	}
	return int(prune.Anchor.Seq - prune.After), nil
}
