package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	members = `
SELECT ` + wholeColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_member
WHERE j.group_id = ? AND j.sequel IS NULL`
	sqlMembersLive = members + `
ORDER BY j.group_position, j.id
LIMIT +?`
	sqlMembersQueued = members + ` AND j.status = 'QUEUED'
ORDER BY j.group_position, j.id
LIMIT +?`
	sqlMembersDoomed = members + `
  AND (j.status = 'QUEUED' OR (j.runner IS NOT NULL AND j.outcome IS NULL AND j.cancel_at IS NULL))
ORDER BY j.group_position, j.id
LIMIT +?`
	sqlMembersFirst = `
SELECT ` + wholeColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_group
WHERE j.group_id = ? AND j.attempt = 1
ORDER BY j.group_position
LIMIT +?`
	sqlTally = `
SELECT ` + endColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_group
WHERE j.group_id = ? AND j.sequel IS NOT 'retry'`
)

var sqlMembers = [...]string{
	rules.MembersLive: sqlMembersLive, rules.MembersQueued: sqlMembersQueued,
	rules.MembersEnding: sqlMembersDoomed, rules.MembersFirst: sqlMembersFirst,
}

func (w *writer) loadMembers(q rules.Members, world *rules.UnitOfWork) error {
	return w.ask(sqlMembers[q.Kind], func(s *sqlite.Stmt) {
		s.BindBytes(1, q.Group[:])
		s.BindInt64(2, int64(q.Limit))
	}, func(s *sqlite.Stmt) error {
		world.PutMember(q, scanJob(s))
		return nil
	})
}

// countGroup counts the executions of a group by their last attempts.
func countGroup(conn *sqlite.Conn, g *rota.Group) error {
	g.Tally = g.Pruned
	return query(conn, sqlTally, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, g.ID[:]) },
		func(stmt *sqlite.Stmt) { g.Tally.Count(scanEnd(stmt)) })
}

// endColumns are what tells how an attempt stands, and scanEnd reads them.
const endColumns = `j.id, j.status, j.attempt, j.sequel, j.finished_at, j.outcome, j.type`

func scanEnd(s *sqlite.Stmt) *rota.Job {
	j := &rota.Job{
		ID: scanID(s, 0), Status: rota.Status(s.ColumnText(1)), Attempt: int(s.ColumnInt64(2)),
		Sequel: rota.Sequel(s.ColumnText(3)), FinishedAt: scanTime(s, 4), Type: s.ColumnText(6),
	}
	if j.Status == rota.StatusRunning {
		j.Run = &rota.Run{Outcome: rota.Outcome(s.ColumnText(5))}
	}
	return j
}
