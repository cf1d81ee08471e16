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
	LiveJobs          string // jobs of a schedule and a scope that have not ended
	BlockedJobs       string // jobs of a schedule that wait for a dependency
	WaitingJobs       string // jobs of a schedule that wait for an overlap
	LatestJobs        string // id of the newest execution of a schedule and a scope that counts in a window
	Dependents        string // names of the schedules that depend on one
	Dependencies      string // edges of all direct and indirect dependencies of a schedule
	TemplateSchedules string // names of the schedules of a template
	OpenAll           string // number of running jobs
	OpenOfType        string
	OpenOfKey         string
	OpenOfKeyAndType  string
	LiveKeys          string // concurrency keys of jobs that have not ended
	Redrives          string // id of the newest redrive of an execution
	ExpiredWaits      string // jobs whose wait has expired
	Due               string // delayed jobs that are due
	Stale             string // runs whose lease has expired or ends too late
	Unsettled         string // runs of an earlier incarnation of a worker, and runs that ended without a sequel

	GroupMembers map[rules.MemberKind]string  // members of a group
	DroppedJobs  map[rules.DroppedKind]string // jobs of a dropped schedule
}

// Loaders returns the loaders of the queries that find rows by a condition.
func Loaders[T Tx](s *Searches) []rules.Loader[T] {
	return []rules.Loader[T]{
		jobsBy[T](rules.LiveJobs, func(q rules.LiveJobsQuery) (string, []any) {
			return s.LiveJobs, []any{q.Schedule, q.Scope.Kind, q.Scope.ID, q.Waiting, q.Limit()}
		}),
		jobsBy[T](rules.BlockedJobs, func(q rules.BlockedJobsQuery) (string, []any) {
			return s.BlockedJobs, []any{q.Schedule, rota.DependentsMax, q.Scope.Kind, q.Scope.ID, q.Every}
		}),
		jobsBy[T](rules.WaitingJobs, func(q rules.WaitingJobsQuery) (string, []any) {
			return s.WaitingJobs, []any{q.Schedule, rota.DependentsMax}
		}),
		jobsBy[T](rules.ExpiredWaits, func(q rules.ExpiredWaitsQuery) (string, []any) { return s.ExpiredWaits, []any{q.Now, q.Limit} }),
		jobsBy[T](rules.GroupMembers, func(q rules.GroupMembersQuery) (string, []any) {
			return s.GroupMembers[q.Kind], []any{q.Group, q.Limit}
		}),
		jobsBy[T](rules.DroppedJobs, func(q rules.DroppedJobsQuery) (string, []any) {
			return s.DroppedJobs[q.Kind], []any{q.Schedule, q.Limit, q.Before}
		}),

		search[T](rules.LatestJobs, func(q rules.LatestJobsQuery) (string, []any) { return s.LatestJobs, latestArgs(q) },
			func(u *rules.UnitOfWork, q rules.LatestJobsQuery, r Row) { rules.LatestJobs.Put(u, q, r.ID(0)) }),
		search[T](rules.Dependents, func(q rules.DependentsQuery) (string, []any) {
			return s.Dependents, []any{q.Schedule, rota.DependentsMax + 1}
		}, func(u *rules.UnitOfWork, q rules.DependentsQuery, r Row) {
			rules.Append(rules.Dependents, u, q, r.Text(0))
		}),
		search[T](rules.Dependencies, func(q rules.DependenciesQuery) (string, []any) { return s.Dependencies, []any{q.Schedule} },
			func(u *rules.UnitOfWork, _ rules.DependenciesQuery, r Row) { u.PutEdge(r.Text(0), r.Text(1)) }),
		search[T](rules.TemplateSchedules, func(q rules.TemplateSchedulesQuery) (string, []any) {
			return s.TemplateSchedules, []any{q.Template, q.Disabled, q.Limit}
		}, func(u *rules.UnitOfWork, q rules.TemplateSchedulesQuery, r Row) {
			rules.Append(rules.TemplateSchedules, u, q, r.Text(0))
		}),
		search[T](rules.OpenCounts, s.openCount,
			func(u *rules.UnitOfWork, q rules.OpenCount, r Row) { rules.OpenCounts.Put(u, q, int(r.Int(0))) }),
		search[T](rules.LiveKeys, func(q rules.LiveKeysQuery) (string, []any) { return s.LiveKeys, []any{q.After, q.Limit} },
			func(u *rules.UnitOfWork, q rules.LiveKeysQuery, r Row) { rules.Append(rules.LiveKeys, u, q, r.Text(0)) }),
		search[T](rules.Redrives, func(q rules.RedrivesQuery) (string, []any) { return s.Redrives, []any{q.Execution} },
			func(u *rules.UnitOfWork, q rules.RedrivesQuery, r Row) { rules.Redrives.Put(u, q, r.ID(0)) }),
		search[T](rules.Attempts, func(q rules.AttemptsQuery) (string, []any) { return sqlAttempts, []any{q.Execution} },
			func(u *rules.UnitOfWork, q rules.AttemptsQuery, r Row) { rules.Append(rules.Attempts, u, q, r.ID(0)) }),
		search[T](rules.PendingIntents, func(q rules.PendingIntentsQuery) (string, []any) { return sqlIntents, []any{q.Limit} },
			func(u *rules.UnitOfWork, q rules.PendingIntentsQuery, r Row) {
				u.PutIntent(q, rules.Intent{Kind: r.Text(0), Name: r.Text(1)})
			}),
		search[T](rules.CertificateUsers, func(q rules.CertificateQuery) (string, []any) { return sqlCertificateUser, []any{q.Certificate} },
			func(u *rules.UnitOfWork, q rules.CertificateQuery, r Row) {
				rules.CertificateUsers.Put(u, q, r.Text(0))
			}),
		search[T](rules.OwnedDefinitions, func(q rules.OwnedDefinitionsQuery) (string, []any) {
			return sqlOwnedDefinitions, []any{q.Owner, q.Limit}
		},
			func(u *rules.UnitOfWork, q rules.OwnedDefinitionsQuery, r Row) {
				rules.Append(rules.OwnedDefinitions, u, q, r.Text(0))
			}),
		loadRoles[T](),
		loadTemplateSecrets[T](),
		loadAnySecrets[T](),
		search[T](rules.EndedTokens, func(q rules.EndedTokensQuery) (string, []any) {
			return sqlEndedTokens, []any{q.Before, q.Limit}
		}, func(u *rules.UnitOfWork, q rules.EndedTokensQuery, r Row) {
			rules.Append(rules.EndedTokens, u, q, r.Text(0))
		}),
		search[T](rules.ExpiredReservations, func(q rules.ExpiredReservationsQuery) (string, []any) {
			return sqlExpiredReservations, []any{q.Before, q.Limit}
		}, func(u *rules.UnitOfWork, q rules.ExpiredReservationsQuery, r Row) {
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
	sqlEndedTokens = `
SELECT id
FROM rota_access_tokens
WHERE coalesce(revoked_at, expires_at) IS NOT NULL AND coalesce(revoked_at, expires_at) < $1
ORDER BY coalesce(revoked_at, expires_at), id
LIMIT $2`
	sqlExpiredReservations = Reservations.Select() + `
WHERE status <> 'ACTIVE' AND ended_at < $1
ORDER BY id
LIMIT $2`
)

func (s *Searches) openCount(q rules.OpenCount) (string, []any) {
	switch {
	case q.Key != "" && q.Type != "":
		return s.OpenOfKeyAndType, []any{q.Key, q.Type}
	case q.Key != "":
		return s.OpenOfKey, []any{q.Key}
	case q.Type != "":
		return s.OpenOfType, []any{q.Type}
	}
	return s.OpenAll, nil
}

func latestArgs(q rules.LatestJobsQuery) []any {
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
		if err := read(s.Stale, u.PutStale, q.Before.UnixMicro(), q.Except, q.Ahead.UnixMicro(), q.Limit, q.StopBefore.UnixMicro()); err != nil {
			return err
		}
	}
	if q := orders.Unsettled; q != nil {
		return read(s.Unsettled, u.PutUnsettled, q.Runner, q.Incarnation, q.Limit)
	}
	return nil
}
