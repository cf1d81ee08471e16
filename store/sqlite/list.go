package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// Jobs are listed by id. Most filters are checked row by row. For a group, dead letters and a
// schedule there are indexes, of which the most selective is read. The members of a group are few
// enough to be sorted, by id only. Internal types are excluded unless the query names one.
const (
	selectFull = `
SELECT ` + fullColumns
	whereFilters = `
WHERE j.id < ?1 AND j.id > ?10 AND (?3 IS NULL OR j.status = ?3) AND CASE WHEN ?4 IS NULL THEN ` + notInternal + ` ELSE j.type = ?4 END AND (?5 IS NULL OR j.template = ?5)
  AND (?9 IS NULL OR j.sequel IS NOT 'retry')
  AND (?8 IS NULL OR ?8 = CASE j.status
    WHEN 'QUEUED' THEN CASE WHEN j.hold & 1 THEN 'scheduled' WHEN j.hold THEN 'blocked' ELSE 'queued' END
    WHEN 'CANCELLED' THEN 'cancelled'
    ELSE coalesce(lower(j.outcome), 'running') END)` + notDropped
	notInternal = `(j.type < 'rota.' OR j.type >= 'rota/')`
	// A dead letter is hidden while a redrive of it exists that was not cancelled.
	andDead = ` AND` + isDead
	isDead  = ` j.sequel = 'dead' AND NOT EXISTS (
    WITH RECURSIVE chain (id) AS (
      SELECT a.id
      FROM rota_jobs a INDEXED BY rota_jobs_redrive
      WHERE a.redrive_of = coalesce(j.execution_id, j.id)
      UNION ALL
      SELECT n.id
      FROM chain JOIN rota_jobs n ON n.retry_of = chain.id
    )
    SELECT 1
    FROM chain
    JOIN rota_jobs t ON t.id = chain.id
    WHERE t.sequel IS NOT 'retry' AND t.status <> 'CANCELLED' AND t.outcome IS NOT 'CANCELLED')`
	newestFirst = `
ORDER BY j.id DESC
LIMIT +?2`

	sqlList = selectFull + `
FROM rota_jobs j` + whereFilters + newestFirst
	sqlListSchedule = selectFull + `
FROM rota_jobs j INDEXED BY rota_jobs_schedule` + whereFilters + ` AND j.schedule = ?6` + newestFirst
	sqlListDead = selectFull + `
FROM rota_jobs j INDEXED BY rota_jobs_dead` + whereFilters + andDead + ` AND (?6 IS NULL OR j.schedule = ?6)` + newestFirst
	sqlListGroup = selectFull + `
FROM (
  SELECT j.id
  FROM rota_jobs j INDEXED BY rota_jobs_group` + whereFilters + ` AND j.group_id = ?7 AND (?6 IS NULL OR j.schedule = ?6)` + newestFirst + `
) one
JOIN rota_jobs j ON j.id = one.id
ORDER BY j.id DESC`
	// Live jobs are read by partial indexes that hold nothing else, however many jobs have ended,
	// and then sorted. Only a schedule is more selective.
	selectLive = selectFull + `
FROM (
  SELECT j.id
  FROM rota_jobs j INDEXED BY `
	liveNewestFirst = newestFirst + `
) one
JOIN rota_jobs j ON j.id = one.id
ORDER BY j.id DESC`
	andType     = ` AND j.id < ?1 AND j.id > ?10 AND CASE WHEN ?4 IS NULL THEN ` + notInternal + ` ELSE j.type = ?4 END`
	andTemplate = ` AND j.template = ?5`

	sqlListReady = selectLive + `rota_jobs_claim
WHERE j.status = 'QUEUED' AND j.hold = 0` + andType + liveNewestFirst
	sqlListReadyOf = selectLive + `rota_jobs_claim
WHERE j.status = 'QUEUED' AND j.hold = 0` + andType + andTemplate + liveNewestFirst
	sqlListHeld = selectLive + `rota_jobs_held
WHERE j.status = 'QUEUED' AND j.hold <> 0 AND j.hold & 1 = (?8 = 'scheduled')` + andType + liveNewestFirst
	sqlListHeldOf = selectLive + `rota_jobs_held
WHERE j.status = 'QUEUED' AND j.hold <> 0 AND j.hold & 1 = (?8 = 'scheduled')` + andType + andTemplate + liveNewestFirst
	sqlListOpen = selectLive + `rota_jobs_open` + whereFilters + ` AND j.status = 'RUNNING' AND j.sequel IS NULL` + liveNewestFirst
	sqlListLive = selectLive + `rota_jobs_live` + whereFilters + ` AND j.schedule = ?6 AND j.sequel IS NULL` + liveNewestFirst

	sqlListGroupDead = selectFull + `
FROM (
  SELECT j.id
  FROM rota_jobs j INDEXED BY rota_jobs_group` + whereFilters + andDead + ` AND j.group_id = ?7 AND (?6 IS NULL OR j.schedule = ?6)` + newestFirst + `
) one
JOIN rota_jobs j ON j.id = one.id
ORDER BY j.id DESC`
)

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
	return s.list(ctx, listStatement(&q), func(stmt *sqlite.Stmt) { bindJobs(stmt, &q, limit) })
}

// bindJobs binds the filters of a query to the parameters that a statement has.
func bindJobs(stmt *sqlite.Stmt, q *rota.JobQuery, limit int64) {
	known := stmt.BindParamCount()
	text := func(param int, text string) {
		if param <= known {
			bindText(stmt, param, text)
		}
	}
	if known >= 1 {
		bindBefore(stmt, 1, q.Before)
	}
	if known >= 2 {
		stmt.BindInt64(2, limit)
	}
	text(3, string(q.Status))
	text(4, q.Type)
	text(5, q.Template)
	text(6, q.Schedule)
	if known >= 7 {
		bindID(stmt, 7, q.GroupID)
	}
	text(8, string(q.State))
	if known >= 9 && q.Tails { // live jobs have no retry, so it does not affect them
		stmt.BindInt64(9, 1)
	}
	if known >= 10 {
		stmt.BindBytes(10, q.After[:]) // the zero id is before all
	}
}

// listStatement returns the statement for a query: by its filters, in reverse order for oldest
// first, and without the documents for a lean list. SQLite reads an index in either direction.
func listStatement(q *rota.JobQuery) string { return withListOptions(listSQL(q), q) }

func withListOptions(sql string, q *rota.JobQuery) string {
	if q.Oldest {
		sql = strings.ReplaceAll(sql, "ORDER BY j.id DESC", "ORDER BY j.id")
	}
	if q.Lean {
		sql = strings.Replace(sql, fullColumns, columnsWithoutDocuments, 1)
	}
	return sql
}

func listSQL(q *rota.JobQuery) string {
	switch {
	case !q.GroupID.IsZero() && q.Dead:
		return sqlListGroupDead
	case !q.GroupID.IsZero():
		return sqlListGroup
	case q.Dead:
		return sqlListDead
	case liveStatusOf[q.State] != "":
		return listLiveSQL(q)
	case q.Schedule != "":
		return sqlListSchedule
	}
	return sqlList
}

// liveStatusOf is the status of each state of jobs that have not ended.
var liveStatusOf = map[rota.State]rota.Status{
	rota.StateQueued: rota.StatusQueued, rota.StateScheduled: rota.StatusQueued, rota.StateBlocked: rota.StatusQueued,
	rota.StateRunning: rota.StatusRunning,
}

func listLiveSQL(q *rota.JobQuery) string {
	switch {
	case q.Schedule != "":
		return sqlListLive
	case q.State == rota.StateRunning:
		return sqlListOpen
	case q.State == rota.StateQueued && q.Template != "":
		return sqlListReadyOf
	case q.State == rota.StateQueued:
		return sqlListReady
	case q.Template != "":
		return sqlListHeldOf
	}
	return sqlListHeld
}

// bindBefore binds the upper bound of a page; a zero id means no bound.
func bindBefore(s *sqlite.Stmt, param int, before rota.ID) {
	if before.IsZero() {
		before = rota.ID(slices.Repeat([]byte{0xff}, len(before)))
	}
	s.BindBytes(param, before[:])
}
