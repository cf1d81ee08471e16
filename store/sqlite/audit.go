package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

const (
	sqlInsertAudit = `
INSERT INTO rota_audit (seq, id, at, actor, act, job_id, subject, detail, schedule, execution_id, run_id, outcome, changes)
SELECT (SELECT coalesce(max(seq), 0) + 1 FROM rota_audit), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
WHERE NOT EXISTS (SELECT 1 FROM rota_audit WHERE id = $1)`
	sqlAuditGet = `
SELECT 1
FROM rota_audit
WHERE id = $1`
	sqlDeleteAudit = `
DELETE FROM rota_audit
WHERE id = $1`
)

// writeAudit writes each entry once: a repeated command may produce the same entry again. An entry that was
// written is sealed at the end of the transaction.
func (w *writer) writeAudit(e rota.AuditEntry) error {
	err := w.change(sqlInsertAudit, storekit.Audit.InsertArgs(&e)...)
	if err == nil && w.changed() > 0 {
		w.audit = append(w.audit, e)
	}
	return err
}

func (w *writer) loadAudit(id rota.ID, u *rules.UnitOfWork) error {
	return w.Read(sqlAuditGet, func(storekit.Row) error {
		rules.Audits.Put(u, id, true)
		return nil
	}, id)
}
