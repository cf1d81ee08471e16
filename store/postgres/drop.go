package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	sqlDropped = `
SELECT schedule, made_before, hidden_before, dropped_by
FROM rota_dropped
WHERE schedule = ANY ($1)`
	sqlInsertDropped = `
INSERT INTO rota_dropped (schedule, made_before, hidden_before, dropped_by)
VALUES ($1, $2, $3, $4)`
	sqlUpdateDropped = `
UPDATE rota_dropped
SET made_before = $2, hidden_before = $3, dropped_by = $4
WHERE schedule = $1`
	sqlDeleteDropped = `
DELETE FROM rota_dropped
WHERE schedule = $1`

	liveDropped       = selectLive + fullColumns + fromLive + `few.created_at < $3`
	sqlDroppedRunning = liveDropped + ` AND few.runner IS NOT NULL AND few.outcome IS NULL AND few.cancel_at IS NULL` + firstByID
	sqlDroppedLive    = liveDropped + firstByID

	sqlDroppedQueued = liveDropped + ` AND few.status = 'QUEUED'
ORDER BY few.id DESC
LIMIT $2`
	sqlDroppedEnded = `
SELECT ` + fullColumns + rowVersion + `
FROM rota_jobs j
WHERE j.schedule = $1 AND j.sequel IS NOT NULL AND j.sequel <> 'retry' AND j.created_at < $3
ORDER BY j.schedule, j.id
LIMIT $2`
)

// droppedSQL holds the statements for the kinds of dropped jobs.
var droppedSQL = map[rules.DroppedKind]string{
	rules.DroppedRunning: sqlDroppedRunning, rules.DroppedQueued: sqlDroppedQueued, rules.DroppedLive: sqlDroppedLive, rules.DroppedEnded: sqlDroppedEnded,
}

// loadDropped adds no versions to the read set. The lock of the schedule protects this row, and a
// command that needs it also reads sets of rows, which are read again under that lock.
func (t *tx) loadDropped(schedules []string, u *rules.UnitOfWork) []statement {
	if len(schedules) == 0 {
		return nil
	}
	return []statement{{sql: sqlDropped, params: []param{textsParam(schedules)}, eachRow: func(r row) error {
		rules.DroppedSchedules.Put(u, &rules.Dropped{Schedule: r.Text(0), Before: r.Int(1), Hidden: r.Int(2), By: r.Text(3)})
		return nil
	}}}
}

func (t *tx) loadDroppedJobs(q rules.DroppedJobs, u *rules.UnitOfWork) statement {
	params := []param{textNotNull(q.Schedule), intParam(int64(q.Limit)), intParam(q.Before)}
	return statement{sql: droppedSQL[q.Kind], params: params, eachRow: func(r row) error {
		rules.AppendJob(rules.DroppedJobsOf, u, q, t.scanJob(r))
		return nil
	}}
}

func (t *tx) writeDropped(c rules.Change[string, rules.Dropped]) []statement {
	sql := changeSQL(c.Was == nil, c.Is == nil, sqlInsertDropped, sqlUpdateDropped, sqlDeleteDropped)
	params := []param{textNotNull(c.Key)}
	if c.Is == nil {
		return []statement{{sql: sql, params: params}}
	}
	hidden := param{oid: oidInt}
	if c.Is.Hidden != 0 {
		hidden = intParam(c.Is.Hidden)
	}
	return []statement{{sql: sql, params: append(params, intParam(c.Is.Before), hidden, textParam(c.Is.By))}}
}

// sameOrigin reports whether a schedule was not recreated: the creator and the time of creation of
// a row never change.
func sameOrigin(was, is *rota.Schedule) bool {
	return was == nil || is == nil || was.CreatedBy == is.CreatedBy && was.CreatedAt.Equal(is.CreatedAt)
}
