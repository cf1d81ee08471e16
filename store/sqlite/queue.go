package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

var (
	sqlNextReadyType = `
SELECT type
FROM rota_jobs INDEXED BY rota_jobs_claim
WHERE status = 'QUEUED' AND hold = 0 AND type > $1
ORDER BY type
LIMIT 1`
	sqlTypeQueueAfter = `
SELECT ` + storekit.QueuedJob + `
FROM rota_jobs j INDEXED BY rota_jobs_claim
WHERE j.type = $1 AND j.status = 'QUEUED' AND j.hold = 0
  AND j.priority = $3 AND (j.position, j.created_at, j.id) > ($4, $5, $6)
ORDER BY j.priority DESC, j.position, j.created_at, j.id
LIMIT $2`
	sqlTypeQueueBelow = `
SELECT ` + storekit.QueuedJob + `
FROM rota_jobs j INDEXED BY rota_jobs_claim
WHERE j.type = $1 AND j.status = 'QUEUED' AND j.hold = 0 AND j.priority < $3
ORDER BY j.priority DESC, j.position, j.created_at, j.id
LIMIT $2`
)

// Queue lists the ready jobs in dispatch order. Like a claim it merges the type queues, so that
// jobs on hold cost nothing.
func (s *reader) Queue(ctx context.Context, after rota.ID, limit int) ([]*rota.Job, error) {
	pageSize, err := storekit.PageLimit(limit)
	if err != nil {
		return nil, err
	}
	from, err := storekit.QueueStart(ctx, &s.Reader, after)
	if err != nil {
		return nil, err
	}
	var jobs []*rota.Job
	err = s.withSnapshot(ctx, "queue", func(conn *sqlite.Conn) error {
		cursors, err := openQueue(conn, from, pageSize)
		defer finalizeAll(cursors)
		if err != nil {
			return err
		}
		return mergeInOrder(cursors, pageSize, func(j *rota.Job) bool {
			jobs = append(jobs, j)
			return true
		})
	})
	return jobs, err
}

// openQueue opens the cursors of each type queue.
func openQueue(conn *sqlite.Conn, from *rota.Job, limit int) (cursors []*cursor, err error) {
	for typ := ""; ; {
		if typ, err = nextReadyType(conn, typ); err != nil || typ == "" {
			return cursors, err
		}
		if rota.InternalType(typ) {
			continue
		}
		for _, one := range typeQueueStatements(typ, from, limit) {
			stmt, _, err := conn.PrepareTransient(rewrite(one.SQL))
			if err != nil {
				return cursors, err
			}
			cursors = append(cursors, &cursor{stmt: stmt})
			if err := bind(stmt, one.SQL, one.Args); err != nil {
				return cursors, err
			}
		}
	}
}

// typeQueueStatements returns the statement that reads a type queue. After a job there are two: for
// the rest of the job's priority and for all lower priorities.
func typeQueueStatements(typ string, from *rota.Job, limit int) []storekit.Statement {
	if from == nil {
		return []storekit.Statement{{SQL: sqlHeads, Args: []any{typ, limit}}}
	}
	return []storekit.Statement{
		{SQL: sqlTypeQueueAfter, Args: []any{typ, limit, from.Priority, from.Position, from.CreatedAt, from.ID}},
		{SQL: sqlTypeQueueBelow, Args: []any{typ, limit, from.Priority}},
	}
}

func nextReadyType(conn *sqlite.Conn, after string) (typ string, err error) {
	err = query(conn, sqlNextReadyType, func(r storekit.Row) error {
		typ = r.Text(0)
		return nil
	}, after)
	return typ, err
}

func finalizeAll(cursors []*cursor) {
	for _, c := range cursors {
		_ = c.stmt.Finalize()
	}
}
