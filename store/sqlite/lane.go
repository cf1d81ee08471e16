package sqlite

import (
	"slices"

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
WHERE concurrency_key = ? AND sequel IS NULL AND status = 'QUEUED' AND hold = 0 AND type = ?`
	sqlLaneType = `
SELECT min(type)
FROM rota_jobs INDEXED BY rota_jobs_lane
WHERE concurrency_key = ? AND sequel IS NULL AND status = 'QUEUED' AND hold = ? AND type > ?`
	sqlLaneLast = `
SELECT ` + queuedColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_lane
WHERE j.concurrency_key = ? AND j.sequel IS NULL AND j.status = 'QUEUED' AND j.hold = 0 AND j.type = ?
ORDER BY j.priority, j.position DESC, j.created_at DESC, j.id DESC
LIMIT +?`
	sqlLaneHeld = `
SELECT ` + queuedColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_lane
WHERE j.concurrency_key = ? AND j.sequel IS NULL AND j.status = 'QUEUED' AND j.hold = 16 AND j.type = ?
ORDER BY j.priority DESC, j.position, j.created_at, j.id
LIMIT +?`

	sqlOpenOf = openJobs + ` AND type = ?`
	openJobs  = `
SELECT count(*)
FROM rota_jobs INDEXED BY rota_jobs_open
WHERE status = 'RUNNING' AND sequel IS NULL`
	// Rota's own are few, and stand side by side in the index.
	sqlOpenAll = `
SELECT (` + openJobs + `) - (` + openJobs + ` AND ` + internal + `)`
	internal = `type >= 'rota.' AND type < 'rota/'`
)

func (w *writer) loadLane(q rules.KeyQueue, world *rules.UnitOfWork) error {
	var view rules.KeyQueueState
	types, err := w.laneTypes(q)
	if err == nil && !q.Unlimited {
		err = w.countLane(&view.Open, sqlLaneOpen, q.Key)
	}
	for _, name := range types {
		if err != nil {
			return err
		}
		var t rules.KeyQueueType
		t, err = w.laneOfType(q, name, world)
		view.Types = append(view.Types, t)
	}
	if err == nil {
		world.PutKeyQueue(q, view)
	}
	return err
}

// laneTypes are the types of which somebody is held back by the key alone or, if
// that matters, stands in the order. They are found one after the other, so the
// many jobs of each cost nothing.
func (w *writer) laneTypes(q rules.KeyQueue) (types []string, err error) {
	holds := []rota.Hold{rota.HoldKey, 0}
	if q.Unlimited {
		holds = holds[:1]
	}
	for _, hold := range holds {
		for last, more := "", true; more && err == nil; {
			err = w.ask(sqlLaneType, func(s *sqlite.Stmt) {
				s.BindText(1, q.Key)
				s.BindInt64(2, int64(hold))
				s.BindText(3, last)
			}, func(s *sqlite.Stmt) error {
				if more = !s.ColumnIsNull(0); more {
					last = s.ColumnText(0)
					types = append(types, last)
				}
				return nil
			})
		}
	}
	slices.Sort(types)
	return slices.Compact(types), err
}

func (w *writer) laneOfType(q rules.KeyQueue, name string, world *rules.UnitOfWork) (t rules.KeyQueueType, err error) {
	t.Type = name
	list := func(sql string, into *[]rota.ID) func() error {
		return func() error {
			return w.ask(sql, func(s *sqlite.Stmt) {
				s.BindText(1, q.Key)
				s.BindText(2, name)
				s.BindInt64(3, int64(q.Limit))
			}, func(s *sqlite.Stmt) error {
				j := scanJob(s)
				world.PutJob(j)
				*into = append(*into, j.ID)
				return nil
			})
		}
	}
	if err = list(sqlLaneHeld, &t.Held)(); err != nil || q.Unlimited {
		return t, err
	}
	return t, firstError(
		func() error { return w.countLane(&t.Ready, sqlLaneReady, q.Key, name) },
		list(sqlLaneLast, &t.Last),
	)
}

func (w *writer) countLane(into *int, sql string, of ...string) error {
	return w.ask(sql, func(s *sqlite.Stmt) {
		for i, name := range of {
			s.BindText(i+1, name)
		}
	}, func(s *sqlite.Stmt) error {
		*into = int(s.ColumnInt64(0))
		return nil
	})
}

func (w *writer) loadOpen(q rules.Open, world *rules.UnitOfWork) error {
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
