package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlTail = `
SELECT id, position
FROM rota_jobs INDEXED BY rota_jobs_order
WHERE status = 'QUEUED' AND priority = ?
ORDER BY position DESC, created_at DESC, id DESC`
	sqlOrderAhead = `
SELECT ` + jobColumns + `, NULL
FROM rota_jobs j INDEXED BY rota_jobs_order
WHERE j.status = 'QUEUED' AND j.priority = ? AND (j.position, j.created_at, j.id) > (?, ?, ?)
ORDER BY j.position, j.created_at, j.id
LIMIT +?`
	sqlOrderBack = `
SELECT ` + jobColumns + `, NULL
FROM rota_jobs j INDEXED BY rota_jobs_order
WHERE j.status = 'QUEUED' AND j.priority = ? AND (j.position, j.created_at, j.id) < (?, ?, ?)
ORDER BY j.position DESC, j.created_at DESC, j.id DESC
LIMIT +?`
	sqlPosition = `
SELECT position, created_at
FROM rota_jobs
WHERE id = ?`
)

// loadTail reads the last jobs of a priority.
func (w *writer) loadTail(q rules.Tail, u *rules.UnitOfWork) error {
	s, err := w.stmt(sqlTail)
	if err != nil {
		return err
	}
	s.BindInt64(1, int64(q.Priority))
	for range q.Count {
		more, err := s.Step()
		if err != nil {
			_ = s.Reset()
			return err
		}
		if !more {
			break
		}
		rules.Append(rules.Tails, u, q, rules.LastJob{ID: scanID(s, 0), Position: s.ColumnInt64(1)})
	}
	return s.Reset()
}

func (w *writer) loadOrder(p rules.OrderPage, u *rules.UnitOfWork) error {
	position, created, err := w.startPosition(p)
	if err != nil {
		return err
	}
	sql := sqlOrderAhead
	if p.Back {
		sql = sqlOrderBack
	}
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	s.BindInt64(1, int64(p.Priority))
	s.BindInt64(2, position)
	s.BindInt64(3, created)
	s.BindBytes(4, p.From[:])
	s.BindInt64(5, int64(p.Limit))
	return rows(s, func(s *sqlite.Stmt) error {
		rules.AppendJob(rules.OrderPages, u, p, scanJob(s))
		return nil
	})
}

// Positions before and after all jobs.
const (
	positionFirst = -1 << 63
	positionLast  = 1<<63 - 1
)

// startPosition returns where a page begins: at a job, or at one end of the order.
func (w *writer) startPosition(p rules.OrderPage) (position, created int64, err error) {
	if p.From == (rota.ID{}) {
		if p.Back {
			return positionLast, positionLast, nil
		}
		return positionFirst, positionFirst, nil
	}
	s, err := w.stmt(sqlPosition)
	if err != nil {
		return 0, 0, err
	}
	s.BindBytes(1, p.From[:])
	err = rows(s, func(s *sqlite.Stmt) error {
		position, created = s.ColumnInt64(0), s.ColumnInt64(1)
		return nil
	})
	return position, created, err
}
