package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
)

// Jobs are listed by id. A statement contains only the requested filters, so that the planner finds
// the index that fits. Dead letters and schedules have indexes in this order; the other filters are
// checked on the way. Internal types are excluded unless the query names one.
const (
	sqlList = `
SELECT ` + fullColumns + `
FROM rota_jobs j
WHERE `
	newestFirst = `
ORDER BY j.id DESC
LIMIT $2`

	// Live jobs and group members have partial indexes in another order. OFFSET 0 forces the
	// planner to read those and to sort the ids. It may otherwise prefer to scan from the newest
	// job, and reads everything if few jobs match.
	sqlListFew = `
SELECT ` + fullColumns + `
FROM (
  SELECT few.id
  FROM (
    SELECT j.id
    FROM rota_jobs j
    WHERE `
	fewNewest = `
    OFFSET 0
  ) few
  ORDER BY few.id DESC
  LIMIT $2
) page
JOIN rota_jobs j ON j.id = page.id
ORDER BY j.id DESC`

	notInternal = `(j.type < 'rota.' OR j.type >= 'rota/')`
	notRetried  = `j.sequel IS DISTINCT FROM 'retry'`
	// A dead letter is handled while a redrive exists that was not cancelled, which mostly shows in
	// the redrive's first attempt. OFFSET 0 has it looked up for each dead letter on its own.
	isDead = `j.sequel = 'dead' AND NOT EXISTS (
  SELECT
  FROM rota_jobs a
  WHERE a.redrive_of = coalesce(j.execution_id, j.id) AND CASE a.sequel
    WHEN 'retry' THEN EXISTS (
      WITH RECURSIVE chain (id, sequel, status, outcome) AS (
        SELECT a.id, a.sequel, a.status, a.outcome
        UNION ALL
        SELECT n.id, n.sequel, n.status, n.outcome
        FROM chain
        JOIN rota_jobs n ON n.retry_of = chain.id
        WHERE chain.sequel = 'retry'
      )
      SELECT
      FROM chain
      WHERE sequel IS DISTINCT FROM 'retry' AND status <> 'CANCELLED' AND outcome IS DISTINCT FROM 'CANCELLED')
    ELSE a.status <> 'CANCELLED' AND a.outcome IS DISTINCT FROM 'CANCELLED' END
  OFFSET 0)`
)

// stateSQL holds the condition of each state.
var stateSQL = map[rota.State]string{
	rota.StateQueued:    `j.status = 'QUEUED' AND j.hold = 0`,
	rota.StateScheduled: `j.status = 'QUEUED' AND j.hold <> 0 AND j.hold & 1 <> 0`,
	rota.StateBlocked:   `j.status = 'QUEUED' AND j.hold <> 0 AND j.hold & 1 = 0`,
	rota.StateRunning:   `j.status = 'RUNNING' AND j.sequel IS NULL AND j.outcome IS NULL`,
	rota.StateCompleted: `j.outcome = 'COMPLETED'`,
	rota.StateFailed:    `j.outcome = 'FAILED'`,
	rota.StateSkipped:   `j.outcome = 'SKIPPED'`,
	rota.StateCancelled: `(j.status = 'CANCELLED' OR j.outcome = 'CANCELLED')`,
}

// liveStatusOf is the status of each state of jobs that have not ended.
var liveStatusOf = map[rota.State]rota.Status{
	rota.StateQueued: rota.StatusQueued, rota.StateScheduled: rota.StatusQueued, rota.StateBlocked: rota.StatusQueued,
	rota.StateRunning: rota.StatusRunning,
}

// Jobs lists jobs by id.
func (s *reader) Jobs(ctx context.Context, q rota.JobQuery) ([]*rota.Job, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	limit, err := pageLimit(q.Limit)
	if err != nil {
		return nil, err
	}
	if one := liveStatusOf[q.State]; one != "" && q.Status != "" && q.Status != one {
		return nil, nil
	}
	l := &listing{params: []param{beforeParam(q.Before), intParam(limit)}}
	l.addFilters(&q)
	if liveStatusOf[q.State] == "" { // live jobs are never hidden
		l.conditions = append(l.conditions, notDropped)
	}
	var jobs []*rota.Job
	err = s.query(ctx, "list", withoutJIT, statement{sql: l.sql(&q), params: l.params, eachRow: appendJobs(&jobs)})
	if err != nil {
		return nil, err
	}
	return jobs, nil
}

// listing is a list statement in the making.
type listing struct {
	conditions []string
	params     []param
}

// addFilters adds the conditions of the query.
func (l *listing) addFilters(q *rota.JobQuery) {
	l.conditions = append(l.conditions, `j.id < $1`)
	if !q.After.IsZero() {
		l.where(`j.id > `, idParam(q.After))
	}
	switch {
	case q.Type != "":
		l.equals(`j.type`, textParam(q.Type))
	default:
		l.conditions = append(l.conditions, notInternal)
	}
	if q.Status != "" && liveStatusOf[q.State] == "" {
		l.equals(`j.status`, textParam(string(q.Status)))
	}
	if q.State != "" {
		l.conditions = append(l.conditions, stateSQL[q.State])
	}
	if q.Template != "" {
		l.equals(`j.template`, textParam(q.Template))
	}
	if q.Schedule != "" {
		l.equals(`j.schedule`, textParam(q.Schedule))
	}
	if q.Schedule != "" && liveStatusOf[q.State] != "" { // lets the planner use the index of live jobs
		l.conditions = append(l.conditions, `j.sequel IS NULL`)
	}
	if !q.GroupID.IsZero() {
		l.equals(`j.group_id`, idParam(q.GroupID))
	}
	if q.Tails && liveStatusOf[q.State] == "" { // live jobs have no retry
		l.conditions = append(l.conditions, notRetried)
	}
	if q.Dead {
		l.conditions = append(l.conditions, isDead)
	}
}

func (l *listing) equals(column string, p param) { l.where(column+` = `, p) }

func (l *listing) where(compared string, p param) {
	l.params = append(l.params, p)
	l.conditions = append(l.conditions, compared+`$`+itoa(len(l.params)))
}

// sql returns the statement: oldest first if requested, and without the documents if the query is
// lean.
func (l *listing) sql(q *rota.JobQuery) string {
	list, order := sqlList, newestFirst
	if liveStatusOf[q.State] != "" || !q.GroupID.IsZero() {
		list, order = sqlListFew, fewNewest
	}
	if q.Oldest {
		order = strings.ReplaceAll(order, ".id DESC", ".id")
	}
	if q.Lean {
		list = strings.Replace(list, fullColumns, listColumns, 1)
	}
	return list + strings.Join(l.conditions, ` AND `) + order
}

// beforeParam is the id that the listed ids must be below; zero is above all ids.
func beforeParam(before rota.ID) param {
	if before.IsZero() {
		before = rota.ID(slices.Repeat([]byte{0xff}, len(before)))
	}
	return idParam(before)
}
