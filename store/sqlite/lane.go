package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlLaneOpen = `
SELECT count(*)
FROM rota_jobs INDEXED BY rota_jobs_lane
WHERE concurrency_key = ? AND sequel IS NULL AND status = 'RUNNING'`
	sqlLaneReady = `
SELECT count(*)
FROM rota_jobs INDEXED BY rota_jobs_lane
WHERE concurrency_key = ? AND sequel IS NULL AND status = 'QUEUED' AND hold = 0`
	sqlLaneLast = `
SELECT ` + queuedColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_lane
WHERE j.concurrency_key = ? AND j.sequel IS NULL AND j.status = 'QUEUED' AND j.hold = 0
ORDER BY j.priority, j.position DESC, j.created_at DESC, j.id DESC
LIMIT ?`
	sqlLaneHeld = `
SELECT ` + queuedColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_lane
WHERE j.concurrency_key = ? AND j.sequel IS NULL AND j.status = 'QUEUED' AND j.hold = 16
ORDER BY j.priority DESC, j.position, j.created_at, j.id
LIMIT ?`

	sqlOpenAll = `
SELECT count(*)
FROM rota_jobs INDEXED BY rota_jobs_open
WHERE status = 'RUNNING' AND sequel IS NULL`
	sqlOpenOf = sqlOpenAll + ` AND type = ?`
)

func (w *writer) loadLane(q rules.Lane, world *rules.World) error {
	var view rules.LaneView
	count := func(sql string, into *int) func() error {
		return func() error {
			return w.ask(sql, func(s *sqlite.Stmt) { s.BindText(1, q.Key) }, func(s *sqlite.Stmt) error {
				*into = int(s.ColumnInt64(0))
				return nil
			})
		}
	}
	list := func(sql string, into *[]rota.ID) func() error {
		return func() error {
			return w.ask(sql, func(s *sqlite.Stmt) {
				s.BindText(1, q.Key)
				s.BindInt64(2, int64(q.Limit))
			}, func(s *sqlite.Stmt) error {
				j := scanJob(s)
				world.PutJob(j)
				*into = append(*into, j.ID)
				return nil
			})
		}
	}
	err := list(sqlLaneHeld, &view.Held)()
	if err == nil && !q.Free {
		err = firstError(count(sqlLaneOpen, &view.Open), count(sqlLaneReady, &view.Ready), list(sqlLaneLast, &view.Last))
	}
	if err == nil {
		world.PutLane(q, view)
	}
	return err
}

func (w *writer) loadOpen(q rules.Open, world *rules.World) error {
	sql, of := sqlOpenAll, ""
	switch {
	case q.Key != "":
		sql, of = sqlLaneOpen, q.Key
	case q.Type != "":
		sql, of = sqlOpenOf, q.Type
	}
	return w.ask(sql, func(s *sqlite.Stmt) {
		if of != "" {
			s.BindText(1, of)
		}
	}, func(s *sqlite.Stmt) error {
		world.PutOpen(q, int(s.ColumnInt64(0)))
		return nil
	})
}
