package sqlite

import (
	"context"
	"iter"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

const (
	sqlVerifyParams = `
SELECT p.job_id
FROM rota_params p
WHERE NOT EXISTS (SELECT 1 FROM rota_jobs WHERE id = p.job_id)
ORDER BY p.job_id`
	sqlVerifyAuditIDs = `
SELECT id
FROM rota_audit
WHERE length(id) <> 16`
	sqlVerifyQueue = `
SELECT '', priority, position, created_at, id
FROM rota_jobs INDEXED BY rota_jobs_order
WHERE status = 'QUEUED'
ORDER BY priority DESC, position, created_at, id`
	sqlVerifyClaim = `
SELECT type, priority, position, created_at, id
FROM rota_jobs INDEXED BY rota_jobs_claim
WHERE status = 'QUEUED' AND hold = 0
ORDER BY type, priority DESC, position, created_at, id`
)

// Verify checks every invariant of rota.Checks on one snapshot of the file, while other
// transactions continue to write.
func (s *Store) Verify(ctx context.Context) iter.Seq2[rota.Violation, error] {
	return s.VerifyProgress(ctx, func(rota.Checked) {})
}

// VerifyProgress is Verify with progress reports: it reports how many rows it has checked, at
// intervals and at the end.
func (s *Store) VerifyProgress(ctx context.Context, progress func(rota.Checked)) iter.Seq2[rota.Violation, error] {
	return s.inspect(ctx, progress, (*storekit.Inspection).CheckAll)
}

// verifyOpen checks only jobs that an unclean stop can leave incomplete.
func (s *Store) verifyOpen(ctx context.Context) iter.Seq2[rota.Violation, error] {
	return s.inspect(ctx, func(rota.Checked) {}, func(in *storekit.Inspection) error {
		return in.CheckOpen(indexedBy("rota_jobs_open"))
	})
}

func (s *Store) inspect(
	ctx context.Context, progress func(rota.Checked), check func(*storekit.Inspection) error,
) iter.Seq2[rota.Violation, error] {
	return storekit.Inspect(ctx, progress, func(use func(storekit.Verified) error) error {
		return s.withOwnConn(ctx, "verify", func(conn *sqlite.Conn) error { return use(verified{conn}) })
	}, check)
}

// verified is a connection that Verify reads.
type verified struct{ conn *sqlite.Conn }

// Each executes a query and resets its statement, also if the caller's loop ends by a panic.
func (v verified) Each(sql string, check func(storekit.Row) error, args ...any) error {
	stmt, err := v.conn.Prepare(rewrite(sql))
	if err != nil {
		return err
	}
	defer stmt.Reset()
	if err := bind(stmt, sql, args); err != nil {
		return err
	}
	return rows(stmt, check)
}

// EachInIndex reads an index of the queue.
func (v verified) EachInIndex(index storekit.Index, check func(storekit.Row) error) (exists bool, err error) {
	sql := sqlVerifyQueue
	if index == storekit.ClaimIndex {
		sql = sqlVerifyClaim
	}
	if _, err := v.conn.Prepare(sql); err != nil {
		return false, nil
	}
	return true, v.Each(sql, check)
}

// EachWrongAuditID reads the audit ids that do not have 16 bytes.
func (v verified) EachWrongAuditID(check func(storekit.Row) error) error {
	return v.Each(sqlVerifyAuditIDs, check)
}

// Damage describes a damaged file.
func (v verified) Damage(err error) (database, detail string) {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return "file", err.Error()
	}
	return "", ""
}

// CheckDatabase checks the file, its schema, and the params that have a table of their own.
func (v verified) CheckDatabase(report func(rota.Violation)) error {
	return firstError(
		func() error { return v.checkIntegrity(report) },
		func() error { return v.checkSchema(report) },
		func() error { return v.checkParams(report) },
	)
}

func (v verified) checkParams(report func(rota.Violation)) error {
	return v.Each(sqlVerifyParams, func(r storekit.Row) error {
		report(rota.Violation{
			Check: rota.CheckOrphanParams, Rows: []string{"params of job " + r.ID(0).String()}, Detail: "there is no such job",
		})
		return nil
	})
}
