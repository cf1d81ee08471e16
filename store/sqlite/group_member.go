package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	selectMembers = `
SELECT ` + fullColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_member
WHERE j.group_id = ? AND j.sequel IS NULL`
	sqlMembersLive = selectMembers + `
ORDER BY j.group_position, j.id
LIMIT +?`
	sqlMembersQueued = selectMembers + ` AND j.status = 'QUEUED'
ORDER BY j.group_position, j.id
LIMIT +?`
	sqlMembersEnding = selectMembers + `
  AND (j.status = 'QUEUED' OR (j.runner IS NOT NULL AND j.outcome IS NULL AND j.cancel_at IS NULL))
ORDER BY j.group_position, j.id
LIMIT +?`
	sqlMembersFirst = `
SELECT ` + fullColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_group
WHERE j.group_id = ? AND j.attempt = 1
ORDER BY j.group_position
LIMIT +?`
	sqlTally = `
SELECT ` + attemptStateColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_group
WHERE j.group_id = ? AND j.sequel IS NOT 'retry'`
)

var sqlMembers = [...]string{
	rules.MembersLive: sqlMembersLive, rules.MembersQueued: sqlMembersQueued,
	rules.MembersEnding: sqlMembersEnding, rules.MembersFirst: sqlMembersFirst,
}

func (w *writer) loadMembers(q rules.Members, u *rules.UnitOfWork) error {
	return w.query(sqlMembers[q.Kind], func(s *sqlite.Stmt) {
		s.BindBytes(1, q.Group[:])
		s.BindInt64(2, int64(q.Limit))
	}, func(s *sqlite.Stmt) error {
		rules.AppendJob(rules.GroupMembers, u, q, scanJob(s))
		return nil
	})
}

// countMembers counts the executions of a group by their last attempts.
func countMembers(conn *sqlite.Conn, g *rota.Group) error {
	g.Tally = g.Pruned
	return query(conn, sqlTally, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, g.ID[:]) },
		func(stmt *sqlite.Stmt) { g.Tally.Count(scanAttemptState(stmt)) })
}

// attemptStateColumns are the columns that show the state of an attempt. scanAttemptState reads
// them.
const attemptStateColumns = `j.id, j.status, j.attempt, j.sequel, j.finished_at, j.outcome, j.type`

func scanAttemptState(s *sqlite.Stmt) *rota.Job {
	j := &rota.Job{
		ID: scanID(s, 0), Status: rota.Status(s.ColumnText(1)), Attempt: int(s.ColumnInt64(2)),
		Sequel: rota.Sequel(s.ColumnText(3)), FinishedAt: scanTime(s, 4), Type: s.ColumnText(6),
	}
	if j.Status == rota.StatusRunning {
		j.Run = &rota.Run{Outcome: rota.Outcome(s.ColumnText(5))}
	}
	return j
}
