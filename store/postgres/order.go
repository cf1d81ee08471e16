package postgres

import (
	"maps"
	"slices"

	"github.com/rotajobs/rota/internal/rules"
)

// status LIKE 'QUEUED' instead of = restricts the planner to jobs_order, the index of the whole
// queue.
var (
	sqlTails = `
SELECT v.priority, c.id, c.position
FROM unnest($1) AS v (priority)
CROSS JOIN LATERAL (
  SELECT j.id, j.position
  FROM rota_jobs j
  WHERE j.status LIKE 'QUEUED' AND j.priority = v.priority
  ORDER BY j.priority, j.position DESC
  LIMIT $2) c`
	sqlLowerPriority = `
SELECT priority
FROM rota_jobs
WHERE status LIKE 'QUEUED' AND priority < $1
ORDER BY priority DESC
LIMIT 1`
	fromPlace = `
WITH place AS (
  SELECT coalesce(max(position), $4) AS position, coalesce(max(created_at), $4) AS created_at
  FROM rota_jobs
  WHERE id = $2)
SELECT ` + leanColumns + rowVersion + `
FROM rota_jobs j, place p
WHERE j.status LIKE 'QUEUED' AND j.priority = $1 AND (j.position, j.created_at, j.id)`
	sqlOrderAhead = fromPlace + ` > (p.position, p.created_at, $2)
ORDER BY j.position, j.created_at, j.id
LIMIT $3`
	sqlOrderBack = fromPlace + ` < (p.position, p.created_at, $2)
ORDER BY j.position DESC, j.created_at DESC, j.id DESC
LIMIT $3`
)

// loadTails reads the last jobs of priorities.
func (t *tx) loadTails(tails []rules.Tail, u *rules.UnitOfWork) (statements []statement) {
	byCount := map[int][]int{}
	for _, q := range tails {
		byCount[q.Count] = append(byCount[q.Count], q.Priority)
	}
	for _, count := range slices.Sorted(maps.Keys(byCount)) {
		if !t.assumeEmpty(byCount[count]) {
			statements = append(statements, t.tailsStatement(byCount[count], count, u))
		}
	}
	return statements
}

func (t *tx) tailsStatement(priorities []int, count int, u *rules.UnitOfWork) statement {
	found := map[int]bool{}
	return statement{sql: sqlTails, params: []param{intsParam(priorities), intParam(int64(count))}, eachRow: func(r row) error {
		priority := int(r.Int(0))
		found[priority] = true
		rules.Append(rules.Tails, u, rules.Tail{Priority: priority, Count: count}, rules.LastJob{ID: r.ID(1), Position: r.Int(2)})
		return nil
	}, afterRows: func() {
		for _, p := range priorities {
			t.store.idlePath.observeTail(p, !found[p])
		}
	}}
}

// Positions beyond all jobs.
const (
	placeFirst = -1 << 63
	placeLast  = 1<<63 - 1
)

// loadOrder reads a page of the order in one direction, from a job or from the end.
func (t *tx) loadOrder(p rules.OrderPage, u *rules.UnitOfWork) statement {
	sql, beyond := sqlOrderAhead, int64(placeFirst)
	if p.Back {
		sql, beyond = sqlOrderBack, placeLast
	}
	return statement{sql: sql, params: []param{
		intParam(int64(p.Priority)), {oidID, p.From[:]}, intParam(int64(p.Limit)), intParam(beyond),
	}, eachRow: func(r row) error {
		rules.AppendJob(rules.OrderPages, u, p, t.scanJob(r))
		return nil
	}}
}

// loadLowerPriority reads the next lower priority that has QUEUED jobs.
func (t *tx) loadLowerPriority(priority int, u *rules.UnitOfWork) statement {
	return statement{sql: sqlLowerPriority, params: []param{intParam(int64(priority))}, eachRow: func(r row) error {
		rules.LowerPriorities.Put(u, priority, new(int(r.Int(0))))
		return nil
	}}
}
