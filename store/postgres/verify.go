package postgres

import (
	"context"
	"iter"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

const (
	// The statements after this one read the indexes of the queue.
	sqlIndexScansOnly = `
SELECT set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
  set_config('enable_bitmapscan', 'off', true)`
	sqlVerifyQueue = `
SELECT '', priority, position, created_at, id
FROM rota_jobs
WHERE status LIKE 'QUEUED'
ORDER BY priority DESC, position, created_at, id`
	sqlVerifyClaim = `
SELECT type, priority, position, created_at, id
FROM rota_jobs
WHERE status = 'QUEUED' AND hold = 0
ORDER BY type, priority DESC, position, created_at, id`
)

// Verify checks every invariant of rota.Checks on one snapshot of the store, while other
// transactions continue to write.
func (s *Store) Verify(ctx context.Context) iter.Seq2[rota.Violation, error] {
	return s.VerifyProgress(ctx, func(rota.Checked) {})
}

// VerifyProgress is Verify with progress reports: it reports how many rows it has checked, at
// intervals and at the end. It releases its connection however the caller's loop ends, also by a
// panic.
func (s *Store) VerifyProgress(ctx context.Context, progress func(rota.Checked)) iter.Seq2[rota.Violation, error] {
	return func(yield func(rota.Violation, error) bool) {
		next, stop := iter.Pull2(s.inspect(ctx, progress))
		defer stop()
		for {
			v, err, found := next()
			if !found || !yield(v, err) {
				return
			}
		}
	}
}

func (s *Store) inspect(ctx context.Context, progress func(rota.Checked)) iter.Seq2[rota.Violation, error] {
	return storekit.Inspect(ctx, progress, func(use func(storekit.Verified) error) error {
		return s.withSnapshot(ctx, "verify", func(c *session, ctx context.Context) error {
			if err := c.send(ctx, withoutJIT); err != nil {
				return err
			}
			return use(verified{c, ctx})
		})
	}, (*storekit.Inspection).CheckAll)
}

// verified is a connection that Verify reads.
type verified struct {
	*session
	ctx context.Context
}

// Each executes a query and checks its rows as they arrive.
func (v verified) Each(sql string, check func(storekit.Row) error, args ...any) error {
	return v.send(v.ctx, statementOf(sql, check, args))
}

// EachInIndex reads an index of the queue, or another if that does not exist.
func (v verified) EachInIndex(index storekit.Index, check func(storekit.Row) error) (exists bool, err error) {
	sql := sqlVerifyQueue
	if index == storekit.ClaimIndex {
		sql = sqlVerifyClaim
	}
	return true, v.send(v.ctx, statement{sql: sqlIndexScansOnly}, statementOf(sql, check, nil))
}

// EachWrongAuditID reads nothing: every value of the type uuid has 16 bytes.
func (verified) EachWrongAuditID(func(storekit.Row) error) error { return nil }

// Damage describes a damaged table or index.
func (v verified) Damage(err error) (database, detail string) {
	switch stateOf(err) {
	case "XX001", "XX002":
		return "database", err.Error()
	}
	return "", ""
}
