package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	members = `
SELECT ` + fullColumns + rowVersion + `
FROM rota_jobs j
WHERE j.group_id = $1 AND j.sequel IS NULL`
	byGroupPosition = `
ORDER BY j.group_position, j.id
LIMIT $2`
	sqlMembersLive   = members + byGroupPosition
	sqlMembersQueued = members + ` AND j.status = 'QUEUED'` + byGroupPosition
	sqlMembersEnding = members + `
  AND (j.status = 'QUEUED' OR (j.runner IS NOT NULL AND j.outcome IS NULL AND j.cancel_at IS NULL))` + byGroupPosition
	sqlMembersFirst = `
SELECT ` + fullColumns + rowVersion + `
FROM rota_jobs j
WHERE j.group_id = $1 AND j.attempt = 1
ORDER BY j.group_position
LIMIT $2`

	// Counts the members of the groups g, one row for each state, with the columns of
	// attemptStateColumns.
	memberCounts = `
LEFT JOIN LATERAL (
  SELECT NULL::uuid, j.status, least(j.attempt, 2), j.sequel, min(j.finished_at), j.outcome, NULL, count(*)
  FROM rota_jobs j
  WHERE j.group_id = g.id AND j.sequel IS DISTINCT FROM 'retry'
  GROUP BY j.status, least(j.attempt, 2), j.sequel, j.finished_at IS NULL, j.outcome
) e ON true`
)

var sqlMembers = [...]string{
	rules.MembersLive: sqlMembersLive, rules.MembersQueued: sqlMembersQueued,
	rules.MembersEnding: sqlMembersEnding, rules.MembersFirst: sqlMembersFirst,
}

func (t *tx) loadMembers(q rules.Members, u *rules.UnitOfWork) statement {
	return statement{sql: sqlMembers[q.Kind], params: []param{idParam(q.Group), intParam(int64(q.Limit))}, eachRow: func(r row) error {
		rules.AppendJob(rules.GroupMembers, u, q, t.scanJob(r))
		return nil
	}}
}

// countMembers adds the members of one row, which all are in the same state.
func countMembers(into *rota.GroupTally, r row) {
	tail := scanAttemptState(r)
	for range r.Int(len(r) - 1) {
		into.Count(tail)
	}
}

// attemptStateColumns are the columns that show the state of an attempt. scanAttemptState reads
// them.
const attemptStateColumns = `j.id, j.status, j.attempt, j.sequel, j.finished_at, j.outcome, j.type`

func scanAttemptState(r row) *rota.Job {
	j := &rota.Job{
		ID: r.ID(0), Status: rota.Status(r.Text(1)), Attempt: int(r.Int(2)),
		Sequel: rota.Sequel(r.Text(3)), FinishedAt: r.Time(4), Type: r.Text(6),
	}
	if j.Status == rota.StatusRunning {
		j.Run = &rota.Run{Outcome: rota.Outcome(r.Text(5))}
	}
	return j
}
