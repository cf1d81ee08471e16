package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

var _ rules.Tx = (*writer)(nil)

const (
	sqlLease = `
SELECT ` + leaseColumns + `
FROM rota_jobs j
WHERE j.id = ?`
	sqlFullJob = `
SELECT ` + fullColumns + `
FROM rota_jobs j
WHERE j.id = ?`
	sqlNewest = `
SELECT id
FROM rota_jobs
ORDER BY id DESC
LIMIT 1`
	sqlRetry = `
SELECT id
FROM rota_jobs
WHERE retry_of = ?`
	sqlChain = `
WITH RECURSIVE chain (id, n) AS (
  SELECT ?, 0
  UNION ALL
  SELECT j.id, chain.n + 1
  FROM chain JOIN rota_jobs j ON j.retry_of = chain.id
)
SELECT id
FROM chain
ORDER BY n DESC
LIMIT 1`
)

// loaders load the rows that rules miss.
var loaders = []rules.Loader[*writer]{
	rules.LoadEach(rules.Retries, (*writer).loadRetry),
	rules.LoadEach(rules.Chains, (*writer).loadChain),
	rules.LoadEach(rules.UniqueKeys, (*writer).loadKey),
	rules.LoadEach(rules.Plans, (*writer).loadPlan),
	rules.LoadEach(rules.Tails, (*writer).loadTail),
	rules.LoadEach(rules.Audits, (*writer).loadAudit),
	rules.LoadEach(rules.OrderPages, (*writer).loadOrder),
	rules.LoadEach(rules.Types, (*writer).loadType),
	rules.LoadEach(rules.Templates, (*writer).loadTemplate),
	rules.LoadEach(rules.Schedules, (*writer).loadSchedule),
	rules.LoadEach(rules.Groups, (*writer).loadGroup),
	rules.LoadEach(rules.Reservations, (*writer).loadReservation),
	rules.LoadEach(rules.Requests, (*writer).loadRequest),
	rules.LoadEach(rules.Buckets, (*writer).loadBucket),
	rules.LoadEach(rules.Throttle, (*writer).loadThrottle),
	rules.LoadEach(rules.Webhooks, (*writer).loadWebhooks),
	rules.LoadEach(rules.Active, (*writer).loadActive),
	rules.LoadEach(rules.LiveJobs, (*writer).loadJobsOf),
	rules.LoadEach(rules.PlannedJobs, (*writer).loadPlanned),
	rules.LoadEach(rules.GroupMembers, (*writer).loadMembers),
	rules.LoadEach(rules.BlockedJobs, (*writer).loadBlocked),
	rules.LoadEach(rules.WaitingJobs, (*writer).loadOverlapWaiting),
	rules.LoadEach(rules.LatestJobs, (*writer).loadLatest),
	rules.LoadEach(rules.DependentsOf, (*writer).loadDependents),
	rules.LoadEach(rules.Dependencies, (*writer).loadReach),
	rules.LoadEach(rules.UsersOf, (*writer).loadUsing),
	rules.LoadEach(rules.KeyQueues, (*writer).loadKeyQueue),
	rules.LoadEach(rules.OpenCounts, (*writer).loadOpen),
	rules.LoadEach(rules.Redrives, (*writer).loadRedriven),
	rules.LoadEach(rules.AttemptsOf, (*writer).loadAttempts),
	rules.LoadEach(rules.LateWaits, (*writer).loadExpiredWaits),
	rules.LoadEach(rules.PendingIntents, (*writer).loadIntents),
	rules.LoadEach(rules.EndedReservations, (*writer).loadExpiredReservations),
	rules.LoadEach(rules.OldRequests, (*writer).loadExpiredRequests),
	rules.LoadEach(rules.DroppedSchedules, (*writer).loadDropped),
	rules.LoadEach(rules.DroppedJobsOf, (*writer).loadDroppedJobs),
}

// Load reads the rows that rules have missed.
func (w *writer) Load(u *rules.UnitOfWork) error {
	orders := u.Orders()
	return firstError(
		func() error { return w.loadLeases(u.MissingLeases(), u.PutJob) },
		func() error { return w.loadFullJobs(u.MissingJobs(), u) },
		func() error { return w.loadFullJobs(u.MissingNewJobs(), u) },
		func() error { return rules.LoadMissing(w, u, loaders) },
		ifNeeded(orders.ClaimedBefore, u, w.loadClaimedBefore),
		ifNeeded(orders.Heads, u, w.loadHeads),
		ifNeeded(orders.Due, u, w.loadDue),
		ifNeeded(orders.Stale, u, w.loadStale),
		ifNeeded(orders.Unsettled, u, w.loadUnsettled),
	)
}

func ifNeeded[Q any](need *Q, u *rules.UnitOfWork, load func(*Q, *rules.UnitOfWork) error) func() error {
	return func() error {
		if need == nil {
			return nil
		}
		return load(need, u)
	}
}

func each[T any](all []T, load func(T) error) func() error {
	return func() error {
		for _, one := range all {
			if err := load(one); err != nil {
				return err
			}
		}
		return nil
	}
}

func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// loadJobs reads jobs with their params, by id.
func (w *writer) loadJobs(ids []rota.ID, u *rules.UnitOfWork) error {
	for _, id := range ids {
		s, err := w.stmt(sqlFullJob)
		if err != nil {
			return err
		}
		s.BindBytes(1, id[:])
		err = rows(s, func(s *sqlite.Stmt) error {
			u.PutJob(scanJob(s))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loadLeases reads the columns that a heartbeat or a finish needs.
func (w *writer) loadLeases(ids []rota.ID, put func(*rota.Job)) error {
	for _, id := range ids {
		if job := w.dispatched.jobs[id]; job != nil {
			put(job)
			continue
		}
		err := w.query(sqlLease, func(s *sqlite.Stmt) { s.BindBytes(1, id[:]) }, func(s *sqlite.Stmt) error {
			put(scanLease(s))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loadFullJobs reads jobs with their params. Ids are sorted by time, so the ids of new jobs are
// behind the newest existing job and need no lookup.
func (w *writer) loadFullJobs(ids []rota.ID, u *rules.UnitOfWork) error {
	if len(ids) < 2 {
		return w.loadJobs(ids, u)
	}
	newest, err := w.newest()
	if err != nil {
		return err
	}
	existing := make([]rota.ID, 0, len(ids))
	for _, id := range ids {
		if id.Compare(newest) <= 0 {
			existing = append(existing, id)
		}
	}
	return w.loadJobs(existing, u)
}

func (w *writer) newest() (id rota.ID, err error) {
	s, err := w.stmt(sqlNewest)
	if err != nil {
		return id, err
	}
	return id, rows(s, func(s *sqlite.Stmt) error {
		id = scanID(s, 0)
		return nil
	})
}

func (w *writer) loadRetry(of rota.ID, u *rules.UnitOfWork) error {
	s, err := w.stmt(sqlRetry)
	if err != nil {
		return err
	}
	s.BindBytes(1, of[:])
	return rows(s, func(s *sqlite.Stmt) error {
		rules.Retries.Put(u, of, scanID(s, 0))
		return nil
	})
}

func (w *writer) loadChain(id rota.ID, u *rules.UnitOfWork) error {
	s, err := w.stmt(sqlChain)
	if err != nil {
		return err
	}
	s.BindBytes(1, id[:])
	return rows(s, func(s *sqlite.Stmt) error {
		rules.Chains.Put(u, id, scanID(s, 0))
		return nil
	})
}

// Write executes the changes that the rules decided.
func (w *writer) Write(c *rules.Changes) error {
	w.wakeup.Add(c)
	if w.watched {
		w.events = append(w.events, rules.Events(c)) // published after the commit
	}
	return firstError(
		each(rules.Groups.Changes(c), w.writeGroup),
		func() error { return w.updateJobs(c.Jobs) },
		func() error { return w.insertJobs(c.NewJobs) },
		func() error { return w.updateJobs(c.NewJobChanges) },
		each(c.RemovedJobs, w.deleteJob),
		each(rules.Groups.Changes(c), w.deleteGroup), // after their members
		each(rules.UniqueKeys.Changes(c), w.writeKey),
		each(rules.Types.Changes(c), w.writeType),
		each(rules.Templates.Changes(c), w.writeTemplate),
		each(rules.Schedules.Changes(c), w.writeSchedule),
		each(rules.Throttle.Changes(c), w.writeThrottle),
		each(rules.Webhooks.Changes(c), w.writeWebhooks),
		each(rules.Reservations.Changes(c), w.endReservation),
		each(rules.Reservations.Changes(c), w.insertReservation), // after the previous reservation has ended
		each(rules.Requests.Changes(c), w.writeRequest),
		each(rules.Buckets.Changes(c), w.writeBucket),
		each(rules.IntentRecords.Changes(c), w.writeIntent),
		each(rules.DroppedSchedules.Changes(c), w.writeDropped),
		each(c.Audit, w.writeAudit),
	)
}
