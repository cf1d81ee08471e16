package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlInsertAudit = `
INSERT OR ROLLBACK INTO rota_audit (seq, id, at, actor, act, job_id, subject, detail)
SELECT (SELECT coalesce(max(seq), 0) + 1 FROM rota_audit), ?1, ?2, ?3, ?4, ?5, ?6, ?7
WHERE NOT EXISTS (SELECT 1 FROM rota_audit WHERE id = ?1)`
	sqlAuditGet = `
SELECT 1
FROM rota_audit
WHERE id = ?`
	sqlAuditAfter = `
SELECT seq, id, at, actor, act, job_id, subject, detail
FROM rota_audit
WHERE seq > ?
ORDER BY seq
LIMIT +?`
)

// writeAudit writes each entry once: a repeated command may produce the same entry again.
func (w *writer) writeAudit(e rota.AuditEntry) error {
	s, err := w.stmt(sqlInsertAudit)
	if err != nil {
		return err
	}
	bindID(s, 1, e.ID)
	bindTime(s, 2, e.At)
	bindText(s, 3, e.Actor)
	s.BindText(4, e.Act)
	bindID(s, 5, e.JobID)
	bindText(s, 6, e.Subject)
	bindText(s, 7, e.Detail)
	return w.write(s)
}

func (w *writer) loadAudit(id rota.ID, u *rules.UnitOfWork) error {
	s, err := w.stmt(sqlAuditGet)
	if err != nil {
		return err
	}
	s.BindBytes(1, id[:])
	return rows(s, func(*sqlite.Stmt) error {
		rules.Audits.Put(u, id, true)
		return nil
	})
}

// Audit lists audit entries in the order of their numbers.
func (s *reader) Audit(ctx context.Context, after int64, limit int) (entries []rota.AuditEntry, err error) {
	most, err := pageLimit(limit)
	if err != nil {
		return nil, err
	}
	err = s.withSnapshot(ctx, "audit", func(conn *sqlite.Conn) error {
		return query(conn, sqlAuditAfter, func(stmt *sqlite.Stmt) {
			stmt.BindInt64(1, after)
			stmt.BindInt64(2, most)
		}, func(stmt *sqlite.Stmt) {
			entries = append(entries, rota.AuditEntry{
				Seq: stmt.ColumnInt64(0), ID: scanID(stmt, 1), At: scanTime(stmt, 2), Actor: stmt.ColumnText(3),
				Act: stmt.ColumnText(4), JobID: scanID(stmt, 5), Subject: stmt.ColumnText(6), Detail: stmt.ColumnText(7),
			})
		})
	})
	return entries, err
}
