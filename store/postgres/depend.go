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

// writeEdges makes and removes the edges that differ.
func writeEdges(schedule string, was, is []string) (asks []ask) {
	edit := func(sql string, all, but []string) {
		names := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(but, name) })
		if len(names) > 0 {
			asks = append(asks, ask{sql: sql, params: []param{textAlways(schedule), textsParam(names)}})
		}
	}
	edit(sqlDeleteEdges, was, is)
	edit(sqlInsertEdges, is, was)
	return asks
}

func (t *tx) loadDependents(q rules.Dependents, w *rules.UnitOfWork) ask {
	return ask{sql: sqlDependents, params: []param{textAlways(q.Schedule), intParam(rota.DependentsMax + 1)}, each: func(r row) error {
		w.PutDependent(q, r.text(0))
		return nil
	}}
}

func (t *tx) loadReach(q rules.Reach, w *rules.UnitOfWork) ask {
	return ask{sql: sqlReach, params: []param{textAlways(q.Schedule)}, each: func(r row) error {
		w.PutEdge(r.text(0), r.text(1))
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
	sqlBlocked = liveFew + queuedColumns + ofSchedule + `few.status = 'QUEUED' AND few.hold & 4 <> 0
  AND ($5 OR few.scope_kind IS NULL OR (few.scope_kind = $3 AND few.scope_id = $4))` + firstFew
	sqlBehind = liveFew + queuedColumns + ofSchedule + `few.status = 'QUEUED' AND few.hold & 8 <> 0` + firstFew
	sqlWaits  = `
SELECT ` + queuedColumns + rowVersion + `
FROM rota_jobs j
WHERE j.status = 'QUEUED' AND j.hold & 4 <> 0 AND j.wait_until <= $1
ORDER BY j.wait_until, j.id
LIMIT $2`
)

func (t *tx) loadLatest(q rules.Latest, w *rules.UnitOfWork) ask {
	return ask{sql: sqlLatest, params: latestParams(q), each: func(r row) error {
		w.PutLatest(q, r.id(0))
		return nil
	}}
}

func latestParams(q rules.Latest) []param {
	return append(scopeParams(q.Schedule, q.Scope), intParam(q.After), intParam(q.Until))
}

func (t *tx) loadBlocked(q rules.Blocked, w *rules.UnitOfWork) ask {
	params := []param{
		textAlways(q.Schedule), intParam(rota.DependentsMax), textAlways(q.Scope.Kind), textAlways(q.Scope.ID), boolParam(q.Every),
	}
	return ask{sql: sqlBlocked, params: params, each: func(r row) error {
		w.PutBlocked(q, t.job(r))
		return nil
	}}
}

func (t *tx) loadBehind(q rules.OverlapWaiting, w *rules.UnitOfWork) ask {
	return ask{sql: sqlBehind, params: []param{textAlways(q.Schedule), intParam(rota.DependentsMax)}, each: func(r row) error {
		w.PutOverlapWaiting(q, t.job(r))
		return nil
	}}
}

func (t *tx) loadWaits(q rules.ExpiredWaits, w *rules.UnitOfWork) ask {
	return ask{sql: sqlWaits, params: []param{intParam(q.Now), intParam(int64(q.Limit))}, each: func(r row) error {
		w.PutExpiredWait(q, t.job(r))
		return nil
	}}
}
