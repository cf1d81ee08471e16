package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

const (
	sqlNextReadyType = `
SELECT type
FROM rota_jobs INDEXED BY rota_jobs_claim
WHERE status = 'QUEUED' AND hold = 0 AND type > ?
ORDER BY type
LIMIT 1`
	sqlTypeQueueAfter = `
SELECT ` + queuedColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_claim
WHERE j.type = ?1 AND j.status = 'QUEUED' AND j.hold = 0
  AND j.priority = ?3 AND (j.position, j.created_at, j.id) > (?4, ?5, ?6)
ORDER BY j.priority DESC, j.position, j.created_at, j.id
LIMIT +?2`
	sqlTypeQueueBelow = `
SELECT ` + queuedColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_claim
WHERE j.type = ?1 AND j.status = 'QUEUED' AND j.hold = 0 AND j.priority < ?3
ORDER BY j.priority DESC, j.position, j.created_at, j.id
LIMIT +?2`
)

// Queue lists the ready jobs in dispatch order. Like a claim it merges the type queues, so that
// jobs on hold cost nothing.
func (s *reader) Queue(ctx context.Context, after rota.ID, limit int) ([]*rota.Job, error) {
	pageSize, err := pageLimit(limit)
	if err != nil {
		return nil, err
	}
	var from *rota.Job
	if !after.IsZero() {
		if from, err = s.Job(ctx, after); err != nil {
			return nil, err
		}
		if !from.Ready() {
			return nil, &rota.Error{
				Code: rota.NotFound, Act: "queue", Field: "after", Reason: "job " + after.String() + " has left the queue",
				Hint: "list the queue again from its head",
			}
		}
	}
	var jobs []*rota.Job
	err = s.withSnapshot(ctx, "queue", func(conn *sqlite.Conn) error {
		cursors, err := openQueue(conn, from, pageSize)
		defer finalizeAll(cursors)
		if err != nil {
			return err
		}
		return mergeInOrder(cursors, int(pageSize), func(j *rota.Job) bool {
			jobs = append(jobs, j)
			return true
		})
	})
	return jobs, err
}

// openQueue opens a cursor for each type queue. After a job it opens two: for the rest of the job's
// priority and for all lower priorities.
func openQueue(conn *sqlite.Conn, from *rota.Job, limit int64) (cursors []*cursor, err error) {
	statements := []string{sqlHeads}
	if from != nil {
		statements = []string{sqlTypeQueueAfter, sqlTypeQueueBelow}
	}
	for typ := ""; ; {
		if typ, err = nextReadyType(conn, typ); err != nil || typ == "" {
			return cursors, err
		}
		if rota.InternalType(typ) {
			continue
		}
		for _, sql := range statements {
			stmt, _, err := conn.PrepareTransient(sql)
			if err != nil {
				return cursors, err
			}
			cursors = append(cursors, &cursor{stmt: stmt})
			stmt.BindText(1, typ)
			stmt.BindInt64(2, limit)
			if from != nil {
				stmt.BindInt64(3, int64(from.Priority))
			}
			if sql == sqlTypeQueueAfter {
				stmt.BindInt64(4, from.Position)
				stmt.BindInt64(5, from.CreatedAt.UnixMicro())
				stmt.BindBytes(6, from.ID[:])
			}
		}
	}
}

func nextReadyType(conn *sqlite.Conn, after string) (typ string, err error) {
	return typ, query(conn, sqlNextReadyType, func(stmt *sqlite.Stmt) { stmt.BindText(1, after) },
		func(stmt *sqlite.Stmt) { typ = stmt.ColumnText(0) })
}

func finalizeAll(cursors []*cursor) {
	for _, c := range cursors {
		_ = c.stmt.Finalize()
	}
}
