package postgres

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	// A trigger numbers the entries at the commit, in the order of their insertion.
	sqlInsertAudit = `
INSERT INTO rota_audit (id, at, actor, act, job_id, subject, detail)
SELECT v.id, v.at, v.actor, v.act, v.job_id, v.subject, v.detail
FROM unnest($1, $2, $3, $4, $5, $6, $7) WITH ORDINALITY AS v (id, at, actor, act, job_id, subject, detail, n)
ORDER BY v.n
ON CONFLICT (id) DO NOTHING`
	sqlAudits = `
SELECT id
FROM rota_audit
WHERE id = ANY ($1)`
	sqlAuditAfter = `
SELECT seq, id, at, actor, act, job_id, subject, detail
FROM rota_audit
WHERE seq > $1
ORDER BY seq
LIMIT $2`
)

// writeAudit writes each entry once: a repeated command may produce the same entry again.
func (t *tx) writeAudit(entries []rota.AuditEntry) {
	if len(entries) == 0 {
		return
	}
	ids, at := newColumn(oidIDs, len(entries)), newColumn(oidInts, len(entries))
	actors, acts := newColumn(oidTexts, len(entries)), newColumn(oidTexts, len(entries))
	jobs := newColumn(oidIDs, len(entries))
	subjects, details := newColumn(oidTexts, len(entries)), newColumn(oidTexts, len(entries))
	for i := range entries {
		e := &entries[i]
		ids.bytes(e.ID[:])
		at.time(e.At)
		actors.text(e.Actor)
		acts.textNotNull(e.Act)
		jobs.id(e.JobID)
		subjects.text(e.Subject)
		details.text(e.Detail)
	}
	t.write(statement{sql: sqlInsertAudit, params: paramsOf([]*column{ids, at, actors, acts, jobs, subjects, details})})
}

func (t *tx) loadAudits(ids []rota.ID, u *rules.UnitOfWork) []statement {
	if len(ids) == 0 {
		return nil
	}
	return []statement{{sql: sqlAudits, params: []param{idsParam(ids)}, eachRow: func(r row) error {
		rules.Audits.Put(u, r.ID(0), true)
		return nil
	}}}
}

// Audit lists audit entries in the order of their numbers.
func (s *reader) Audit(ctx context.Context, after int64, limit int) (entries []rota.AuditEntry, err error) {
	most, err := pageLimit(limit)
	if err != nil {
		return nil, err
	}
	err = s.query(ctx, "audit", statement{sql: sqlAuditAfter, params: []param{intParam(after), intParam(most)}, eachRow: func(r row) error {
		entries = append(entries, rota.AuditEntry{
			Seq: r.Int(0), ID: r.ID(1), At: r.Time(2), Actor: r.Text(3),
			Act: r.Text(4), JobID: r.ID(5), Subject: r.Text(6), Detail: r.Text(7),
		})
		return nil
	}})
	return entries, err
}
