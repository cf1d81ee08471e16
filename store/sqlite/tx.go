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
	sqlWholeJob = `
SELECT ` + wholeColumns + `
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

// Load reads what the law needs.
func (w *writer) Load(n *rules.Need, world *rules.UnitOfWork) error {
	if err := w.eachLease(n.Leases, world.PutJob); err != nil {
		return err
	}
	if err := w.loadWhole(n.FullJobs, world); err != nil {
		return err
	}
	if err := w.loadWhole(n.NewJobs, world); err != nil {
		return err
	}
	err := firstError(
		each(n.Retries, func(of rota.ID) error { return w.loadRetry(of, world) }),
		each(n.Chains, func(id rota.ID) error { return w.loadChain(id, world) }),
		each(n.Keys, func(k rules.Key) error { return w.loadKey(k, world) }),
		each(n.Plans, func(p rules.Plan) error { return w.loadPlan(p, world) }),
		each(n.Tails, func(priority int) error { return w.loadTail(priority, world) }),
		each(n.Audits, func(id rota.ID) error { return w.loadAudit(id, world) }),
		each(n.Order, func(p rules.OrderPage) error { return w.loadOrder(p, world) }),
	)
	if err != nil {
		return err
	}
	if err := w.loadCompany(n, world); err != nil {
		return err
	}
	return w.loadOrders(n, world)
}

// loadCompany reads what jobs have to do with others.
func (w *writer) loadCompany(n *rules.Need, world *rules.UnitOfWork) error {
	return firstError(
		each(n.Types, func(name string) error { return w.loadType(name, world) }),
		each(n.Templates, func(name string) error { return w.loadTemplate(name, world) }),
		each(n.Schedules, func(name string) error { return w.loadSchedule(name, world) }),
		each(n.Groups, func(id rota.ID) error { return w.loadGroup(id, world) }),
		each(n.Reservations, func(id rota.ID) error { return w.loadReservation(id, world) }),
		each(n.Requests, func(key rules.RequestKey) error { return w.loadRequest(key, world) }),
		each(n.Buckets, func(name string) error { return w.loadBucket(name, world) }),
		onlyIf(n.Throttle, func() error { return w.loadThrottle(world) }),
		onlyIf(n.Webhooks, func() error { return w.loadWebhooks(world) }),
		onlyIf(n.Active, func() error { return w.loadActive(world) }),

		each(n.JobsOf, func(q rules.JobsOf) error { return w.loadJobsOf(q, world) }),
		each(n.Planned, func(q rules.Planned) error { return w.loadPlanned(q, world) }),
		each(n.Members, func(q rules.Members) error { return w.loadMembers(q, world) }),
		each(n.Blocked, func(q rules.Blocked) error { return w.loadBlocked(q, world) }),
		each(n.OverlapWaiting, func(q rules.OverlapWaiting) error { return w.loadBehind(q, world) }),
		each(n.Latest, func(q rules.Latest) error { return w.loadLatest(q, world) }),
		each(n.Dependents, func(q rules.Dependents) error { return w.loadDependents(q, world) }),
		each(n.Reach, func(q rules.Reach) error { return w.loadReach(q, world) }),
		each(n.Using, func(q rules.Using) error { return w.loadUsing(q, world) }),
		each(n.KeyQueues, func(q rules.KeyQueue) error { return w.loadLane(q, world) }),
		each(n.Open, func(q rules.Open) error { return w.loadOpen(q, world) }),
		each(n.Redriven, func(q rules.Redriven) error { return w.loadRedriven(q, world) }),
		each(n.Attempts, func(q rules.Attempts) error { return w.loadAttempts(q, world) }),
		each(n.ExpiredWaits, func(q rules.ExpiredWaits) error { return w.loadWaits(q, world) }),
		each(n.Intents, func(q rules.Intents) error { return w.loadIntents(q, world) }),
		each(n.ExpiredReservations, func(q rules.ExpiredReservations) error { return w.loadBygone(q, world) }),
		each(n.ExpiredRequests, func(q rules.ExpiredRequests) error { return w.loadLapsed(q, world) }),
		each(n.Dropped, func(name string) error { return w.loadDropped(name, world) }),
		each(n.DroppedJobs, func(q rules.DroppedJobs) error { return w.loadRest(q, world) }),
	)
}

func onlyIf(asked bool, load func() error) func() error {
	if !asked {
		return func() error { return nil }
	}
	return load
}

func (w *writer) loadOrders(n *rules.Need, world *rules.UnitOfWork) error {
	return firstError(
		ifAsked(n.ClaimedBefore, world, w.loadTaken),
		ifAsked(n.Heads, world, w.loadHeads),
		ifAsked(n.Due, world, w.loadDue),
		ifAsked(n.Stale, world, w.loadStale),
		ifAsked(n.Unsettled, world, w.loadLeft),
	)
}

func ifAsked[Q any](question *Q, world *rules.UnitOfWork, load func(*Q, *rules.UnitOfWork) error) func() error {
	return func() error {
		if question == nil {
			return nil
		}
		return load(question, world)
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

// loadJobs reads jobs by id, with their params.
func (w *writer) loadJobs(ids []rota.ID, world *rules.UnitOfWork) error {
	for _, id := range ids {
		s, err := w.stmt(sqlWholeJob)
		if err != nil {
			return err
		}
		s.BindBytes(1, id[:])
		err = rows(s, func(s *sqlite.Stmt) error {
			world.PutJob(scanJob(s))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachLease reads what it takes to beat for jobs or to end them.
func (w *writer) eachLease(ids []rota.ID, put func(*rota.Job)) error {
	for _, id := range ids {
		if job := w.fresh.jobs[id]; job != nil {
			put(job)
			continue
		}
		err := w.ask(sqlLease, func(s *sqlite.Stmt) { s.BindBytes(1, id[:]) }, func(s *sqlite.Stmt) error {
			put(scanLease(s))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loadWhole reads jobs with their params. Ids sort by the time they were
// minted, so those of jobs about to be enqueued lie beyond the newest there
// is, and need not be looked for one by one.
func (w *writer) loadWhole(ids []rota.ID, world *rules.UnitOfWork) error {
	if len(ids) < 2 {
		return w.loadJobs(ids, world)
	}
	newest, err := w.newest()
	if err != nil {
		return err
	}
	there := make([]rota.ID, 0, len(ids))
	for _, id := range ids {
		if id.Compare(newest) <= 0 {
			there = append(there, id)
		}
	}
	return w.loadJobs(there, world)
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

func (w *writer) loadRetry(of rota.ID, world *rules.UnitOfWork) error {
	s, err := w.stmt(sqlRetry)
	if err != nil {
		return err
	}
	s.BindBytes(1, of[:])
	return rows(s, func(s *sqlite.Stmt) error {
		world.PutRetry(of, scanID(s, 0))
		return nil
	})
}

func (w *writer) loadChain(id rota.ID, world *rules.UnitOfWork) error {
	s, err := w.stmt(sqlChain)
	if err != nil {
		return err
	}
	s.BindBytes(1, id[:])
	return rows(s, func(s *sqlite.Stmt) error {
		world.PutChain(id, scanID(s, 0))
		return nil
	})
}

// Write stores what the law decided.
func (w *writer) Write(c *rules.Changes) error {
	w.ready = w.ready || c.Wake
	if w.tells {
		w.events = append(w.events, rules.Events(c)) // when it is committed
	}
	return firstError(
		each(c.Groups, w.writeGroup),
		func() error { return w.updateJobs(c.Jobs) },
		func() error { return w.insertJobs(c.NewJobs) },
		func() error { return w.updateJobs(c.NewJobChanges) },
		each(c.RemovedJobs, w.deleteJob),
		each(c.Groups, w.deleteGroup), // its members have gone
		each(c.Keys, w.writeKey),
		each(c.Types, w.writeType),
		each(c.Templates, w.writeTemplate),
		each(c.Schedules, w.writeSchedule),
		each(c.Throttle, w.writeThrottle),
		each(c.Webhooks, w.writeWebhooks),
		each(c.Reservations, w.endReservation),
		each(c.Reservations, w.insertReservation), // the one before it has ended
		each(c.Requests, w.writeRequest),
		each(c.Buckets, w.writeBucket),
		each(c.Intents, w.writeIntent),
		each(c.Dropped, w.writeDropped),
		each(c.Audit, w.writeAudit),
	)
}
