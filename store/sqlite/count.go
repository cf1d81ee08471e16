package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// Jobs are counted in parts, each by a partial index that holds only that part. Most jobs of a
// store have ended; see count_ended.go.
const (
	selectCount = `
SELECT count(*)
FROM rota_jobs j`
	selectCountIndexed = selectCount + ` INDEXED BY `

	sqlCount         = selectCount + whereFilters
	sqlCountSchedule = selectCountIndexed + `rota_jobs_schedule` + whereFilters + ` AND j.schedule = ?6`
	sqlCountDead     = selectCountIndexed + `rota_jobs_dead` + whereFilters + andDead + ` AND (?6 IS NULL OR j.schedule = ?6)`
	sqlCountGroup    = selectCountIndexed + `rota_jobs_group` + whereFilters + ` AND j.group_id = ?7 AND (?6 IS NULL OR j.schedule = ?6)`

	sqlCountGroupDead = sqlCountGroup + andDead

	sqlCountReady = selectCountIndexed + `rota_jobs_claim
WHERE j.status = 'QUEUED' AND j.hold = 0` + andType
	sqlCountHeld = selectCountIndexed + `rota_jobs_held
WHERE j.status = 'QUEUED' AND j.hold <> 0` + andType
	sqlCountOpen = selectCountIndexed + `rota_jobs_open` + whereFilters + ` AND j.status = 'RUNNING' AND j.sequel IS NULL`
	sqlCountLive = selectCountIndexed + `rota_jobs_live` + whereFilters + ` AND j.schedule = ?6 AND j.sequel IS NULL`

	andDelayed = ` AND j.hold & 1 = (?8 = 'scheduled')`
)

// CountJobs counts what Jobs would list over all pages.
func (s *reader) CountJobs(ctx context.Context, q rota.JobQuery) (n int64, err error) {
	q.Limit = 0
	if err := q.Validate(); err != nil {
		return 0, err
	}
	if one := liveStatusOf[q.State]; one != "" && q.Status != "" && q.Status != one {
		return 0, nil
	}
	err = s.withSnapshot(ctx, "count", func(conn *sqlite.Conn) error {
		for _, sql := range countStatements(&q) {
			err := query(conn, sql, func(stmt *sqlite.Stmt) { bindJobs(stmt, &q, 0) },
				func(stmt *sqlite.Stmt) { n += stmt.ColumnInt64(0) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// countStatements returns the statements whose counts add up to the result.
func countStatements(q *rota.JobQuery) []string {
	bounded := !q.Before.IsZero() || !q.After.IsZero()
	switch {
	case !q.GroupID.IsZero() && q.Dead:
		return []string{sqlCountGroupDead}
	case !q.GroupID.IsZero():
		return []string{sqlCountGroup}
	case q.Dead:
		return []string{sqlCountDead}
	case q.Schedule != "" && liveStatusOf[q.State] != "":
		return []string{sqlCountLive}
	case liveStatusOf[q.State] != "":
		return []string{countLive(q)}
	case q.Schedule != "" && (bounded || q.Template != ""):
		return []string{sqlCountSchedule}
	case bounded || q.Template != "":
		return []string{sqlCount}
	}
	return countParts(q)
}

// countLive returns the statement that counts the jobs of one state that has not ended.
func countLive(q *rota.JobQuery) string {
	sql := sqlCountOpen
	switch q.State {
	case rota.StateQueued:
		sql = sqlCountReady
	case rota.StateScheduled, rota.StateBlocked:
		sql = sqlCountHeld + andDelayed
	}
	if q.Template != "" && q.State != rota.StateRunning {
		sql += andTemplate
	}
	return sql
}

// countParts returns the statements that count ended jobs and the live jobs that the query can
// match. A run that has an outcome and is not settled counts as live, and its state is that of its
// outcome.
func countParts(q *rota.JobQuery) (all []string) {
	if q.Status != rota.StatusQueued {
		all = append(countEnded(q), withEndedFilters(sqlCountHidden, q))
	}
	if q.Schedule != "" {
		return append(all, sqlCountLive)
	}
	if q.State == "" && (q.Status == "" || q.Status == rota.StatusQueued) {
		all = append(all, sqlCountReady, sqlCountHeld)
	}
	if q.Status == "" || q.Status == rota.StatusRunning {
		all = append(all, sqlCountOpen)
	}
	return all
}
