package postgres

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	// Version 0 stands for a job that this transaction has inserted.
	sqlDeleteJobs = `
WITH gone AS (
  DELETE FROM rota_jobs j
  USING unnest($1, $2) AS v (id, version_seen)
  WHERE j.id = v.id AND (j.xmin = v.version_seen OR v.version_seen = '0'::xid)
  RETURNING 1
)
SELECT rota_expect(count(*), $3, $3)
FROM gone`
	sqlAttempts = `
WITH RECURSIVE chain (id, n) AS (
  SELECT j.id, 1
  FROM rota_jobs j
  WHERE j.id = $1
  UNION ALL
  SELECT j.id, chain.n + 1
  FROM chain
  JOIN rota_jobs j ON j.retry_of = chain.id
)
SELECT id
FROM chain
ORDER BY n`
	sqlRedriven = `
SELECT id
FROM rota_jobs
WHERE redrive_of = $1
ORDER BY id DESC
LIMIT 1`

	// One row for each execution: the id of its first attempt and the state of its last. Most
	// executions have one attempt.
	firstAttempts = `
SELECT first.id, ` + attemptStateColumns + `
FROM (
  SELECT f.id, f.sequel
  FROM rota_jobs f
  WHERE f.retry_of IS NULL AND f.id `
	lastAttempts = `
) first
CROSS JOIN LATERAL (
  WITH RECURSIVE chain (id, sequel, n) AS (
    SELECT first.id, first.sequel, 1
    UNION ALL
    SELECT a.id, a.sequel, chain.n + 1
    FROM chain
    JOIN rota_jobs a ON a.retry_of = chain.id
    WHERE chain.sequel = 'retry'
  )
  SELECT chain.id
  FROM chain
  ORDER BY chain.n DESC
  LIMIT 1
) last
JOIN rota_jobs j ON j.id = last.id
ORDER BY first.id`
	sqlOldest = firstAttempts + `> $1 AND f.id <= $3
  ORDER BY f.id
  LIMIT $2` + lastAttempts
	sqlLatestFirst = firstAttempts + `< $1
  ORDER BY f.id DESC
  LIMIT $2` + lastAttempts + ` DESC`
)

// deleteJobs deletes jobs with their runs and params, each in the version that was read. The
// attempts of an execution may be deleted together, because their constraint is checked at the end
// of the statement.
func (t *tx) deleteJobs(gone []*rota.Job) {
	if len(gone) == 0 {
		return
	}
	ids, versions := newColumn(oidIDs, len(gone)), newColumn(oidXids, len(gone))
	for _, j := range gone {
		ids.bytes(j.ID[:])
		versions.xid(t.readSet.jobs[j.ID])
	}
	t.write(statement{sql: sqlDeleteJobs, params: []param{ids.param(), versions.param(), intParam(int64(len(gone)))}})
}

func (t *tx) loadAttempts(q rules.Attempts, u *rules.UnitOfWork) statement {
	return statement{sql: sqlAttempts, params: []param{idParam(q.Execution)}, eachRow: func(r row) error {
		rules.Append(rules.AttemptsOf, u, q, r.ID(0))
		return nil
	}}
}

func (t *tx) loadRedriven(q rules.Redriven, u *rules.UnitOfWork) statement {
	return statement{sql: sqlRedriven, params: []param{idParam(q.Execution)}, eachRow: func(r row) error {
		rules.Redrives.Put(u, q, r.ID(0))
		return nil
	}}
}

// Prunable finds executions that no longer need to be kept. It goes oldest first as far as one can
// be old enough, or newest first through all of them if the retention counts executions.
func (s *Store) Prunable(ctx context.Context, q rota.PruneQuery) (page rota.PrunePage, err error) {
	if err := q.Validate(); err != nil {
		return page, err
	}
	if q.Now.IsZero() {
		if q.Now, err = s.now(ctx); err != nil {
			return page, err
		}
	}
	if q.Limit == 0 {
		q.Limit = rota.PageMax
	}
	page.Next = q.From
	stmt, some := executionsToCheck(&q)
	if !some {
		return page, nil
	}
	count := 0
	stmt.eachRow = func(r row) error {
		if count++; count > q.Limit {
			page.More = true
			return nil
		}
		checkPrunable(&q, &page, r.ID(0), scanAttemptState(r[1:]))
		return nil
	}
	err = s.query(ctx, "prunable", withoutJIT, stmt)
	return page, err
}

// executionsToCheck returns the statement that reads the next executions, one more than the limit.
// It returns false if none can qualify.
func executionsToCheck(q *rota.PruneQuery) (stmt statement, some bool) {
	most := intParam(int64(q.Limit) + 1)
	if q.Retention.Counts() {
		return statement{sql: sqlLatestFirst, params: []param{beforeParam(q.From.Last), most}}, true
	}
	youngest, some := youngestPrunable(&q.Retention, q.Now)
	return statement{sql: sqlOldest, params: []param{{oidID, q.From.Last[:]}, most, idParam(youngest)}}, some
}

// youngestPrunable returns the highest id of an execution that can be older than the smallest age:
// ids begin with the millisecond of their creation. It returns false if the retention has no age.
func youngestPrunable(r *rota.Retention, now time.Time) (last rota.ID, some bool) {
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
func checkPrunable(q *rota.PruneQuery, page *rota.PrunePage, first rota.ID, tail *rota.Job) {
	page.Next.Last = first
	if tail.Sequel == "" || tail.Sequel == rota.SequelRetry {
		return
	}
	seen := page.Next.SeenOf(tail)
	before := *seen
	seen.Count(tail)
	keep := q.Retention.For(tail)
	if keep.Age > 0 && tail.FinishedAt.Before(q.Now.Add(-keep.Age)) ||
		keep.Count > 0 && lastCount(before, *seen) > keep.Count {
		page.Executions = append(page.Executions, first)
	}
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
