package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// Jobs are counted part by part, each by an index that holds that part alone. What
// has ended is most of a store: count_ended.go says how.
const (
	counted = `
SELECT count(*)
FROM rota_jobs j`
	countedBy = counted + ` INDEXED BY `

	sqlCount         = counted + picked
	sqlCountSchedule = countedBy + `rota_jobs_schedule` + picked + ` AND j.schedule = ?6`
	sqlCountDead     = countedBy + `rota_jobs_dead` + picked + pickedDead + ` AND (?6 IS NULL OR j.schedule = ?6)`
	sqlCountGroup    = countedBy + `rota_jobs_group` + picked + ` AND j.group_id = ?7 AND (?6 IS NULL OR j.schedule = ?6)`

	sqlCountGroupDead = sqlCountGroup + pickedDead

	sqlCountReady = countedBy + `rota_jobs_claim
WHERE j.status = 'QUEUED' AND j.hold = 0` + ofType
	sqlCountHeld = countedBy + `rota_jobs_held
WHERE j.status = 'QUEUED' AND j.hold <> 0` + ofType
	sqlCountOpen = countedBy + `rota_jobs_open` + picked + ` AND j.status = 'RUNNING' AND j.sequel IS NULL`
	sqlCountLive = countedBy + `rota_jobs_live` + picked + ` AND j.schedule = ?6 AND j.sequel IS NULL`

	isDelayed = ` AND j.hold & 1 = (?8 = 'scheduled')`
)

// CountJobs counts what Jobs would list over all pages.
func (s *reader) CountJobs(ctx context.Context, q rota.JobQuery) (n int64, err error) {
	q.Limit = 0
	if err := q.Validate(); err != nil {
		return 0, err
	}
	if one := statusOf[q.State]; one != "" && q.Status != "" && q.Status != one {
		return 0, nil
	}
	err = s.read(ctx, "count", func(conn *sqlite.Conn) error {
		for _, sql := range countTexts(&q) {
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

// countTexts are the statements whose counts add up to what is asked for.
func countTexts(q *rota.JobQuery) []string {
	bounded := !q.Before.IsZero() || !q.After.IsZero()
	switch {
	case !q.GroupID.IsZero() && q.Dead:
		return []string{sqlCountGroupDead}
	case !q.GroupID.IsZero():
		return []string{sqlCountGroup}
	case q.Dead:
		return []string{sqlCountDead}
	case q.Schedule != "" && statusOf[q.State] != "":
		return []string{sqlCountLive}
	case statusOf[q.State] != "":
		return []string{countLive(q)}
	case q.Schedule != "" && (bounded || q.Template != ""):
		return []string{sqlCountSchedule}
	case bounded || q.Template != "":
		return []string{sqlCount}
	}
	return countParts(q)
}

// countLive counts those of one state that lives.
func countLive(q *rota.JobQuery) string {
	sql := sqlCountOpen
	switch q.State {
	case rota.StateQueued:
		sql = sqlCountReady
	case rota.StateScheduled, rota.StateBlocked:
		sql = sqlCountHeld + isDelayed
	}
	if q.Template != "" && q.State != rota.StateRunning {
		sql += ofTemplate
	}
	return sql
}

// countParts counts what has ended, and of what lives those that can be meant: a
// run that ended and was not settled has its outcome already.
func countParts(q *rota.JobQuery) (all []string) {
	if q.Status != rota.StatusQueued {
		all = append(countEnded(q), pickEnded(sqlCountHidden, q))
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
