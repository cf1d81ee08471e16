package sqlite

import (
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlDue = `
SELECT ` + jobColumns + `, NULL
FROM rota_jobs j INDEXED BY rota_jobs_due
WHERE j.status = 'QUEUED' AND j.hold & 1 AND j.run_at <= ?
ORDER BY j.run_at, j.id
LIMIT +?`
	sqlStale = `
SELECT ` + leanColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_open
WHERE j.status = 'RUNNING' AND j.sequel IS NULL AND j.outcome IS NULL
  AND ((j.stale_after < ?1 AND j.life IS NOT ?2) OR j.stale_after > ?3)
ORDER BY j.stale_after, j.id
LIMIT +?4`
	sqlUnsettled = `
SELECT ` + leanColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_open
WHERE j.status = 'RUNNING' AND j.sequel IS NULL
  AND (j.runner IS NULL OR j.outcome IS NOT NULL OR (j.runner = ?1 AND j.life IS NOT NULL AND j.life <> ?2))
ORDER BY j.id
LIMIT +?3`
)

func (w *writer) loadDue(d *rules.Due, u *rules.UnitOfWork) error {
	s, err := w.stmt(sqlDue)
	if err != nil {
		return err
	}
	s.BindInt64(1, d.Now.UnixMicro())
	s.BindInt64(2, int64(d.Limit))
	return rows(s, func(s *sqlite.Stmt) error {
		u.PutDue(scanJob(s))
		return nil
	})
}

// loadStale reads every open run. There are never more of them than slots, and an index on
// stale_after would have to be updated by each heartbeat.
func (w *writer) loadStale(q *rules.Stale, u *rules.UnitOfWork) error {
	s, err := w.stmt(sqlStale)
	if err != nil {
		return err
	}
	s.BindInt64(1, q.Before.UnixMicro())
	// Without an incarnation to except, bind a value that no incarnation has.
	s.BindBytes(2, []byte{0})
	if !q.Except.IsZero() {
		s.BindBytes(2, q.Except[:])
	}
	s.BindInt64(3, q.Ahead.UnixMicro())
	s.BindInt64(4, int64(q.Limit))
	return rows(s, func(s *sqlite.Stmt) error {
		u.PutStale(scanJob(s))
		return nil
	})
}

func (w *writer) loadUnsettled(q *rules.Unsettled, u *rules.UnitOfWork) error {
	s, err := w.stmt(sqlUnsettled)
	if err != nil {
		return err
	}
	s.BindText(1, q.Runner)
	s.BindBytes(2, q.Incarnation[:])
	s.BindInt64(3, int64(q.Limit))
	return rows(s, func(s *sqlite.Stmt) error {
		u.PutUnsettled(scanJob(s))
		return nil
	})
}
