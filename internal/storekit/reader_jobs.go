package storekit

import (
	"context"

	"github.com/rotajobs/rota"
)

var (
	sqlShownJob = `
SELECT ` + FullJob + `
FROM rota_jobs j
WHERE j.id = $1 AND ` + NotDropped
	sqlLastAttempt = `
SELECT ` + FullJob + `
FROM rota_jobs j
WHERE ` + lastAttempt(`$1`) + ` AND ` + NotDropped
	// An execution is visible, with all its attempts, if its last attempt is.
	sqlExecution = `
WITH RECURSIVE chain (id, n) AS (
  SELECT coalesce(j.execution_id, j.id), 1
  FROM rota_jobs j
  WHERE j.id = $1
  UNION ALL
  SELECT j.id, chain.n + 1
  FROM chain
  JOIN rota_jobs j ON j.retry_of = chain.id
)
SELECT ` + FullJob + `
FROM chain
JOIN rota_jobs j ON j.id = chain.id
WHERE EXISTS (
  SELECT 1
  FROM rota_jobs j
  WHERE j.id = (SELECT last.id FROM chain last ORDER BY last.n DESC LIMIT 1) AND ` + NotDropped + `)
ORDER BY chain.n`
)

// idOfLastAttempt returns the query of the id of the last attempt of an execution, given any of its
// attempts.
func idOfLastAttempt(id string) string {
	return `(
  WITH RECURSIVE chain (id, n) AS (
    SELECT ` + id + `, 1
    UNION ALL
    SELECT a.id, chain.n + 1
    FROM chain
    JOIN rota_jobs a ON a.retry_of = chain.id
  )
  SELECT chain.id
  FROM chain
  ORDER BY chain.n DESC
  LIMIT 1)`
}

// Job returns a job with its run.
func (s *Reader) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	jobs, err := s.list(ctx, "job", sqlShownJob, id)
	if err == nil && len(jobs) == 0 {
		return nil, noJob(id)
	}
	if err != nil {
		return nil, err
	}
	return jobs[0], nil
}

// LastAttempt returns the last attempt of an execution.
func (s *Reader) LastAttempt(ctx context.Context, id rota.ID) (*rota.Job, error) {
	jobs, err := s.list(ctx, "last attempt", sqlLastAttempt, id)
	if err == nil && len(jobs) == 0 {
		return nil, noJob(id)
	}
	if err != nil {
		return nil, err
	}
	return jobs[0], nil
}

// Execution lists the attempts of an execution, first to last.
func (s *Reader) Execution(ctx context.Context, id rota.ID) ([]*rota.Job, error) {
	attempts, err := s.list(ctx, "execution", sqlExecution, id)
	if err == nil && len(attempts) == 0 {
		return nil, noJob(id)
	}
	return attempts, err
}

func noJob(id rota.ID) *rota.Error {
	return &rota.Error{
		Code: rota.NotFound, Act: "job", Reason: "there is no job " + id.String(),
		Hint: "check the id; the job may have been pruned; rota job list shows the jobs",
	}
}

// list reads jobs without their lease tokens.
func (s *Reader) list(ctx context.Context, act, sql string, args ...any) (jobs []*rota.Job, err error) {
	err = s.on.Query(ctx, act, sql, appendJobs(&jobs), args...)
	if err != nil {
		return nil, err
	}
	return jobs, nil
}

func appendJobs(jobs *[]*rota.Job) func(Row) error {
	return func(r Row) error {
		*jobs = append(*jobs, ScanListed(r))
		return nil
	}
}

// Jobs lists jobs by id. A statement has only the requested filters.
func (s *Reader) Jobs(ctx context.Context, q rota.JobQuery) ([]*rota.Job, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	limit, err := PageLimit(q.Limit)
	if err != nil || matchesNothing(&q) {
		return nil, err
	}
	sql, args := s.on.Reads.ListSQL(&q, limit)
	return s.list(ctx, "list", sql, args...)
}

// ListSQL returns the statement of a list: oldest first if requested, and without the documents if
// the query is lean.
func (l *Reads) ListSQL(q *rota.JobQuery, limit int) (sql string, args []any) {
	return l.findSQL(q, q, rota.ID{}, limit)
}

// matchesNothing reports whether a query has a status that no job of its state has.
func matchesNothing(q *rota.JobQuery) bool {
	one := liveStatusOf[q.State]
	return one != "" && q.Status != "" && q.Status != one
}

// CountJobs counts what Jobs would list over all pages.
func (s *Reader) CountJobs(ctx context.Context, q rota.JobQuery) (n int64, err error) {
	q.Limit = 0
	if err := q.Validate(); err != nil || matchesNothing(&q) {
		return 0, err
	}
	add := func(r Row) error {
		n += r.Int(0)
		return nil
	}
	var parts []Query
	for _, part := range s.on.Reads.Count(&q) {
		parts = append(parts, Query{part.SQL, add, part.Args})
	}
	if len(parts) == 1 {
		err = s.on.Query(ctx, "count", parts[0].SQL, add, parts[0].Args...)
		return n, err
	}
	err = s.on.Snapshot(ctx, "count", func(on Querier) error { return on.Query(parts...) })
	return n, err
}
