package sqlite

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlKeyQueueOpen = `
SELECT count(*)
FROM rota_jobs INDEXED BY rota_jobs_lane
WHERE concurrency_key = ? AND sequel IS NULL AND status = 'RUNNING'`
	sqlKeyQueueReady = `
SELECT count(*)
FROM rota_jobs INDEXED BY rota_jobs_lane
WHERE concurrency_key = ? AND sequel IS NULL AND status = 'QUEUED' AND hold = 0 AND type = ?`
	sqlKeyQueueType = `
SELECT min(type)
FROM rota_jobs INDEXED BY rota_jobs_lane
WHERE concurrency_key = ? AND sequel IS NULL AND status = 'QUEUED' AND hold = ? AND type > ?`
	sqlKeyQueueLast = `
SELECT ` + queuedColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_lane
WHERE j.concurrency_key = ? AND j.sequel IS NULL AND j.status = 'QUEUED' AND j.hold = 0 AND j.type = ?
ORDER BY j.priority, j.position DESC, j.created_at DESC, j.id DESC
LIMIT +?`
	sqlKeyQueueHeld = `
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
	// The few internal jobs are adjacent in the index.
	sqlOpenAll = `
SELECT (` + openJobs + `) - (` + openJobs + ` AND ` + internalType + `)`
	internalType = `type >= 'rota.' AND type < 'rota/'`
)

func (w *writer) loadKeyQueue(q rules.KeyQueue, u *rules.UnitOfWork) error {
	var state rules.KeyQueueState
	types, err := w.keyQueueTypes(q)
	if err == nil && !q.Unlimited {
		err = w.countKeyQueue(&state.Open, sqlKeyQueueOpen, q.Key)
	}
	for _, name := range types {
		if err != nil {
			return err
		}
		var t rules.KeyQueueType
		t, err = w.keyQueueOfType(q, name, u)
		state.Types = append(state.Types, t)
	}
	if err == nil {
		rules.KeyQueues.Put(u, q, state)
	}
	return err
}

// keyQueueTypes returns the types with jobs that only the key holds back, and the types with ready
// jobs if the key has a limit. Each type is one lookup, however many jobs it has.
func (w *writer) keyQueueTypes(q rules.KeyQueue) (types []string, err error) {
	holds := []rota.Hold{rota.HoldKey, 0}
	if q.Unlimited {
		holds = holds[:1]
	}
	for _, hold := range holds {
		for last, more := "", true; more && err == nil; {
			err = w.query(sqlKeyQueueType, func(s *sqlite.Stmt) {
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

func (w *writer) keyQueueOfType(q rules.KeyQueue, name string, u *rules.UnitOfWork) (t rules.KeyQueueType, err error) {
	t.Type = name
	list := func(sql string, into *[]rota.ID) func() error {
		return func() error {
			return w.query(sql, func(s *sqlite.Stmt) {
				s.BindText(1, q.Key)
				s.BindText(2, name)
				s.BindInt64(3, int64(q.Limit))
			}, func(s *sqlite.Stmt) error {
				j := scanJob(s)
				u.PutJob(j)
				*into = append(*into, j.ID)
				return nil
			})
		}
	}
	if err = list(sqlKeyQueueHeld, &t.Held)(); err != nil || q.Unlimited {
		return t, err
	}
	return t, firstError(
		func() error { return w.countKeyQueue(&t.Ready, sqlKeyQueueReady, q.Key, name) },
		list(sqlKeyQueueLast, &t.Last),
	)
}

func (w *writer) countKeyQueue(into *int, sql string, of ...string) error {
	return w.query(sql, func(s *sqlite.Stmt) {
		for i, name := range of {
			s.BindText(i+1, name)
		}
	}, func(s *sqlite.Stmt) error {
		*into = int(s.ColumnInt64(0))
		return nil
	})
}

func (w *writer) loadOpen(q rules.OpenCount, u *rules.UnitOfWork) error {
	sql, of := sqlOpenAll, ""
	switch {
	case q.Key != "":
		sql, of = sqlKeyQueueOpen, q.Key
	case q.Type != "":
		sql, of = sqlOpenOf, q.Type
	}
	return w.query(sql, func(s *sqlite.Stmt) {
		if of != "" {
			s.BindText(1, of)
		}
	}, func(s *sqlite.Stmt) error {
		rules.OpenCounts.Put(u, q, int(s.ColumnInt64(0)))
		return nil
	})
}
