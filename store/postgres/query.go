package postgres

import (
	"context"

	"github.com/rotajobs/rota"
)

const pageDefault = 100

const (
	sqlJob = `
SELECT ` + fullColumns + `
FROM rota_jobs j
WHERE j.id = $1`
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
SELECT ` + fullColumns + `
FROM chain
JOIN rota_jobs j ON j.id = chain.id` + tailShown + `
ORDER BY chain.n`
)

// Job returns a job with its run.
func (s *reader) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	jobs, err := s.list(ctx, "job", sqlShownJob, idParam(id))
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, noJob(id)
	}
	return jobs[0], nil
}

// Execution lists the attempts of an execution, first to last.
func (s *reader) Execution(ctx context.Context, id rota.ID) ([]*rota.Job, error) {
	attempts, err := s.list(ctx, "execution", sqlExecution, idParam(id))
	if err == nil && len(attempts) == 0 {
		return nil, noJob(id)
	}
	return attempts, err
}

func (s *reader) list(ctx context.Context, act, sql string, params ...param) (jobs []*rota.Job, err error) {
	err = s.query(ctx, act, statement{sql: sql, params: params, eachRow: appendJobs(&jobs)})
	if err != nil {
		return nil, err
	}
	return jobs, nil
}

// appendJobs returns a callback that appends jobs without lease tokens.
func appendJobs(jobs *[]*rota.Job) func(row) error {
	return func(r row) error {
		*jobs = append(*jobs, scanWithoutToken(r))
		return nil
	}
}

// scanWithoutToken reads a job without its lease token, which only the worker of the job may know.
func scanWithoutToken(r row) *rota.Job {
	j := scanJob(r)
	if j.Run != nil {
		j.Run.Token = rota.Token{}
	}
	return j
}

// withoutJIT goes before statements with recursive queries. The planner overestimates them and
// would compile the statement for a second to run it for milliseconds. The setting lasts for the
// pipeline.
var withoutJIT = statement{sql: `
SELECT set_config('jit', 'off', true)`}

func pageLimit(limit int) (int64, error) {
	switch {
	case limit == 0:
		return pageDefault, nil
	case limit < 0 || limit > rota.PageMax:
		return 0, rota.Invalidf("limit", "is %d; allowed are 1 to %d, or 0 for %d", limit, rota.PageMax, pageDefault)
	}
	return int64(limit), nil
}

func noJob(id rota.ID) *rota.Error {
	return &rota.Error{
		Code: rota.NotFound, Act: "job", Reason: "there is no job " + id.String(),
		Hint: "check the id; the job may have been pruned; rota job list shows the jobs",
	}
}
