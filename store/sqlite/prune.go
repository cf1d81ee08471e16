package sqlite

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlDeleteJob = `
DELETE FROM rota_jobs
WHERE id = ?`
	attemptChain = `
WITH RECURSIVE chain (id, n) AS (
  SELECT id, 1
  FROM rota_jobs
  WHERE id = ?
  UNION ALL
  SELECT j.id, chain.n + 1
  FROM chain JOIN rota_jobs j ON j.retry_of = chain.id
)`
	sqlAttempts = attemptChain + `
SELECT id
FROM chain
ORDER BY n`
	sqlRedriven = `
SELECT id
FROM rota_jobs INDEXED BY rota_jobs_redrive
WHERE redrive_of = ?
ORDER BY id DESC
LIMIT 1`

	selectAttemptState = `
SELECT ` + attemptStateColumns + `
FROM rota_jobs j`
	sqlPrunableOldest = selectAttemptState + `
WHERE j.id > ? AND j.id <= ? AND j.retry_of IS NULL
ORDER BY j.id
LIMIT +?`
	sqlPrunableNewest = selectAttemptState + `
WHERE j.id < ? AND j.retry_of IS NULL
ORDER BY j.id DESC
LIMIT +?`
	sqlEndOfChain = attemptChain + selectAttemptState + `
WHERE j.id = (SELECT id FROM chain ORDER BY n DESC LIMIT 1)`
)

// deleteJob deletes a job. A trigger deletes its params.
func (w *writer) deleteJob(j *rota.Job) error {
	return w.change(sqlDeleteJob, func(s *sqlite.Stmt) { s.BindBytes(1, j.ID[:]) })
}

func (w *writer) loadAttempts(q rules.Attempts, u *rules.UnitOfWork) error {
	return w.query(sqlAttempts, func(s *sqlite.Stmt) { s.BindBytes(1, q.Execution[:]) }, func(s *sqlite.Stmt) error {
		rules.Append(rules.AttemptsOf, u, q, scanID(s, 0))
		return nil
	})
}

func (w *writer) loadRedriven(q rules.Redriven, u *rules.UnitOfWork) error {
	return w.query(sqlRedriven, func(s *sqlite.Stmt) { s.BindBytes(1, q.Execution[:]) }, func(s *sqlite.Stmt) error {
		rules.Redrives.Put(u, q, scanID(s, 0))
		return nil
	})
}

// Prunable finds executions that no longer need to be kept. It goes oldest first as far as one can
// be old enough, or newest first through all of them if the retention counts executions.
func (s *Store) Prunable(ctx context.Context, q rota.PruneQuery) (page rota.PrunePage, err error) {
	if q.Now.IsZero() {
		q.Now = s.config.Clock()
	}
	if q.Limit == 0 {
		q.Limit = rota.PageMax
	}
	if err := q.Validate(); err != nil {
		return page, err
	}
	page.Next = q.From
	err = s.withSnapshot(ctx, "prunable", func(conn *sqlite.Conn) error {
		firsts, err := firstAttempts(conn, &q)
		if page.More = len(firsts) > q.Limit; page.More {
			firsts = firsts[:q.Limit]
		}
		for _, first := range firsts {
			if err != nil {
				return err
			}
			err = checkPrunable(conn, &q, &page, first)
		}
		return err
	})
	return page, err
}

// firstAttempts returns the first attempts of the next executions to check, and one more if there
// is one.
func firstAttempts(conn *sqlite.Conn, q *rota.PruneQuery) ([]*rota.Job, error) {
	sql, bind := sqlPrunableNewest, func(stmt *sqlite.Stmt) {
		bindBefore(stmt, 1, q.From.Last)
		stmt.BindInt64(2, int64(q.Limit)+1)
	}
	if !q.Retention.Counts() {
		youngest, bounded := youngestPrunable(&q.Retention, q.Now)
		if !bounded {
			return nil, nil
		}
		sql, bind = sqlPrunableOldest, func(stmt *sqlite.Stmt) {
			stmt.BindBytes(1, q.From.Last[:])
			stmt.BindBytes(2, youngest[:])
			stmt.BindInt64(3, int64(q.Limit)+1)
		}
	}
	return queryAll(conn, sql, bind, func(s *sqlite.Stmt) (*rota.Job, error) { return scanAttemptState(s), nil })
}

// youngestPrunable returns the highest id of an execution that can be older than the smallest age:
// ids begin with the millisecond of their creation. It returns false if the retention has no age.
func youngestPrunable(r *rota.Retention, now time.Time) (last rota.ID, bounded bool) {
	var least time.Duration
	for _, keep := range []rota.Keep{r.Completed, r.Skipped, r.Cancelled, r.Dead} {
		if keep.Age > 0 && (least == 0 || keep.Age < least) {
			least = keep.Age
		}
	}
	ms := now.Add(-least).UnixMilli()
	if least == 0 || ms < 0 {
		return last, false
	}
	for i := range last {
		last[i] = 0xff
	}
	for i := 5; i >= 0; i-- {
		last[i], ms = byte(ms), ms>>8
	}
	return last, true
}

// checkPrunable checks one execution by the state of its last attempt.
func checkPrunable(conn *sqlite.Conn, q *rota.PruneQuery, page *rota.PrunePage, first *rota.Job) error {
	page.Next.Last = first.ID
	tail := first
	if first.Sequel == rota.SequelRetry {
		err := query(conn, sqlEndOfChain, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, first.ID[:]) },
			func(stmt *sqlite.Stmt) { tail = scanAttemptState(stmt) })
		if err != nil {
			return err
		}
	}
	if tail.Sequel == "" || tail.Sequel == rota.SequelRetry {
		return nil
	}
	seen := page.Next.SeenOf(tail)
	before := *seen
	seen.Count(tail)
	keep := q.Retention.For(tail)
	if keep.Age > 0 && tail.FinishedAt.Before(q.Now.Add(-keep.Age)) ||
		keep.Count > 0 && lastCount(before, *seen) > keep.Count {
		page.Executions = append(page.Executions, first.ID)
	}
	return nil
}

// lastCount returns the count of the outcome that was counted last.
func lastCount(before, seen rota.GroupTally) int {
	switch {
	case seen.Completed > before.Completed:
		return seen.Completed
	case seen.Skipped > before.Skipped:
		return seen.Skipped
	case seen.Dead > before.Dead:
		return seen.Dead
	}
	return seen.Cancelled
}
