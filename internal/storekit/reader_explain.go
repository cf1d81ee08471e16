package storekit

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/explain"
	"github.com/rotajobs/rota/internal/rules"
)

// lastAttempt returns the condition of the last attempt of an execution, given any of its attempts.
func lastAttempt(id string) string { return `j.id = ` + idOfLastAttempt(id) }

var (
	selectLean = `
SELECT ` + LeanJob + `
FROM rota_jobs j
WHERE `
	sqlLeanJob = selectLean + `j.id = $1`
	sqlEarlier = selectLean + `j.group_id = $1 AND j.sequel IS NULL AND j.group_position < $2
ORDER BY j.group_position, j.id
LIMIT $3`
	sqlDependencies = Schedules.Select() + `
WHERE name IN (SELECT depends_on FROM rota_edges WHERE schedule = $1)
ORDER BY name`
	sqlActive = Reservations.Select() + `
WHERE status = 'ACTIVE'`
)

// Explain returns the reasons why a job does not run.
func (s *Reader) Explain(ctx context.Context, id rota.ID) (found []rota.Reason, err error) {
	err = s.on.Snapshot(ctx, "explain", func(on Querier) error {
		e := &explanation{on: on, reads: s.on.Reads}
		if err := e.read(id, s); err != nil {
			return err
		}
		found = explain.Explain(&e.Facts)
		return nil
	})
	return found, err
}

// explanation reads the facts about a job: first the job, then the rows related to it, then the
// running jobs that count for limits and the state of its dependencies.
type explanation struct {
	explain.Facts
	on      Querier
	reads   *Reads
	limited bool // there are limits
}

func (e *explanation) read(id rota.ID, s *Reader) error {
	err := e.on.Query(Query{
		SQL: `
SELECT ` + LeanJob + `, ` + e.reads.Clock + `
FROM rota_jobs j
WHERE ` + lastAttempt(`$2`) + ` AND ` + NotDropped,
		Args: []any{s.on.Now(), id}, Each: func(r Row) error {
			e.Job, e.Facts.Now = ScanListed(r), r.Time(JobWidth)
			return nil
		},
	})
	if err != nil {
		return err
	}
	if e.Job == nil {
		return noJob(id)
	}
	if err := e.on.Query(e.related()...); err != nil {
		return err
	}
	latest, tails := e.latest()
	if err := e.on.Query(append(latest, e.counts()...)...); err != nil {
		return err
	}
	for i, d := range e.Dependencies {
		windows := e.Windows(d.Schedule)
		e.Dependencies[i].Latest = untilMissed(windows, tails)
		tails = tails[len(windows):]
	}
	return nil
}

// related returns the queries of the rows that concern the job.
func (e *explanation) related() (queries []Query) {
	j := e.Job
	if !j.GroupID.IsZero() {
		queries = append(queries, one(&e.Group, Groups, Groups.ByKey(), j.GroupID))
	}
	switch {
	case j.Status == rota.StatusQueued:
		queries = append(append(queries, e.holds()...), e.limits()...)
		if j.Ready() {
			queries = append(queries, e.order())
		}
	case j.Ended():
		queries = append(queries, jobQuery(&e.Redrive, selectLean+lastAttempt(`(`+e.reads.Redrives+`)`), j.ExecutionID))
	}
	return queries
}

// holds returns the queries of what the job waits for.
func (e *explanation) holds() (queries []Query) {
	j := e.Job
	if !j.RetryOf.IsZero() {
		queries = append(queries, jobQuery(&e.Failed, sqlLeanJob, j.RetryOf))
	}
	if j.Hold&rota.HoldGroup != 0 {
		queries = append(queries, Query{sqlEarlier, appendJobs(&e.Earlier), []any{j.GroupID, j.GroupPosition, explain.NamedJobsMax + 1}})
	}
	if j.Hold&rota.HoldOverlap != 0 {
		queries = append(queries, Query{e.reads.Ahead, appendJobs(&e.Ahead), []any{j.Schedule, j.ScopeKind, j.ScopeID, j.ID, explain.NamedJobsMax + 1}})
	}
	if j.Hold&rota.HoldDependency != 0 {
		queries = append(queries, Query{sqlDependencies, ScanInto(Schedules, func(d *rota.Schedule) {
			e.Dependencies = append(e.Dependencies, explain.Dependency{Schedule: d})
		}), []any{j.Schedule}})
	}
	return queries
}

// limits returns the queries of what limits the starts of the job's type and key.
func (e *explanation) limits() []Query {
	return []Query{
		one(&e.Type, Types, Types.ByKey(), e.Job.Type),
		one(&e.Bucket, Buckets, Buckets.ByKey(), e.Job.Type),
		one(&e.Reservation, Reservations, sqlActive),
		{Throttle.ByKey(), ScanInto(Throttle, func(t *rota.Throttle) { e.Limits, e.limited = t.Spec, true }), nil},
	}
}

// counts returns the queries of the numbers of running and ready jobs, which matter only if there
// are limits.
func (e *explanation) counts() []Query {
	if !e.limited {
		return nil
	}
	typ, key := e.Job.Type, e.Job.ConcurrencyKey
	openOfKey := count(&e.OpenKey, e.reads.OpenOfKey, key)
	if limit, _ := e.Limits.Key(key, typ); limit.OfType != "" {
		openOfKey = count(&e.OpenKey, e.reads.OpenOfKeyAndType, key, typ)
	}
	return []Query{
		count(&e.Open, e.reads.OpenAll), count(&e.OpenType, e.reads.OpenOfType, typ),
		openOfKey, count(&e.ReadyKey, e.reads.ReadyOfKey, key, typ),
	}
}

// order returns the query of the number of ready jobs before the job.
func (e *explanation) order() Query {
	j := e.Job
	return Query{e.reads.Before, func(r Row) error {
		e.BeforeType, e.Facts.Before = int(r.Int(0)), int(r.Int(1))
		return nil
	}, []any{j.Type, j.Priority, j.Position, j.CreatedAt, j.ID, explain.CountMax + 1}}
}

// latest returns the queries of the last attempts of the executions that count for the dependencies,
// and where they are put.
func (e *explanation) latest() (queries []Query, tails []*rota.Job) {
	var windows []rules.LatestJobsQuery
	for _, d := range e.Dependencies {
		windows = append(windows, e.Windows(d.Schedule)...)
	}
	tails = make([]*rota.Job, len(windows))
	sql := selectLean + lastAttempt(`(`+e.reads.LatestJobs+`)`)
	for i, q := range windows {
		queries = append(queries, jobQuery(&tails[i], sql, latestArgs(q)...))
	}
	return queries, tails
}

// untilMissed returns the state of a dependency up to the first scope for which it has not
// completed.
func untilMissed(windows []rules.LatestJobsQuery, tails []*rota.Job) (all []explain.LatestTail) {
	for i, q := range windows {
		one := explain.LatestTail{Scope: q.Scope, Tail: tails[i]}
		if all = append(all, one); !one.Completed() {
			break
		}
	}
	return all
}

// one returns a query of the only row that there can be.
func one[T any](into **T, t *Table[T], sql string, args ...any) Query {
	return Query{sql, ScanInto(t, func(row *T) { *into = row }), args}
}

func jobQuery(into **rota.Job, sql string, args ...any) Query {
	return Query{sql, func(r Row) error {
		*into = ScanListed(r)
		return nil
	}, args}
}

func count(into *int, sql string, args ...any) Query {
	return Query{sql, func(r Row) error {
		*into = int(r.Int(0))
		return nil
	}, args}
}
