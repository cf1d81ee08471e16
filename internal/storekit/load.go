package storekit

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Tx is the transaction of a store, as far as Loaders and LoadOrders use it.
type Tx interface {
	// Read executes a query. A store may collect queries and execute them together before Load
	// returns.
	Read(sql string, each func(Row) error, args ...any) error
	// TakeJob reads a job by ScanJob, and notes what the store must know to check later that the
	// job is unchanged.
	TakeJob(Row) *rota.Job
}

// Searches are the queries that find rows by a condition. The arguments of each are listed in
// Loaders and LoadOrders.
type Searches struct {
	LiveJobs   string // jobs of a schedule and a scope that have not ended
	Blocked    string // jobs of a schedule that wait for a dependency
	Waiting    string // jobs of a schedule that wait for an overlap
	Latest     string // id of the newest execution of a schedule and a scope that counts in a window
	Dependents string // names of the schedules that depend on one
	Reach      string // edges of all direct and indirect dependencies of a schedule
	Users      string // names of the schedules of a template
	OpenAll    string // number of running jobs
	OpenOfType string
	OpenOfKey  string
	Redriven   string // id of the newest redrive of an execution
	LateWaits  string // jobs whose wait has expired
	Due        string // delayed jobs that are due
	Stale      string // runs whose lease has expired or ends too late
	Unsettled  string // runs of an earlier incarnation of a worker, and runs that ended without a sequel

	Members map[rules.MemberKind]string  // members of a group
	Dropped map[rules.DroppedKind]string // jobs of a dropped schedule
}

// Loaders returns the loaders of the queries that find rows by a condition.
func Loaders[T Tx](s *Searches) []rules.Loader[T] {
	return []rules.Loader[T]{
		jobsBy[T](rules.LiveJobs, func(q rules.JobsOf) (string, []any) {
			return s.LiveJobs, []any{q.Schedule, q.Scope.Kind, q.Scope.ID, q.Waiting, q.Limit()}
		}),
		jobsBy[T](rules.BlockedJobs, func(q rules.Blocked) (string, []any) {
			return s.Blocked, []any{q.Schedule, rota.DependentsMax, q.Scope.Kind, q.Scope.ID, q.Every}
		}),
		jobsBy[T](rules.WaitingJobs, func(q rules.OverlapWaiting) (string, []any) {
			return s.Waiting, []any{q.Schedule, rota.DependentsMax}
		}),
		jobsBy[T](rules.LateWaits, func(q rules.ExpiredWaits) (string, []any) { return s.LateWaits, []any{q.Now, q.Limit} }),
		jobsBy[T](rules.GroupMembers, func(q rules.Members) (string, []any) { return s.Members[q.Kind], []any{q.Group, q.Limit} }),
		jobsBy[T](rules.DroppedJobsOf, func(q rules.DroppedJobs) (string, []any) {
			return s.Dropped[q.Kind], []any{q.Schedule, q.Limit, q.Before}
		}),

		search[T](rules.LatestJobs, func(q rules.Latest) (string, []any) { return s.Latest, latestArgs(q) },
			func(u *rules.UnitOfWork, q rules.Latest, r Row) { rules.LatestJobs.Put(u, q, r.ID(0)) }),
		search[T](rules.DependentsOf, func(q rules.Dependents) (string, []any) {
			return s.Dependents, []any{q.Schedule, rota.DependentsMax + 1}
		}, func(u *rules.UnitOfWork, q rules.Dependents, r Row) {
			rules.Append(rules.DependentsOf, u, q, r.Text(0))
		}),
		search[T](rules.Dependencies, func(q rules.Reach) (string, []any) { return s.Reach, []any{q.Schedule} },
			func(u *rules.UnitOfWork, _ rules.Reach, r Row) { u.PutEdge(r.Text(0), r.Text(1)) }),
		search[T](rules.UsersOf, func(q rules.Using) (string, []any) { return s.Users, []any{q.Template, q.Disabled, q.Limit} },
			func(u *rules.UnitOfWork, q rules.Using, r Row) { rules.Append(rules.UsersOf, u, q, r.Text(0)) }),
		search[T](rules.OpenCounts, s.openCount,
			func(u *rules.UnitOfWork, q rules.OpenCount, r Row) { rules.OpenCounts.Put(u, q, int(r.Int(0))) }),
		search[T](rules.Redrives, func(q rules.Redriven) (string, []any) { return s.Redriven, []any{q.Execution} },
			func(u *rules.UnitOfWork, q rules.Redriven, r Row) { rules.Redrives.Put(u, q, r.ID(0)) }),
		search[T](rules.AttemptsOf, func(q rules.Attempts) (string, []any) { return sqlAttempts, []any{q.Execution} },
			func(u *rules.UnitOfWork, q rules.Attempts, r Row) { rules.Append(rules.AttemptsOf, u, q, r.ID(0)) }),
		search[T](rules.PendingIntents, func(q rules.Intents) (string, []any) { return sqlIntents, []any{q.Limit} },
			func(u *rules.UnitOfWork, q rules.Intents, r Row) {
				u.PutIntent(q, rules.Intent{Kind: r.Text(0), Name: r.Text(1)})
			}),
		search[T](rules.EndedReservations, func(q rules.ExpiredReservations) (string, []any) {
			return sqlEndedReservations, []any{q.Before, q.Limit}
		}, func(u *rules.UnitOfWork, q rules.ExpiredReservations, r Row) {
			one, _ := Reservations.Scan(r) // it has no document
			u.PutExpiredReservation(q, one)
		}),
	}
}

var (
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
	sqlIntents = Intents.Select() + `
ORDER BY kind, name
LIMIT $1`
	sqlEndedReservations = Reservations.Select() + `
WHERE status <> 'ACTIVE' AND ended_at < $1
ORDER BY id
LIMIT $2`
)

func (s *Searches) openCount(q rules.OpenCount) (string, []any) {
	switch {
	case q.Key != "":
		return s.OpenOfKey, []any{q.Key}
	case q.Type != "":
		return s.OpenOfType, []any{q.Type}
	}
	return s.OpenAll, nil
}

func latestArgs(q rules.Latest) []any {
	return []any{q.Schedule, q.Scope.Kind, q.Scope.ID, q.After, q.Until}
}

// search returns a loader of one query for each key.
func search[T Tx, Q any](
	k rules.Kind[Q], query func(Q) (sql string, args []any), put func(*rules.UnitOfWork, Q, Row),
) rules.Loader[T] {
	return rules.LoadEach(k, func(tx T, q Q, u *rules.UnitOfWork) error {
		sql, args := query(q)
		return tx.Read(sql, func(r Row) error {
			put(u, q, r)
			return nil
		}, args...)
	})
}

// jobsBy returns a loader of a query that finds jobs.
func jobsBy[T Tx, Q comparable](k *rules.QueryKind[Q, []rota.ID], query func(Q) (sql string, args []any)) rules.Loader[T] {
	return rules.LoadEach(k, func(tx T, q Q, u *rules.UnitOfWork) error {
		sql, args := query(q)
		return tx.Read(sql, func(r Row) error {
			rules.AppendJob(k, u, q, tx.TakeJob(r))
			return nil
		}, args...)
	})
}

// LoadOrders reads the jobs that maintenance looks for. Claims are left to the store.
func LoadOrders(tx Tx, u *rules.UnitOfWork, s *Searches) error {
	orders := u.Orders()
	read := func(sql string, put func(*rota.Job), args ...any) error {
		return tx.Read(sql, func(r Row) error {
			put(tx.TakeJob(r))
			return nil
		}, args...)
	}
	if q := orders.Due; q != nil {
		if err := read(s.Due, u.PutDue, q.Now.UnixMicro(), q.Limit); err != nil {
			return err
		}
	}
	if q := orders.Stale; q != nil { // no run has the zero incarnation
		if err := read(s.Stale, u.PutStale, q.Before.UnixMicro(), q.Except, q.Ahead.UnixMicro(), q.Limit); err != nil {
			return err
		}
	}
	if q := orders.Unsettled; q != nil {
		return read(s.Unsettled, u.PutUnsettled, q.Runner, q.Incarnation, q.Limit)
	}
	return nil
}
