package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

var (
	// Version 0 stands for a job that this transaction has inserted.
	sqlDeleteJobs = `
WITH gone AS (
  DELETE FROM rota_jobs j
  USING unnest($1, $2) AS v (id, version_seen)
  WHERE j.id = v.id AND (j.xmin = v.version_seen OR v.version_seen = '0'::xid)
  RETURNING 1
)
SELECT rota_expect(count(*), $3, $3)
FROM gone`

	// One row for each execution: the id of its first attempt and the state of its last. Most
	// executions have one attempt.
	firstAttempts = `
SELECT first.id, ` + storekit.AttemptJob + `
FROM (
  SELECT f.id, f.sequel
  FROM rota_jobs f
  WHERE f.retry_of IS NULL AND f.id `
	lastAttempts = `
) first
CROSS JOIN LATERAL (
  WITH RECURSIVE chain (id, sequel, n) AS (
    SELECT first.id, first.sequel, 1
    UNION ALL
    SELECT a.id, a.sequel, chain.n + 1
    FROM chain
    JOIN rota_jobs a ON a.retry_of = chain.id
    WHERE chain.sequel = 'retry'
  )
  SELECT chain.id
  FROM chain
  ORDER BY chain.n DESC
  LIMIT 1
) last
JOIN rota_jobs j ON j.id = last.id
ORDER BY first.id`
	sqlOldest = firstAttempts + `> $1 AND f.id <= $3
  ORDER BY f.id
  LIMIT $2` + lastAttempts
	sqlLatestFirst = firstAttempts + `< $1
  ORDER BY f.id DESC
  LIMIT $2` + lastAttempts + ` DESC`
)

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
