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

// Load reads the rows that the rules need.
func (w *writer) Load(n *rules.Need, u *rules.UnitOfWork) error {
	if err := w.loadLeases(n.Leases, u.PutJob); err != nil {
		return err
	}
	if err := w.loadFullJobs(n.FullJobs, u); err != nil {
		return err
	}
	if err := w.loadFullJobs(n.NewJobs, u); err != nil {
		return err
	}
	err := firstError(
		each(n.Retries, func(of rota.ID) error { return w.loadRetry(of, u) }),
		each(n.Chains, func(id rota.ID) error { return w.loadChain(id, u) }),
		each(n.Keys, func(k rules.UniqueKey) error { return w.loadKey(k, u) }),
		each(n.Plans, func(p rules.Plan) error { return w.loadPlan(p, u) }),
		each(n.Tails, func(priority int) error { return w.loadTail(priority, u) }),
		each(n.Audits, func(id rota.ID) error { return w.loadAudit(id, u) }),
		each(n.Order, func(p rules.OrderPage) error { return w.loadOrder(p, u) }),
	)
	if err != nil {
		return err
	}
	if err := w.loadRelated(n, u); err != nil {
		return err
	}
	return w.loadOrders(n, u)
}

// loadRelated reads definitions and the rows related to jobs.
func (w *writer) loadRelated(n *rules.Need, u *rules.UnitOfWork) error {
	return firstError(
		each(n.Types, func(name string) error { return w.loadType(name, u) }),
		each(n.Templates, func(name string) error { return w.loadTemplate(name, u) }),
		each(n.Schedules, func(name string) error { return w.loadSchedule(name, u) }),
		each(n.Groups, func(id rota.ID) error { return w.loadGroup(id, u) }),
		each(n.Reservations, func(id rota.ID) error { return w.loadReservation(id, u) }),
		each(n.Requests, func(key rules.RequestKey) error { return w.loadRequest(key, u) }),
		each(n.Buckets, func(name string) error { return w.loadBucket(name, u) }),
		onlyIf(n.Throttle, func() error { return w.loadThrottle(u) }),
		onlyIf(n.Webhooks, func() error { return w.loadWebhooks(u) }),
		onlyIf(n.Active, func() error { return w.loadActive(u) }),

		each(n.JobsOf, func(q rules.JobsOf) error { return w.loadJobsOf(q, u) }),
		each(n.Planned, func(q rules.Planned) error { return w.loadPlanned(q, u) }),
		each(n.Members, func(q rules.Members) error { return w.loadMembers(q, u) }),
		each(n.Blocked, func(q rules.Blocked) error { return w.loadBlocked(q, u) }),
		each(n.OverlapWaiting, func(q rules.OverlapWaiting) error { return w.loadOverlapWaiting(q, u) }),
		each(n.Latest, func(q rules.Latest) error { return w.loadLatest(q, u) }),
		each(n.Dependents, func(q rules.Dependents) error { return w.loadDependents(q, u) }),
		each(n.Reach, func(q rules.Reach) error { return w.loadReach(q, u) }),
		each(n.Using, func(q rules.Using) error { return w.loadUsing(q, u) }),
		each(n.KeyQueues, func(q rules.KeyQueue) error { return w.loadKeyQueue(q, u) }),
		each(n.Open, func(q rules.OpenCount) error { return w.loadOpen(q, u) }),
		each(n.Redriven, func(q rules.Redriven) error { return w.loadRedriven(q, u) }),
		each(n.Attempts, func(q rules.Attempts) error { return w.loadAttempts(q, u) }),
		each(n.ExpiredWaits, func(q rules.ExpiredWaits) error { return w.loadExpiredWaits(q, u) }),
		each(n.Intents, func(q rules.Intents) error { return w.loadIntents(q, u) }),
		each(n.ExpiredReservations, func(q rules.ExpiredReservations) error { return w.loadExpiredReservations(q, u) }),
		each(n.ExpiredRequests, func(q rules.ExpiredRequests) error { return w.loadExpiredRequests(q, u) }),
		each(n.Dropped, func(name string) error { return w.loadDropped(name, u) }),
		each(n.DroppedJobs, func(q rules.DroppedJobs) error { return w.loadDroppedJobs(q, u) }),
	)
}

func onlyIf(needed bool, load func() error) func() error {
	if !needed {
		return func() error { return nil }
	}
	return load
}

func (w *writer) loadOrders(n *rules.Need, u *rules.UnitOfWork) error {
	return firstError(
		ifNeeded(n.ClaimedBefore, u, w.loadClaimedBefore),
		ifNeeded(n.Heads, u, w.loadHeads),
		ifNeeded(n.Due, u, w.loadDue),
		ifNeeded(n.Stale, u, w.loadStale),
		ifNeeded(n.Unsettled, u, w.loadUnsettled),
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
		u.PutRetry(of, scanID(s, 0))
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
		u.PutChain(id, scanID(s, 0))
		return nil
	})
}

// Write executes the changes that the rules decided.
func (w *writer) Write(c *rules.Changes) error {
	w.wake = w.wake || c.Wake
	if w.watched {
		w.events = append(w.events, rules.Events(c)) // published after the commit
	}
	return firstError(
		each(c.Groups, w.writeGroup),
		func() error { return w.updateJobs(c.Jobs) },
		func() error { return w.insertJobs(c.NewJobs) },
		func() error { return w.updateJobs(c.NewJobChanges) },
		each(c.RemovedJobs, w.deleteJob),
		each(c.Groups, w.deleteGroup), // after their members
		each(c.Keys, w.writeKey),
		each(c.Types, w.writeType),
		each(c.Templates, w.writeTemplate),
		each(c.Schedules, w.writeSchedule),
		each(c.Throttle, w.writeThrottle),
		each(c.Webhooks, w.writeWebhooks),
		each(c.Reservations, w.endReservation),
		each(c.Reservations, w.insertReservation), // after the previous reservation has ended
		each(c.Requests, w.writeRequest),
		each(c.Buckets, w.writeBucket),
		each(c.Intents, w.writeIntent),
		each(c.Dropped, w.writeDropped),
		each(c.Audit, w.writeAudit),
	)
}
