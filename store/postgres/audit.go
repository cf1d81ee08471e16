package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

const (
	// A repeated command may produce the same entry again.
	sqlInsertAudit = `
INSERT INTO rota_audit (id, at, actor, act, job_id, subject, detail, schedule, execution_id, run_id, outcome, changes)
SELECT v.id, v.at, v.actor, v.act, v.job_id, v.subject, v.detail, v.schedule, v.execution_id, v.run_id, v.outcome, v.changes
FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) WITH ORDINALITY
  AS v (id, at, actor, act, job_id, subject, detail, schedule, execution_id, run_id, outcome, changes, n)
ORDER BY v.n
ON CONFLICT (id) DO NOTHING`
	sqlAudits = `
SELECT id
FROM rota_audit
WHERE id = ANY ($1)`
)

func (t *tx) writeAudit(entries []rota.AuditEntry) {
	if len(entries) > 0 {
		t.write(statement{sql: sqlInsertAudit, params: columnsOf(storekit.Audit.Inserted(), entries)})
	}
}

func (t *tx) loadAudits(ids []rota.ID, u *rules.UnitOfWork) []statement {
	return []statement{{sql: sqlAudits, params: []param{idsParam(ids)}, eachRow: func(r row) error {
		rules.Audits.Put(u, r.ID(0), true)
		return nil
	}}}
}
