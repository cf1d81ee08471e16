package postgres

import "github.com/rotajobs/rota/internal/rules"

// Jobs that other transactions have locked are skipped: the other transaction handles them, or the
// next call does.
const (
	sqlDue = `
SELECT ` + leanColumns + rowVersion + `
FROM rota_jobs j
WHERE j.status = 'QUEUED' AND j.hold & 1 <> 0 AND j.run_at <= $1
ORDER BY j.run_at, j.id
LIMIT $2
FOR UPDATE SKIP LOCKED`
	sqlStale = `
SELECT ` + leanColumns + rowVersion + `
FROM rota_jobs j
WHERE j.status = 'RUNNING' AND j.sequel IS NULL AND j.outcome IS NULL
  AND ((j.stale_after < $1 AND j.life IS DISTINCT FROM $2) OR j.stale_after > $3)
ORDER BY j.stale_after, j.id
LIMIT $4
FOR UPDATE SKIP LOCKED`
	// Sorted by the bytes of the id: for ORDER BY id the planner may scan all jobs in that order to
	// find the few that run.
	sqlUnsettled = `
SELECT ` + leanColumns + rowVersion + `
FROM rota_jobs j
WHERE j.status = 'RUNNING' AND j.sequel IS NULL
  AND (j.runner IS NULL OR j.outcome IS NOT NULL OR (j.runner = $1 AND j.life IS NOT NULL AND j.life <> $2))
ORDER BY uuid_send(j.id)
LIMIT $3
FOR UPDATE SKIP LOCKED`
)

func (t *tx) loadDue(q *rules.Due, u *rules.UnitOfWork) statement {
	t.locks.holdsRows = true
	return statement{sql: sqlDue, params: []param{intParam(q.Now.UnixMicro()), intParam(int64(q.Limit))}, eachRow: func(r row) error {
		u.PutDue(t.scanJob(r))
		return nil
	}}
}

// loadStale reads every open run. There are never more of them than slots, and an index on
// stale_after would have to be updated by each heartbeat.
func (t *tx) loadStale(q *rules.Stale, u *rules.UnitOfWork) statement {
	t.locks.holdsRows = true
	except := param{oidID, q.Except[:]} // no run has the zero incarnation
	return statement{sql: sqlStale, params: []param{
		intParam(q.Before.UnixMicro()), except, intParam(q.Ahead.UnixMicro()), intParam(int64(q.Limit)),
	}, eachRow: func(r row) error {
		u.PutStale(t.scanJob(r))
		return nil
	}}
}

func (t *tx) loadUnsettled(q *rules.Unsettled, u *rules.UnitOfWork) statement {
	t.locks.holdsRows = true
	return statement{sql: sqlUnsettled, params: []param{textNotNull(q.Runner), {oidID, q.Incarnation[:]}, intParam(int64(q.Limit))}, eachRow: func(r row) error {
		u.PutUnsettled(t.scanJob(r))
		return nil
	}}
}
