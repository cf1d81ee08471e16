package storekit

import (
	"context"

	"github.com/rotajobs/rota"
)

// AuditedJob are the columns of a job that filters of the audit compare, in the order in which
// auditedJob reads them.
const AuditedJob = `j.id, j.type, j.name, j.template, j.schedule, j.unique_key, j.scope_kind, j.scope_id, j.error_code, j.error`

// auditedJob reads the job of a stored entry, which follows the columns of the entry; nil: the entry
// has none, the job is not kept, or the query does not compare it.
func auditedJob(r Row) *rota.Job {
	width := len(Audit.columns)
	if r.Len() == width || r.Null(width) {
		return nil
	}
	r = From(r, width)
	return &rota.Job{
		ID: r.ID(0), Type: r.Text(1), Name: r.Text(2), Template: r.Text(3), Schedule: r.Text(4), UniqueKey: r.Text(5),
		ScopeKind: r.Text(6), ScopeID: r.Text(7), Run: &rota.Run{ErrorCode: r.Text(8), Error: r.Text(9)},
	}
}

// An attempt that was pruned is known by its entries.
const sqlExecutionOf = `
SELECT coalesce(
  (SELECT coalesce(j.execution_id, j.id) FROM rota_jobs j WHERE j.id = $1),
  (SELECT a.execution_id FROM rota_audit a WHERE a.subject = $2 AND a.execution_id IS NOT NULL ORDER BY a.at DESC, a.id DESC LIMIT 1))`

// executionOf returns the execution of an attempt, or the id itself if it is not known.
func (s *Reader) executionOf(ctx context.Context, id rota.ID) (execution rota.ID, err error) {
	execution = id
	err = s.on.Query(ctx, "audit", sqlExecutionOf, func(r Row) error {
		if !r.Null(0) {
			execution = r.ID(0)
		}
		return nil
	}, id, rota.JobSubject(id))
	return execution, err
}
