package postgres

import "github.com/rotajobs/rota"

// Version 0 stands for a job that this transaction has inserted.
const sqlDeleteJobs = `
WITH gone AS (
  DELETE FROM rota_jobs j
  USING unnest($1, $2) AS v (id, version_seen)
  WHERE j.id = ANY (ARRAY[v.id]) AND (j.xmin = v.version_seen OR v.version_seen = '0'::xid)
  RETURNING 1
)
SELECT rota_expect(count(*), $3, $3)
FROM gone`

// deleteJobs deletes jobs with their runs and params, each in the version that was read. The
// attempts of an execution may be deleted together, because their constraint is checked at the end
// of the statement.
func (t *tx) deleteJobs(gone []*rota.Job) {
	if len(gone) == 0 {
		return
	}
	ids, versions := newColumn(oidIDs, len(gone)), newColumn(oidXids, len(gone))
	for _, j := range gone {
		ids.bytes(j.ID[:])
		versions.xid(t.readSet.jobs[j.ID])
	}
	t.write(statement{sql: sqlDeleteJobs, params: []param{ids.param(), versions.param(), intParam(int64(len(gone)))}})
}
