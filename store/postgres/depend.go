package postgres

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	sqlInsertEdges = `
INSERT INTO rota_edges (schedule, depends_on)
SELECT $1, v.name
FROM unnest($2) AS v (name)`
	sqlDeleteEdges = `
DELETE FROM rota_edges
WHERE schedule = $1 AND depends_on = ANY ($2)`
	sqlDependents = `
SELECT schedule
FROM rota_edges
WHERE depends_on = $1
ORDER BY schedule
LIMIT $2`
	sqlReach = `
WITH RECURSIVE reach (name) AS (
  SELECT $1 COLLATE "C"
  UNION
  SELECT e.depends_on
  FROM reach
  JOIN rota_edges e ON e.schedule = reach.name
)
SELECT e.schedule, e.depends_on
FROM reach
JOIN rota_edges e ON e.schedule = reach.name
ORDER BY e.schedule, e.depends_on`
)

// writeEdges inserts and deletes the edges that differ.
func writeEdges(schedule string, was, is []string) (statements []statement) {
	edit := func(sql string, all, but []string) {
		names := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(but, name) })
		if len(names) > 0 {
			statements = append(statements, statement{sql: sql, params: []param{textNotNull(schedule), textsParam(names)}})
		}
	}
	edit(sqlDeleteEdges, was, is)
	edit(sqlInsertEdges, is, was)
	return statements
}

func (t *tx) loadDependents(q rules.Dependents, u *rules.UnitOfWork) statement {
	return statement{sql: sqlDependents, params: []param{textNotNull(q.Schedule), intParam(rota.DependentsMax + 1)}, eachRow: func(r row) error {
		rules.Append(rules.DependentsOf, u, q, r.Text(0))
		return nil
	}}
}

func (t *tx) loadReach(q rules.Reach, u *rules.UnitOfWork) statement {
	return statement{sql: sqlReach, params: []param{textNotNull(q.Schedule)}, eachRow: func(r row) error {
		u.PutEdge(r.Text(0), r.Text(1))
		return nil
	}}
}

const (
	sqlLatest = `
SELECT id
FROM rota_jobs
WHERE schedule = $1 AND coalesce(scope_kind, '') = $2 AND coalesce(scope_id, '') = $3
  AND counts_at > $4 AND counts_at <= $5 AND retry_of IS NULL
ORDER BY counts_at DESC, id DESC
LIMIT 1`
	sqlBlocked = selectLive + queuedColumns + fromLive + `few.status = 'QUEUED' AND few.hold & 4 <> 0
  AND ($5 OR few.scope_kind IS NULL OR (few.scope_kind = $3 AND few.scope_id = $4))` + firstByID
	sqlOverlapWaiting = selectLive + queuedColumns + fromLive + `few.status = 'QUEUED' AND few.hold & 8 <> 0` + firstByID
	sqlExpiredWaits   = `
SELECT ` + queuedColumns + rowVersion + `
FROM rota_jobs j
WHERE j.status = 'QUEUED' AND j.hold & 4 <> 0 AND j.wait_until <= $1
ORDER BY j.wait_until, j.id
LIMIT $2`
)

func (t *tx) loadLatest(q rules.Latest, u *rules.UnitOfWork) statement {
	return statement{sql: sqlLatest, params: latestParams(q), eachRow: func(r row) error {
		rules.LatestJobs.Put(u, q, r.ID(0))
		return nil
	}}
}

func latestParams(q rules.Latest) []param {
	return append(scopeParams(q.Schedule, q.Scope), intParam(q.After), intParam(q.Until))
}

func (t *tx) loadBlocked(q rules.Blocked, u *rules.UnitOfWork) statement {
	params := []param{
		textNotNull(q.Schedule), intParam(rota.DependentsMax), textNotNull(q.Scope.Kind), textNotNull(q.Scope.ID), boolParam(q.Every),
	}
	return statement{sql: sqlBlocked, params: params, eachRow: func(r row) error {
		rules.AppendJob(rules.BlockedJobs, u, q, t.scanJob(r))
		return nil
	}}
}

func (t *tx) loadOverlapWaiting(q rules.OverlapWaiting, u *rules.UnitOfWork) statement {
	return statement{sql: sqlOverlapWaiting, params: []param{textNotNull(q.Schedule), intParam(rota.DependentsMax)}, eachRow: func(r row) error {
		rules.AppendJob(rules.WaitingJobs, u, q, t.scanJob(r))
		return nil
	}}
}

func (t *tx) loadExpiredWaits(q rules.ExpiredWaits, u *rules.UnitOfWork) statement {
	return statement{sql: sqlExpiredWaits, params: []param{intParam(q.Now), intParam(int64(q.Limit))}, eachRow: func(r row) error {
		rules.AppendJob(rules.LateWaits, u, q, t.scanJob(r))
		return nil
	}}
}
