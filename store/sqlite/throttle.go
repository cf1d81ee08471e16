package sqlite

import (
	"context"
	"encoding/json"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlThrottle = `
SELECT version, updated_by, updated_at, spec
FROM rota_throttle`
	sqlPutThrottle = `
INSERT OR ROLLBACK INTO rota_throttle (id, version, updated_by, updated_at, spec)
VALUES (1, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE
SET version = excluded.version, updated_by = excluded.updated_by, updated_at = excluded.updated_at, spec = excluded.spec`
	sqlDeleteThrottle = `
DELETE FROM rota_throttle`

	sqlBucket = `
SELECT type, slot, starts
FROM rota_buckets
WHERE type = ?`
	sqlPutBucket = `
INSERT OR ROLLBACK INTO rota_buckets (type, slot, starts)
VALUES (?, ?, ?)
ON CONFLICT (type) DO UPDATE
SET slot = excluded.slot, starts = excluded.starts`
	sqlDeleteBucket = `
DELETE FROM rota_buckets
WHERE type = ?`
)

func scanThrottle(s *sqlite.Stmt) (*rota.Throttle, error) {
	t := scanThrottleHead(s)
	return t, scanSpec(s, 3, &t.Spec, "the limits")
}

func scanThrottleHead(s *sqlite.Stmt) *rota.Throttle {
	return &rota.Throttle{Version: scanID(s, 0), UpdatedBy: s.ColumnText(1), UpdatedAt: scanTime(s, 2)}
}

// limitsCache holds the limits as last read. Every claim needs them, and decoding up to ThrottleMax
// entries would cost more than the claim.
type limitsCache struct{ last *rota.Throttle }

func (w *writer) loadThrottle(_ struct{}, u *rules.UnitOfWork) error {
	return w.query(sqlThrottle, nil, scanInto(w.scanLimits, rules.Throttle.Into(u)))
}

func (w *writer) scanLimits(s *sqlite.Stmt) (*rota.Throttle, error) {
	if last := w.limits.last; last != nil && last.Version == scanID(s, 0) {
		return last, nil
	}
	t, err := scanThrottle(s)
	if err == nil {
		w.limits.last = t
	}
	return t, err
}

func (w *writer) writeThrottle(c rules.Change[struct{}, rota.Throttle]) error {
	if c.Is == nil {
		return w.change(sqlDeleteThrottle, func(*sqlite.Stmt) {})
	}
	return w.change(sqlPutThrottle, func(s *sqlite.Stmt) {
		bindID(s, 1, c.Is.Version)
		bindText(s, 2, c.Is.UpdatedBy)
		bindTime(s, 3, c.Is.UpdatedAt)
		bindSpec(s, 4, c.Is.Spec)
	})
}

// Throttle returns the limits in force.
func (s *reader) Throttle(ctx context.Context) (*rota.Throttle, error) {
	all, err := readAll(ctx, s, "limits", sqlThrottle, nil, scanThrottle)
	if err != nil || len(all) == 0 {
		return &rota.Throttle{}, err
	}
	return all[0], nil
}

func scanBucket(s *sqlite.Stmt) (*rota.Bucket, error) {
	b := &rota.Bucket{Type: s.ColumnText(0), Slot: s.ColumnInt64(1)}
	return b, scanSpec(s, 2, &b.Starts, "the starts of type "+b.Type)
}

func (w *writer) loadBucket(name string, u *rules.UnitOfWork) error {
	return w.query(sqlBucket, func(s *sqlite.Stmt) { s.BindText(1, name) }, scanInto(scanBucket, rules.Buckets.Into(u)))
}

func (w *writer) writeBucket(c rules.Change[string, rota.Bucket]) error {
	if c.Is == nil {
		return w.change(sqlDeleteBucket, func(s *sqlite.Stmt) { s.BindText(1, c.Key) })
	}
	starts, _ := json.Marshal(c.Is.Starts) // numbers always marshal
	return w.change(sqlPutBucket, func(s *sqlite.Stmt) {
		s.BindText(1, c.Key)
		s.BindInt64(2, c.Is.Slot)
		s.BindText(3, string(starts))
	})
}
