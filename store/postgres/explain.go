package postgres

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/explain"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	// The last attempt of an execution, given any of its attempts.
	sqlTailOf = `
SELECT ` + leanColumns + `, ` + clockHere + `
FROM rota_jobs j
WHERE j.id = (` + chainFrom + `$2` + endOfChain + `) AND ` + notDropped
	chainFrom = `
  WITH RECURSIVE chain (id, n) AS (
    SELECT `
	endOfChain = `, 1
    UNION ALL
    SELECT a.id, chain.n + 1
    FROM chain
    JOIN rota_jobs a ON a.retry_of = chain.id
  )
  SELECT chain.id
  FROM chain
  ORDER BY chain.n DESC
  LIMIT 1
`
	sqlRedriveTail = `
SELECT ` + leanColumns + `
FROM rota_jobs j
WHERE j.id = (` + chainFrom + `(` + sqlRedriven + `)` + endOfChain + `)`
	sqlLeanJob = `
SELECT ` + leanColumns + `
FROM rota_jobs j
WHERE j.id = $1`
	sqlEarlier = `
SELECT ` + leanColumns + `
FROM rota_jobs j
WHERE j.group_id = $1 AND j.sequel IS NULL AND j.group_position < $2
ORDER BY j.group_position, j.id
LIMIT $3`
	// Jobs that wait for an overlap start in the order of their ids, when no other job is active.
	sqlAhead = `
SELECT ` + leanColumns + `
FROM rota_jobs j
WHERE j.schedule = $1 AND coalesce(j.scope_kind, '') = $2 AND coalesce(j.scope_id, '') = $3 AND j.sequel IS NULL
  AND j.id <> $4 AND (j.hold & 8 = 0 OR j.id < $4)
ORDER BY j.hold & 8, j.id
LIMIT $5`

	// The numbers of running and ready jobs matter only if there are limits.
	sqlOpenNow = `
SELECT (` + sqlOpenAll + `), (` + openJobs + ` AND type = $2), (` + sqlKeyQueueOpen + `), (` + sqlKeyQueueReady + `)
WHERE EXISTS (SELECT FROM rota_throttle)`

	// Counts the ready jobs before a job in dispatch order, type by type: all jobs of a higher
	// priority and the first of its own. It counts at most as many as the answer reports.
	sqlBefore = readyTypes + `
SELECT
  (SELECT count(*)
  FROM (
    SELECT
    FROM (SELECT $1 AS type) queues
    CROSS JOIN LATERAL (` + before + `) b
    LIMIT $6) few),
  (SELECT count(*)
  FROM (
    SELECT
    FROM queues
    CROSS JOIN LATERAL (` + before + `) b
    LIMIT $6) few)`
	before = `
      SELECT
      FROM rota_jobs j
      WHERE j.type BETWEEN queues.type AND queues.type AND j.status = 'QUEUED' AND j.hold = 0 AND j.priority > $2
      UNION ALL
      SELECT
      FROM rota_jobs j
      WHERE j.type BETWEEN queues.type AND queues.type AND j.status = 'QUEUED' AND j.hold = 0
        AND j.priority = $2 AND (j.position, j.created_at, j.id) < ($3, $4, $5)`
)

// Explain returns the reasons why a job does not run.
func (s *reader) Explain(ctx context.Context, id rota.ID) (found []rota.Reason, err error) {
	err = s.withSnapshot(ctx, "explain", func(c *session, ctx context.Context) error {
		e := &explanation{session: c, ctx: ctx}
		if err := e.read(id, s.clockParam(ctx)); err != nil {
			return err
		}
		found = explain.Explain(&e.Facts)
		return nil
	})
	return found, err
}

// explanation reads the facts about a job: first the job, then the rows related to it, then the
// state of its dependencies.
type explanation struct {
	explain.Facts
	*session
	ctx context.Context
}

func (e *explanation) read(id rota.ID, clock param) error {
	err := e.send(e.ctx, withoutJIT, statement{sql: sqlTailOf, params: []param{clock, idParam(id)}, eachRow: func(r row) error {
		e.Job, e.Now = scanWithoutToken(r), r.Time(colResult+1)
		return nil
	}})
	if err != nil {
		return err
	}
	j := e.Job
	if j == nil {
		return noJob(id)
	}
	var statements []statement
	if !j.GroupID.IsZero() {
		statements = append(statements, selectOne(&e.Group, scanGroup, sqlGroup, idsParam([]rota.ID{j.GroupID})))
	}
	switch {
	case j.Status == rota.StatusQueued:
		statements = append(append(append(statements, e.holds()...), e.limits()...), e.order()...)
	case j.Ended():
		statements = append(statements, selectJob(&e.Redrive, sqlRedriveTail, idParam(j.ExecutionID)))
	}
	if err := e.send(e.ctx, statements...); err != nil {
		return err
	}
	return e.latest()
}

// holds reads what the job waits for.
func (e *explanation) holds() (statements []statement) {
	j := e.Job
	if !j.RetryOf.IsZero() {
		statements = append(statements, selectJob(&e.Failed, sqlLeanJob, idParam(j.RetryOf)))
	}
	few := intParam(explain.NamedJobsMax + 1)
	if j.Hold&rota.HoldGroup != 0 {
		params := []param{idParam(j.GroupID), intParam(int64(j.GroupPosition)), few}
		statements = append(statements, statement{sql: sqlEarlier, params: params, eachRow: appendJobs(&e.Earlier)})
	}
	if j.Hold&rota.HoldOverlap != 0 {
		params := append(scopeParams(j.Schedule, rota.Scope{Kind: j.ScopeKind, ID: j.ScopeID}), idParam(j.ID), few)
		statements = append(statements, statement{sql: sqlAhead, params: params, eachRow: appendJobs(&e.Ahead)})
	}
	if j.Hold&rota.HoldDependency != 0 {
		statements = append(statements, e.dependencies())
	}
	return statements
}

const sqlDependencies = scheduleColumns + `
WHERE name IN (SELECT depends_on FROM rota_edges WHERE schedule = $1)
ORDER BY name`

func (e *explanation) dependencies() statement {
	return statement{sql: sqlDependencies, params: []param{textNotNull(e.Job.Schedule)}, eachRow: scanInto(scanSchedule, func(d *rota.Schedule) {
		e.Dependencies = append(e.Dependencies, explain.Dependency{Schedule: d})
	})}
}

// limits reads what limits the starts of the job's type and key.
func (e *explanation) limits() []statement {
	typ, key := e.Job.Type, e.Job.ConcurrencyKey
	return []statement{
		selectOne(&e.Type, scanType, sqlType, textsParam([]string{typ})),
		selectOne(&e.Bucket, scanBucket, sqlBucket, textsParam([]string{typ})),
		selectOne(&e.Reservation, scanReservation, sqlActive),
		{sql: sqlThrottle, eachRow: scanInto(scanThrottle, func(t *rota.Throttle) { e.Limits = t.Spec })},
		{sql: sqlOpenNow, params: []param{textNotNull(key), textNotNull(typ)}, eachRow: func(r row) error {
			e.Open, e.OpenType, e.OpenKey, e.ReadyKey = int(r.Int(0)), int(r.Int(1)), int(r.Int(2)), int(r.Int(3))
			return nil
		}},
	}
}

// order counts the jobs before the job.
func (e *explanation) order() []statement {
	j := e.Job
	if !j.Ready() {
		return nil
	}
	return []statement{{sql: sqlBefore, params: []param{
		textNotNull(j.Type), intParam(int64(j.Priority)), intParam(j.Position), timeParam(j.CreatedAt), idParam(j.ID),
		intParam(explain.CountMax + 1),
	}, eachRow: func(r row) error {
		e.BeforeType, e.Before = int(r.Int(0)), int(r.Int(1))
		return nil
	}}}
}

// sqlLatestTails reads for each window the last attempt of the execution that counts, if there is
// one.
const sqlLatestTails = `
SELECT ` + leanColumns + `, w.n
FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY AS w (schedule, kind, scope, after, until, n)
CROSS JOIN LATERAL (
  SELECT c.id
  FROM rota_jobs c
  WHERE c.schedule = w.schedule AND coalesce(c.scope_kind, '') = w.kind AND coalesce(c.scope_id, '') = w.scope
    AND c.counts_at > w.after AND c.counts_at <= w.until AND c.retry_of IS NULL
  ORDER BY c.counts_at DESC, c.id DESC
  LIMIT 1
) latest
CROSS JOIN LATERAL (` + chainFrom + `latest.id` + endOfChain + `) last
JOIN rota_jobs j ON j.id = last.id`

// latest reads the state of the dependencies.
func (e *explanation) latest() error {
	if len(e.Dependencies) == 0 {
		return nil
	}
	windows, count := make([][]rules.Latest, len(e.Dependencies)), 0
	columns := []*column{newColumn(oidTexts, 0), newColumn(oidTexts, 0), newColumn(oidTexts, 0), newColumn(oidInts, 0), newColumn(oidInts, 0)}
	for i, d := range e.Dependencies {
		windows[i] = e.Windows(d.Schedule)
		count += len(windows[i])
		for _, q := range windows[i] {
			columns[0].textNotNull(q.Schedule)
			columns[1].textNotNull(q.Scope.Kind)
			columns[2].textNotNull(q.Scope.ID)
			columns[3].int(q.After)
			columns[4].int(q.Until)
		}
	}
	tails := make([]*rota.Job, count)
	err := e.send(e.ctx, statement{sql: sqlLatestTails, params: paramsOf(columns), eachRow: func(r row) error {
		tails[r.Int(colResult+1)-1] = scanWithoutToken(r)
		return nil
	}})
	for i := range e.Dependencies {
		e.Dependencies[i].Latest = untilMissed(windows[i], tails)
		tails = tails[len(windows[i]):]
	}
	return err
}

// untilMissed returns the state of a dependency up to the first scope for which it has not
// completed.
func untilMissed(windows []rules.Latest, tails []*rota.Job) (all []explain.LatestTail) {
	for i, q := range windows {
		one := explain.LatestTail{Scope: q.Scope, Tail: tails[i]}
		if all = append(all, one); !one.Completed() {
			break
		}
	}
	return all
}

// selectOne reads the only row that there can be; nil if there is none.
func selectOne[T any](into **T, scan func(row) (*T, error), sql string, params ...param) statement {
	return statement{sql: sql, params: params, eachRow: scanInto(scan, func(one *T) { *into = one })}
}

func selectJob(into **rota.Job, sql string, params ...param) statement {
	return selectOne(into, func(r row) (*rota.Job, error) { return scanWithoutToken(r), nil }, sql, params...)
}
