package postgres

import (
	"slices"

	"github.com/rotajobs/rota/internal/rules"
)

// loaders load the rows that rules miss, in one round trip.
var loaders = []rules.Loader[*tx]{
	loadAll(rules.Retries, (*tx).loadRetries),
	loadAll(rules.Chains, (*tx).loadChains),
	loadAll(rules.UniqueKeys, (*tx).loadKeys),
	loadAll(rules.Plans, (*tx).loadPlans),
	loadAll(rules.Tails, (*tx).loadTails),
	loadAll(rules.Audits, (*tx).loadAudits),
	loadEach(rules.OrderPages, (*tx).loadOrder),
	loadAll(rules.Types, (*tx).loadTypes),
	loadAll(rules.Templates, (*tx).loadTemplates),
	loadAll(rules.Schedules, (*tx).loadSchedules),
	loadAll(rules.Groups, (*tx).loadGroups),
	loadAll(rules.Reservations, (*tx).loadReservations),
	loadAll(rules.Requests, (*tx).loadRequests),
	loadAll(rules.Buckets, (*tx).loadBuckets),
	loadAll(rules.Throttle, (*tx).loadThrottle),
	loadEach(rules.Webhooks, (*tx).loadWebhooks),
	loadAll(rules.Active, (*tx).loadActive),
	loadEach(rules.LiveJobs, (*tx).loadJobsOf),
	loadEach(rules.PlannedJobs, (*tx).loadPlanned),
	loadEach(rules.GroupMembers, (*tx).loadMembers),
	loadEach(rules.BlockedJobs, (*tx).loadBlocked),
	loadEach(rules.WaitingJobs, (*tx).loadOverlapWaiting),
	loadEach(rules.LatestJobs, (*tx).loadLatest),
	loadEach(rules.DependentsOf, (*tx).loadDependents),
	loadEach(rules.Dependencies, (*tx).loadReach),
	loadEach(rules.UsersOf, (*tx).loadUsing),
	loadEach(rules.KeyQueues, (*tx).loadKeyQueue),
	loadEach(rules.OpenCounts, (*tx).loadOpen),
	loadEach(rules.Redrives, (*tx).loadRedriven),
	loadEach(rules.AttemptsOf, (*tx).loadAttempts),
	loadEach(rules.LateWaits, (*tx).loadExpiredWaits),
	loadEach(rules.PendingIntents, (*tx).loadIntents),
	loadEach(rules.EndedReservations, (*tx).loadExpiredReservations),
	loadEach(rules.OldRequests, (*tx).loadExpiredRequests),
	loadAll(rules.DroppedSchedules, (*tx).loadDropped),
	loadEach(rules.DroppedJobsOf, (*tx).loadDroppedJobs),
}

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
	statements := append(t.loading, t.loadOrders(orders, u)...)
	if len(statements) == 0 { // everything is cached
		return nil
	}
	if err := t.read(append(statements, t.loadAnythingElse()...)...); err != nil {
		return err
	}
	return t.loadMoreHeads(orders, u)
}

// LoadCached loads what limits a claim from the row cache.
func (t *tx) LoadCached(u *rules.UnitOfWork) {
	t.setUnit(u)
	for _, name := range slices.Clone(rules.Types.Missing(u)) {
		if useCached(t, classType, rowKey{name: name}, rules.Types.Into(u)) {
			rules.Types.PutAbsent(u, name) // unless there is a row
		}
	}
	if len(rules.Throttle.Missing(u)) > 0 && useCached(t, classThrottle, rowKey{}, rules.Throttle.Into(u)) {
		rules.Throttle.PutAbsent(u, struct{}{})
	}
	if len(rules.Active.Missing(u)) > 0 && useCached(t, classActive, rowKey{}, u.PutActive) {
		u.PutNoActive()
	}
}

// setUnit makes a unit of work the current one, with an empty read set.
func (t *tx) setUnit(u *rules.UnitOfWork) {
	if t.readSet.unit == u {
		return
	}
	t.readSet.begin(u)
	t.claim.repeated, t.claim.mergesTypes = false, false
}

func (t *tx) loadOrders(n rules.Orders, u *rules.UnitOfWork) (statements []statement) {
	statements = append(statements, t.loadClaim(n, u)...)
	statements = append(statements, ifNeeded(n.Due, u, t.loadDue)...)
	statements = append(statements, ifNeeded(n.Stale, u, t.loadStale)...)
	return append(statements, ifNeeded(n.Unsettled, u, t.loadUnsettled)...)
}

func ifNeeded[Q any](query *Q, u *rules.UnitOfWork, load func(*Q, *rules.UnitOfWork) statement) []statement {
	if query == nil {
		return nil
	}
	return []statement{load(query, u)}
}
