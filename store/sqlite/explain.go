package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/explain"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlLeanJob = `
SELECT ` + leanColumns + `
FROM rota_jobs j
WHERE j.id = ?`
	sqlEarlier = `
SELECT ` + leanColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_member
WHERE j.group_id = ? AND j.sequel IS NULL AND j.group_position < ?
ORDER BY j.group_position, j.id
LIMIT +?`
	// Jobs that wait for an overlap start in the order of their ids, when no other job is active.
	sqlAhead = `
SELECT ` + leanColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_live
WHERE j.schedule = ?1 AND j.scope_kind IS ?2 AND j.scope_id IS ?3 AND j.sequel IS NULL
  AND j.id <> ?4 AND (j.hold & 8 = 0 OR j.id < ?4)
ORDER BY j.hold & 8, j.id
LIMIT +?5`

	// The jobs of a type before a position of the order: all jobs of a higher priority, and the
	// first jobs of its own priority.
	sqlTypeQueueAbove = `
SELECT count(*)
FROM (
  SELECT 1
  FROM rota_jobs INDEXED BY rota_jobs_claim
  WHERE type = ?1 AND status = 'QUEUED' AND hold = 0 AND priority > ?3
  LIMIT +?2)`
	sqlTypeQueueBefore = `
SELECT count(*)
FROM (
  SELECT 1
  FROM rota_jobs INDEXED BY rota_jobs_claim
  WHERE type = ?1 AND status = 'QUEUED' AND hold = 0
    AND priority = ?3 AND (position, created_at, id) < (?4, ?5, ?6)
  LIMIT +?2)`
)

// Explain returns the reasons why a job does not run.
func (s *reader) Explain(ctx context.Context, id rota.ID) (found []rota.Reason, err error) {
	err = s.withSnapshot(ctx, "explain", func(conn *sqlite.Conn) error {
		e := &explanation{conn: conn, Facts: explain.Facts{Now: s.now()}}
		if err := e.read(id); err != nil {
			return err
		}
		found = explain.Explain(&e.Facts)
		return nil
	})
	return found, err
}

// explanation reads the facts about a job.
type explanation struct {
	explain.Facts
	conn *sqlite.Conn
}

func (e *explanation) read(id rota.ID) (err error) {
	if e.Job, err = e.tail(id); err != nil {
		return err
	}
	j := e.Job
	if j == nil {
		return noJob(id)
	}
	if e.Group, err = readRow(e.conn, sqlGroup, func(stmt *sqlite.Stmt) { bindID(stmt, 1, j.GroupID) }, scanGroup); err != nil {
		return err
	}
	switch {
	case j.Status == rota.StatusQueued:
		return firstError(e.readHolds, e.readLimits, e.readOrder)
	case j.Ended():
		return e.readRedrive()
	}
	return nil
}

// tail returns the last attempt of an execution, given any attempt, or nil if it does not exist or
// is hidden.
func (e *explanation) tail(id rota.ID) (*rota.Job, error) {
	err := query(e.conn, sqlChain, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, id[:]) },
		func(stmt *sqlite.Stmt) { id = scanID(stmt, 0) })
	if err != nil {
		return nil, err
	}
	if shown, err := isShown(e.conn, id); err != nil || !shown {
		return nil, err
	}
	return e.job(id)
}

func (e *explanation) job(id rota.ID) (*rota.Job, error) {
	jobs, err := queryJobs(e.conn, sqlLeanJob, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, id[:]) })
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	return jobs[0], nil
}

func (e *explanation) readRedrive() error {
	var id rota.ID
	err := query(e.conn, sqlRedriven, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, e.Job.ExecutionID[:]) },
		func(stmt *sqlite.Stmt) { id = scanID(stmt, 0) })
	if err == nil && !id.IsZero() {
		e.Redrive, err = e.tail(id)
	}
	return err
}

// readHolds reads the jobs that the job waits for.
func (e *explanation) readHolds() (err error) {
	j := e.Job
	if !j.RetryOf.IsZero() {
		e.Failed, err = e.job(j.RetryOf)
	}
	if err == nil && j.Hold&rota.HoldGroup != 0 {
		e.Earlier, err = queryJobs(e.conn, sqlEarlier, func(stmt *sqlite.Stmt) {
			bindID(stmt, 1, j.GroupID)
			stmt.BindInt64(2, int64(j.GroupPosition))
			stmt.BindInt64(3, explain.NamedJobsMax+1)
		})
	}
	if err == nil && j.Hold&rota.HoldOverlap != 0 {
		e.Ahead, err = queryJobs(e.conn, sqlAhead, func(stmt *sqlite.Stmt) {
			stmt.BindText(1, j.Schedule)
			bindScope(stmt, 2, rota.Scope{Kind: j.ScopeKind, ID: j.ScopeID})
			bindID(stmt, 4, j.ID)
			stmt.BindInt64(5, explain.NamedJobsMax+1)
		})
	}
	if err == nil && j.Hold&rota.HoldDependency != 0 {
		err = e.readDependencies()
	}
	return err
}

func (e *explanation) readDependencies() error {
	own, err := e.schedule(e.Job.Schedule)
	if err != nil || own == nil {
		return err
	}
	for _, name := range own.Spec.DependsOn {
		d, err := e.schedule(name)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		latest, err := e.latest(d)
		if err != nil {
			return err
		}
		e.Dependencies = append(e.Dependencies, explain.Dependency{Schedule: d, Latest: latest})
	}
	return nil
}

func (e *explanation) schedule(name string) (*rota.Schedule, error) {
	return readRow(e.conn, sqlSchedule, func(stmt *sqlite.Stmt) { stmt.BindText(1, name) }, scanSchedule)
}

// latest reads the state of a dependency, up to the first scope for which it has not completed.
func (e *explanation) latest(d *rota.Schedule) (all []explain.LatestTail, err error) {
	for _, q := range e.Windows(d) {
		var id rota.ID
		err := query(e.conn, sqlLatest, func(stmt *sqlite.Stmt) { bindLatest(stmt, q) },
			func(stmt *sqlite.Stmt) { id = scanID(stmt, 0) })
		if err != nil {
			return nil, err
		}
		one := explain.LatestTail{Scope: q.Scope}
		if !id.IsZero() {
			if one.Tail, err = e.tail(id); err != nil {
				return nil, err
			}
		}
		if all = append(all, one); !one.Completed() {
			break
		}
	}
	return all, nil
}

func bindLatest(stmt *sqlite.Stmt, q rules.Latest) {
	stmt.BindText(1, q.Schedule)
	bindScope(stmt, 2, q.Scope)
	stmt.BindInt64(4, q.After)
	stmt.BindInt64(5, q.Until)
}

// readLimits reads what limits the starts of the job's type and key.
func (e *explanation) readLimits() (err error) {
	named := func(name string) func(*sqlite.Stmt) { return func(stmt *sqlite.Stmt) { stmt.BindText(1, name) } }
	typ, key := named(e.Job.Type), named(e.Job.ConcurrencyKey)
	if e.Type, err = readRow(e.conn, sqlType, typ, scanType); err != nil {
		return err
	}
	if e.Bucket, err = readRow(e.conn, sqlBucket, typ, scanBucket); err != nil {
		return err
	}
	if e.Reservation, err = readRow(e.conn, sqlActive, nil, scanReservation); err != nil {
		return err
	}
	throttle, err := readRow(e.conn, sqlThrottle, nil, scanThrottle)
	if err != nil || throttle == nil {
		return err
	}
	e.Limits = throttle.Spec
	return firstError(
		func() error { return e.count(&e.Open, sqlOpenAll, nil) },
		func() error { return e.count(&e.OpenType, sqlOpenOf, typ) },
		func() error { return e.count(&e.OpenKey, sqlKeyQueueOpen, key) },
		func() error {
			return e.count(&e.ReadyKey, sqlKeyQueueReady, func(stmt *sqlite.Stmt) {
				stmt.BindText(1, e.Job.ConcurrencyKey)
				stmt.BindText(2, e.Job.Type)
			})
		},
	)
}

// readOrder counts the jobs before the job, type by type.
func (e *explanation) readOrder() (err error) {
	if !e.Job.Ready() {
		return nil
	}
	if e.BeforeType, err = e.countBefore(e.Job.Type); err != nil {
		return err
	}
	e.Before = e.BeforeType
	for typ := ""; e.Before <= explain.CountMax; {
		if typ, err = nextReadyType(e.conn, typ); err != nil || typ == "" {
			return err
		}
		if typ == e.Job.Type {
			continue
		}
		before, err := e.countBefore(typ)
		if err != nil {
			return err
		}
		e.Before += before
	}
	return nil
}

// countBefore counts the jobs of one type before the job, up to one more than Explain reports.
func (e *explanation) countBefore(typ string) (int, error) {
	var above, before int
	bind := func(stmt *sqlite.Stmt) {
		stmt.BindText(1, typ)
		stmt.BindInt64(2, explain.CountMax+1)
		stmt.BindInt64(3, int64(e.Job.Priority))
	}
	err := firstError(
		func() error { return e.count(&above, sqlTypeQueueAbove, bind) },
		func() error {
			return e.count(&before, sqlTypeQueueBefore, func(stmt *sqlite.Stmt) {
				bind(stmt)
				stmt.BindInt64(4, e.Job.Position)
				bindTime(stmt, 5, e.Job.CreatedAt)
				bindID(stmt, 6, e.Job.ID)
			})
		},
	)
	return above + before, err
}

func (e *explanation) count(into *int, sql string, bind func(*sqlite.Stmt)) error {
	return query(e.conn, sql, bind, func(stmt *sqlite.Stmt) { *into = int(stmt.ColumnInt64(0)) })
}

// readRow reads a single row, or returns nil if there is none.
func readRow[T any](conn *sqlite.Conn, sql string, bind func(*sqlite.Stmt), scan func(*sqlite.Stmt) (*T, error)) (*T, error) {
	all, err := queryAll(conn, sql, bind, scan)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}
