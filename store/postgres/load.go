package postgres

import (
	"slices"

	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// searches are the queries that find rows by a condition.
var searches = storekit.Searches{
	LiveJobs: sqlLiveJobs, BlockedJobs: sqlBlockedJobs, WaitingJobs: sqlWaitingJobs, LatestJobs: sqlLatestJobs,
	Dependents: sqlDependents, Dependencies: sqlDependencies, TemplateSchedules: sqlTemplateSchedules,
	OpenAll: sqlOpenAll, OpenOfType: sqlOpenOf, OpenOfKey: sqlKeyQueueOpen, OpenOfKeyAndType: sqlKeyQueueOpenOf, LiveKeys: sqlLiveKeys, Redrives: sqlRedrives, ExpiredWaits: sqlExpiredWaits,
	Due: sqlDue, Stale: sqlStale, Unsettled: sqlUnsettled, GroupMembers: membersSQL, DroppedJobs: droppedSQL,
}

// loaders load the rows that rules miss, in one round trip.
var loaders = append(storekit.Loaders[*tx](&searches),
	loadAll(rules.Retries, (*tx).loadRetries),
	loadAll(rules.Chains, (*tx).loadChains),
	loadAll(rules.UniqueKeys, (*tx).loadKeys),
	loadAll(rules.Plans, (*tx).loadPlans),
	loadAll(rules.Tails, (*tx).loadTails),
	loadAll(rules.Audits, (*tx).loadAudits),
	loadEach(rules.OrderPages, (*tx).loadOrder),
	loadEach(rules.LowerPriorities, (*tx).loadLowerPriority),
	loadAll(rules.Types, (*tx).loadTypes),
	loadNamed(rules.Templates, rules.LockTemplate, storekit.Templates, sqlTemplates),
	loadNamed(rules.Schedules, rules.LockSchedule, storekit.Schedules, sqlSchedules),
	loadAll(rules.Groups, (*tx).loadGroups),
	loadAll(rules.Reservations, (*tx).loadReservations),
	loadAll(rules.Requests, (*tx).loadRequests),
	loadUntracked(rules.Buckets, storekit.Buckets, sqlBuckets),
	loadUntracked(rules.DroppedSchedules, storekit.Dropped, sqlDropped),
	loadNamed(rules.Principals, rules.LockAccess, storekit.Principals, sqlPrincipals),
	loadUntracked(rules.AccessTokens, storekit.AccessTokens, sqlAccessTokens),
	loadEach(rules.AccessState, (*tx).loadAccessState),
	loadUnderLock(rules.Secrets, storekit.Secrets),
	loadUnderLock(rules.SecretKeys, storekit.SecretKeys),
	loadAll(rules.Throttle, (*tx).loadThrottle),
	loadEach(rules.Webhooks, (*tx).loadWebhooks),
	loadAll(rules.Active, (*tx).loadActive),
	loadEach(rules.PlannedJobs, (*tx).loadPlanned),
	loadEach(rules.KeyQueues, (*tx).loadKeyQueue),
	loadEach(rules.KeyTypes, (*tx).loadKeyTypes),
	loadEach(rules.ExpiredRequests, (*tx).loadExpiredRequests),
)

// loadAll returns a loader with one statement for all keys.
func loadAll[K any](k rules.Kind[K], load func(*tx, []K, *rules.UnitOfWork) []statement) rules.Loader[*tx] {
	return rules.LoadAll(k, func(t *tx, keys []K, u *rules.UnitOfWork) error {
		t.loading = append(t.loading, load(t, keys, u)...)
		return nil
	})
}

// loadEach returns a loader with one statement for each key.
func loadEach[K any](k rules.Kind[K], load func(*tx, K, *rules.UnitOfWork) statement) rules.Loader[*tx] {
	return rules.LoadEach(k, func(t *tx, key K, u *rules.UnitOfWork) error {
		t.loading = append(t.loading, load(t, key, u))
		return nil
	})
}

// Load reads the rows that rules have missed, in one round trip.
func (t *tx) Load(u *rules.UnitOfWork) error {
	t.setUnit(u)
	t.loading = slices.Concat(
		t.loadLeases(u.MissingLeases(), u.SkipLocked, u),
		t.loadFullJobs(u.MissingJobs(), u),
		t.loadNew(u.MissingNewJobs(), u),
	)
	if err := rules.LoadMissing(t, u, loaders); err != nil {
		return err
	}
	orders := u.Orders()
	t.loading = append(t.loading, t.loadClaim(orders, u)...)
	if orders.Due != nil || orders.Stale != nil || orders.Unsettled != nil {
		t.locks.holdsRows = true // the queries lock what they find
	}
	if err := storekit.LoadOrders(t, u, &searches); err != nil {
		return err
	}
	statements := t.loading
	if len(statements) == 0 { // everything is cached
		return nil
	}
	if err := t.read(append(statements, t.loadAnythingElse()...)...); err != nil {
		return err
	}
	return t.loadMoreHeads(orders, u)
}

// Read adds a query of storekit to those of the current Load.
func (t *tx) Read(sql string, each func(storekit.Row) error, args ...any) error {
	t.loading = append(t.loading, statementOf(sql, each, args))
	return nil
}

// setUnit makes a unit of work the current one, with an empty read set.
func (t *tx) setUnit(u *rules.UnitOfWork) {
	if t.readSet.unit == u {
		return
	}
	t.readSet.begin(u)
	t.claim.repeated, t.claim.mergesTypes = false, false
}

func ifNeeded[Q any](query *Q, u *rules.UnitOfWork, load func(*Q, *rules.UnitOfWork) statement) []statement {
	if query == nil {
		return nil
	}
	return []statement{load(query, u)}
}
