package storekit

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// One row for each execution: the id of its first attempt and the state of its last. Most executions
// have one attempt. The subquery computes the id of the last attempt: if a join did, PostgreSQL would
// read the whole table.
var (
	selectFirst = `
SELECT first.id, ` + AttemptJob + `
FROM (
  SELECT f.id, CASE f.sequel WHEN 'retry' THEN ` + idOfLastAttempt(`f.id`) + ` ELSE f.id END AS last
  FROM rota_jobs f
  WHERE f.retry_of IS NULL AND f.id `
	joinLast = `
) first
JOIN rota_jobs j ON j.id = first.last
ORDER BY first.id`
	sqlPrunableOldest = selectFirst + `> $1 AND f.id <= $3
  ORDER BY f.id
  LIMIT $2` + joinLast
	sqlPrunableNewest = selectFirst + `< $1
  ORDER BY f.id DESC
  LIMIT $2` + joinLast + ` DESC`
)

// Prunable finds executions that no longer need to be kept. It goes oldest first as far as one can
// be old enough, or newest first through all of them if the retention counts executions.
func (s *Reader) Prunable(ctx context.Context, q rota.PruneQuery) (page rota.PrunePage, err error) {
	if err := q.Validate(); err != nil {
		return page, err
	}
	if q.Now.IsZero() {
		if q.Now, err = s.clock(ctx); err != nil {
			return page, err
		}
	}
	if q.Limit == 0 {
		q.Limit = rota.PageMax
	}
	page.Next = q.From
	sql, args := sqlPrunableNewest, []any{Before(q.From.Last), q.Limit + 1}
	if !q.Retention.Counts() {
		sql, args = sqlPrunableOldest, []any{q.From.Last, q.Limit + 1, youngestPrunable(&q.Retention, q.Now)}
	}
	count := 0
	err = s.on.Query(ctx, "prunable", sql, func(r Row) error {
		if count++; count > q.Limit {
			page.More = true
			return nil
		}
		checkPrunable(&q, &page, r.ID(0), ScanAttempt(From(r, 1)))
		return nil
	}, args...)
	return page, err
}

// youngestPrunable returns the highest id of an execution that can be older than the smallest age:
// ids begin with the millisecond of their creation. It is zero if the retention has no age.
func youngestPrunable(r *rota.Retention, now time.Time) (last rota.ID) {
	var least time.Duration
	for _, keep := range []rota.Keep{r.Completed, r.Skipped, r.Cancelled, r.Dead} {
		if keep.Age > 0 && (least == 0 || keep.Age < least) {
			least = keep.Age
		}
	}
	ms := now.Add(-least).UnixMilli()
	if least == 0 || ms < 0 {
		return last
	}
	for i := range last {
		last[i] = 0xff
	}
	for i := 5; i >= 0; i-- {
		last[i], ms = byte(ms), ms>>8
	}
	return last
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
