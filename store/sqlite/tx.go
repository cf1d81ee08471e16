package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var (
	_ rules.Tx    = (*writer)(nil)
	_ rules.Clock = (*writer)(nil)
)

var (
	sqlLease = `
SELECT ` + storekit.LeasedJob + `
FROM rota_jobs j
WHERE j.id = $1`
	sqlFullJob = `
SELECT ` + storekit.FullJob + `
FROM rota_jobs j
WHERE j.id = $1`
	sqlNewest = `
SELECT id
FROM rota_jobs
ORDER BY id DESC
LIMIT 1`
	sqlRetry = `
SELECT id
FROM rota_jobs
WHERE retry_of = $1`
	sqlChain = `
WITH RECURSIVE chain (id, n) AS (
  SELECT $1, 0
  UNION ALL
  SELECT j.id, chain.n + 1
  FROM chain JOIN rota_jobs j ON j.retry_of = chain.id
)
SELECT id
FROM chain
ORDER BY n DESC
LIMIT 1`
)

var searches = storekit.Searches{
	LiveJobs: sqlLiveJobs, BlockedJobs: sqlBlockedJobs, WaitingJobs: sqlWaitingJobs, LatestJobs: sqlLatestJobs,
	Dependents: sqlDependents, Dependencies: sqlDependencies, TemplateSchedules: sqlTemplateSchedules,
	OpenAll: sqlOpenAll, OpenOfType: sqlOpenOf, OpenOfKey: sqlKeyQueueOpen, OpenOfKeyAndType: sqlKeyQueueOpenOf, LiveKeys: sqlLiveKeys, Redrives: sqlRedrives, ExpiredWaits: sqlExpiredWaits,
	Due: sqlDue, Stale: sqlStale, Unsettled: sqlUnsettled, GroupMembers: membersSQL, DroppedJobs: droppedSQL,
}

// loaders load the rows that rules miss.
var loaders = append(storekit.Loaders[*writer](&searches),
	rules.LoadEach(rules.Retries, (*writer).loadRetry),
	rules.LoadEach(rules.Chains, (*writer).loadChain),
	rules.LoadEach(rules.Plans, (*writer).loadPlan),
	rules.LoadEach(rules.Tails, (*writer).loadTail),
	rules.LoadEach(rules.Audits, (*writer).loadAudit),
	rules.LoadEach(rules.OrderPages, (*writer).loadOrder),
	rules.LoadEach(rules.LowerPriorities, (*writer).loadLowerPriority),
	rules.LoadEach(rules.Throttle, (*writer).loadThrottle),
	rules.LoadEach(rules.Active, (*writer).loadActive),
	rules.LoadEach(rules.PlannedJobs, (*writer).loadPlanned),
	rules.LoadEach(rules.KeyQueues, (*writer).loadKeyQueue),
	rules.LoadEach(rules.KeyTypes, (*writer).loadKeyTypes),
	rules.LoadEach(rules.ExpiredRequests, (*writer).loadExpiredRequests),
	loadRow(rules.UniqueKeys, storekit.UniqueKeys),
	loadRow(rules.Types, storekit.Types),
	loadRow(rules.Templates, storekit.Templates),
	loadRow(rules.Schedules, storekit.Schedules),
	loadRow(rules.Groups, storekit.Groups),
	loadRow(rules.Reservations, storekit.Reservations),
	loadRow(rules.Requests, storekit.Requests),
	loadRow(rules.Buckets, storekit.Buckets),
	loadRow(rules.Webhooks, storekit.Webhooks),
	loadRow(rules.DroppedSchedules, storekit.Dropped),
	loadRow(rules.Principals, storekit.Principals),
	loadRow(rules.AccessTokens, storekit.AccessTokens),
	loadRow(rules.AccessState, storekit.AccessState),
	loadRow(rules.Secrets, storekit.Secrets),
	loadRow(rules.SecretKeys, storekit.SecretKeys),
)

// loadRow returns a loader of the rows of a table, one at a time.
func loadRow[K comparable, T any](k *rules.RowKind[K, T], t *storekit.Table[T]) rules.Loader[*writer] {
	sql := t.ByKey()
	return rules.LoadEach(k, func(w *writer, key K, u *rules.UnitOfWork) error {
		return w.Read(sql, storekit.ScanInto(t, k.Into(u)), storekit.KeyArgs(key)...)
	})
}

// TakeJob reads a job. The only writer need not check later that it is unchanged.
func (w *writer) TakeJob(r storekit.Row) *rota.Job { return storekit.ScanJob(r) }

// Load reads the rows that rules have missed.
func (w *writer) Load(u *rules.UnitOfWork) error {
	orders := u.Orders()
	return firstError(
		func() error { return w.loadLeases(u.MissingLeases(), u.PutLease) },
		func() error { return w.loadFullJobs(u.MissingJobs(), u) },
		func() error { return w.loadFullJobs(u.MissingNewJobs(), u) },
		func() error { return rules.LoadMissing(w, u, loaders) },
		ifNeeded(orders.ClaimedBefore, u, w.loadClaimedBefore),
		ifNeeded(orders.Heads, u, w.loadHeads),
		func() error { return storekit.LoadOrders(w, u, &searches) },
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
func (w *writer) loadJobs(ids []rota.ID, put func(*rota.Job)) error {
	for _, id := range ids {
		err := w.Read(sqlFullJob, func(r storekit.Row) error {
			put(storekit.ScanJob(r))
			return nil
		}, id)
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
		err := w.Read(sqlLease, func(r storekit.Row) error {
			put(storekit.ScanLease(r))
			return nil
		}, id)
		if err != nil {
			return err
		}
	}
	return nil
}

// loadFullJobs reads jobs with their params. Ids are sorted by time, so the ids of new jobs are
// behind the newest existing job and need no lookup. A caller's driver takes ten times as long to prepare
// the lookup of a job as that of the newest id.
func (w *writer) loadFullJobs(ids []rota.ID, u *rules.UnitOfWork) error {
	if len(ids) == 0 || len(ids) == 1 && w.caller == nil {
		return w.loadJobs(ids, u.PutJob)
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
	return w.loadJobs(existing, u.PutJob)
}

func (w *writer) newest() (id rota.ID, err error) {
	err = w.Read(sqlNewest, func(r storekit.Row) error {
		id = r.ID(0)
		return nil
	})
	return id, err
}

func (w *writer) loadRetry(of rota.ID, u *rules.UnitOfWork) error {
	return w.Read(sqlRetry, func(r storekit.Row) error {
		rules.Retries.Put(u, of, r.ID(0))
		return nil
	}, of)
}

func (w *writer) loadChain(id rota.ID, u *rules.UnitOfWork) error {
	return w.Read(sqlChain, func(r storekit.Row) error {
		rules.Chains.Put(u, id, r.ID(0))
		return nil
	}, id)
}

// Write executes the changes that the rules decided.
func (w *writer) Write(c *rules.Changes) error {
	if w.trying {
		return errChanges
	}
	if w.preview {
		w.created = append(w.created, c.NewJobs...)
	}
	w.wakeup.Add(c)
	if w.watched {
		w.events = append(w.events, rules.Events(c)) // published after the commit
	}
	if storekit.ChangesHooks(c) {
		w.hooks = hooksCache{}
	}
	return firstError(
		func() error { return w.trackChanges(c) },
		each(storekit.BeforeJobs(c), w.execute),
		func() error { return w.updateJobs(c.Jobs) },
		func() error { return w.insertJobs(c.NewJobs) },
		func() error { return w.updateJobs(c.NewJobChanges) },
		each(c.RemovedJobs, w.deleteJob),
		each(storekit.KeyChanges(c), w.execute),
		each(storekit.AfterJobs(c), w.execute),
		each(storekit.Fired(c), w.execute),
		each(c.Audit, w.writeAudit),
	)
}

func (w *writer) execute(s storekit.Statement) error { return w.change(s.SQL, s.Args...) }
