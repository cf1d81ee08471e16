package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
)

// Jobs are listed by id. A statement has only the filters that are asked for, so
// that PostgreSQL sees which index fits: most filters are looked at on the way;
// dead letters and a schedule have indexes in this order. Internal types are
// passed over unless one is asked for.
const (
	sqlList = `
SELECT ` + wholeColumns + `
FROM rota_jobs j
WHERE `
	newestFirst = `
ORDER BY j.id DESC
LIMIT $2`

	// What lives, and the members of a group, have indexes that hold nothing
	// else, but in another order. OFFSET 0 has all that is picked found there and
	// sorted, without what else is in their rows: to PostgreSQL it may seem less
	// to walk back from the newest until enough have been met, which is everything
	// if few are left.
	sqlListFew = `
SELECT ` + wholeColumns + `
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
	// A dead letter is seen to while something tries it anew that was not called
	// off. What does is mostly its own last attempt. OFFSET 0 has that looked up for
	// each dead letter by itself.
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

// isState says what a job of each state is.
var isState = map[rota.State]string{
	rota.StateQueued:    `j.status = 'QUEUED' AND j.hold = 0`,
	rota.StateScheduled: `j.status = 'QUEUED' AND j.hold <> 0 AND j.hold & 1 <> 0`,
	rota.StateBlocked:   `j.status = 'QUEUED' AND j.hold <> 0 AND j.hold & 1 = 0`,
	rota.StateRunning:   `j.status = 'RUNNING' AND j.sequel IS NULL AND j.outcome IS NULL`,
	rota.StateCompleted: `j.outcome = 'COMPLETED'`,
	rota.StateFailed:    `j.outcome = 'FAILED'`,
	rota.StateSkipped:   `j.outcome = 'SKIPPED'`,
	rota.StateCancelled: `(j.status = 'CANCELLED' OR j.outcome = 'CANCELLED')`,
}

// statusOf is the status of each state that lives.
var statusOf = map[rota.State]rota.Status{
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
	if one := statusOf[q.State]; one != "" && q.Status != "" && q.Status != one {
		return nil, nil
	}
	l := &listing{params: []param{beforeParam(q.Before), intParam(limit)}}
	l.pick(&q)
	if statusOf[q.State] == "" { // what lives is shown
		l.picked = append(l.picked, notDropped)
	}
	var jobs []*rota.Job
	err = s.ask(ctx, "list", uncompiled, ask{sql: l.sql(&q), params: l.params, each: jobsInto(&jobs)})
	if err != nil {
		return nil, err
	}
	return jobs, nil
}

// listing is a statement under way.
type listing struct {
	picked []string
	params []param
}

// pick adds the filters that are asked for.
func (l *listing) pick(q *rota.JobQuery) {
	l.picked = append(l.picked, `j.id < $1`)
	if !q.After.IsZero() {
		l.where(`j.id > `, idParam(q.After))
	}
	switch {
	case q.Type != "":
		l.equals(`j.type`, textParam(q.Type))
	default:
		l.picked = append(l.picked, notInternal)
	}
	if q.Status != "" && statusOf[q.State] == "" {
		l.equals(`j.status`, textParam(string(q.Status)))
	}
	if q.State != "" {
		l.picked = append(l.picked, isState[q.State])
	}
	if q.Template != "" {
		l.equals(`j.template`, textParam(q.Template))
	}
	if q.Schedule != "" {
		l.equals(`j.schedule`, textParam(q.Schedule))
	}
	if q.Schedule != "" && statusOf[q.State] != "" { // by which PostgreSQL sees that the index of what lives fits
		l.picked = append(l.picked, `j.sequel IS NULL`)
	}
	if !q.GroupID.IsZero() {
		l.equals(`j.group_id`, idParam(q.GroupID))
	}
	if q.Tails && statusOf[q.State] == "" { // what lives has not been retried
		l.picked = append(l.picked, notRetried)
	}
	if q.Dead {
		l.picked = append(l.picked, isDead)
	}
}

func (l *listing) equals(column string, p param) { l.where(column+` = `, p) }

func (l *listing) where(compared string, p param) {
	l.params = append(l.params, p)
	l.picked = append(l.picked, compared+`$`+itoa(len(l.params)))
}

// sql is the statement for what was picked, turned round for oldest first, and
// without the documents where those are left out.
func (l *listing) sql(q *rota.JobQuery) string {
	list, order := sqlList, newestFirst
	if statusOf[q.State] != "" || !q.GroupID.IsZero() {
		list, order = sqlListFew, fewNewest
	}
	if q.Oldest {
		order = strings.ReplaceAll(order, ".id DESC", ".id")
	}
	if q.Lean {
		list = strings.Replace(list, wholeColumns, plainColumns, 1)
	}
	return list + strings.Join(l.picked, ` AND `) + order
}

// beforeParam is the id that others are to come before; zero is beyond all.
func beforeParam(before rota.ID) param {
	if before.IsZero() {
		before = rota.ID(slices.Repeat([]byte{0xff}, len(before)))
	}
	return idParam(before)
}
