package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// Rows of the tables beside that of the jobs are read with their version, xmin, as the last column.
var (
	sqlTypes        = storekit.Types.Select("xmin") + byNames
	sqlTemplates    = storekit.Templates.Select("xmin") + byNames
	sqlSchedules    = storekit.Schedules.Select("xmin") + byNames
	sqlGroups       = storekit.Groups.Select("xmin") + byIDs
	sqlReservations = storekit.Reservations.Select("xmin") + byIDs
	sqlPrincipals   = storekit.Principals.Select("xmin") + byNames
	sqlAccessTokens = storekit.AccessTokens.Select() + byIDs
	sqlBuckets      = storekit.Buckets.Select() + `
WHERE type = ANY ($1)`
	sqlDropped = storekit.Dropped.Select() + `
WHERE schedule = ANY ($1)`
	sqlThrottle    = storekit.Throttle.Select("xmin")
	sqlAccessState = storekit.AccessState.Select("xmin")
	sqlWebhooks    = storekit.Webhooks.Select("xmin")
	sqlActive      = storekit.Reservations.Select("xmin") + `
WHERE status = 'ACTIVE'`
	sqlRequests = storekit.Requests.Select("rota_requests.xmin") + `
JOIN unnest($1, $2) AS v (a, k) ON actor = ANY (ARRAY[v.a]) AND key = v.k`
	sqlExpiredRequests = storekit.Requests.Select("xmin") + `
WHERE at <= $1
ORDER BY at, actor, key
LIMIT $2`

	byNames = `
WHERE name = ANY ($1)`
	byIDs = `
WHERE id = ANY ($1)`
)

// scanInto returns a callback that scans a row and passes it on.
func scanInto[T any](t *storekit.Table[T], into func(*T)) func(row) error {
	put := storekit.ScanInto(t, into)
	return func(r row) error { return put(r) }
}

// scanTracked is scanInto that also adds the row's version to the read set.
func scanTracked[T any](t *tx, c rules.LockClass, at func(row) rowKey, table *storekit.Table[T], into func(*T)) func(row) error {
	scanRow := scanInto(table, into)
	return func(r row) error {
		t.readSet.addRow(c, at(r), r.xid(len(r)-1))
		return scanRow(r)
	}
}

// keyOfName, keyOfPair and keyOfSingle return the row keys of rows with a name or an id in the first
// column, of rows with a key of two columns, and of tables with at most one row.
func keyOfName(r row) rowKey { return rowKey{name: r.Text(0)} }

func keyOfPair(r row) rowKey { return rowKey{name: r.Text(0), second: r.Text(1)} }

func keyOfSingle(row) rowKey { return rowKey{} }

// singleKey is the row key of a table with at most one row.
var singleKey = []rowKey{{}}

// loadNamed returns a loader of rows by name, all at once.
func loadNamed[T any](k *rules.RowKind[string, T], c rules.LockClass, table *storekit.Table[T], sql string) rules.Loader[*tx] {
	return loadAll(k, func(t *tx, names []string, u *rules.UnitOfWork) []statement {
		for _, name := range names {
			t.readSet.addLookup(c, rowKey{name: name})
		}
		return []statement{{sql: sql, params: []param{textsParam(names)}, eachRow: scanTracked(t, c, keyOfName, table, k.Into(u))}}
	})
}

// loadUntracked returns a loader of rows by name that adds nothing to the read set: the lock under
// which they are read protects them, and they are read again under it.
func loadUntracked[T any](k *rules.RowKind[string, T], table *storekit.Table[T], sql string) rules.Loader[*tx] {
	return loadAll(k, func(_ *tx, names []string, u *rules.UnitOfWork) []statement {
		return []statement{{sql: sql, params: []param{textsParam(names)}, eachRow: scanInto(table, k.Into(u))}}
	})
}

// loadUnderLock returns a loader of rows by any key, one statement for each, that adds nothing to the read set, as loadUntracked.
func loadUnderLock[K comparable, T any](k *rules.RowKind[K, T], table *storekit.Table[T]) rules.Loader[*tx] {
	return rules.LoadEach(k, func(t *tx, key K, u *rules.UnitOfWork) error {
		return t.Read(table.ByKey(), storekit.ScanInto(table, k.Into(u)), storekit.KeyArgs(key)...)
	})
}

func (t *tx) loadTypes(names []string, u *rules.UnitOfWork) []statement {
	var left []string
	var keys []rowKey
	for _, name := range names {
		if at := (rowKey{name: name}); !useCached(t, rules.LockType, at, rules.Types.Into(u)) {
			left, keys = append(left, name), append(keys, at)
		}
	}
	if len(left) == 0 {
		return nil
	}
	read := statement{sql: sqlTypes, params: []param{textsParam(left)}}
	return []statement{cacheRows(t, rules.LockType, keys, read, keyOfName, storekit.Types.Scan, rules.Types.Into(u))}
}

func (t *tx) loadGroups(ids []rota.ID, u *rules.UnitOfWork) []statement {
	for _, id := range ids {
		t.readSet.addLookup(rules.LockGroup, rowKey{name: string(id[:])})
	}
	put := scanTracked(t, rules.LockGroup, keyOfName, storekit.Groups, rules.Groups.Into(u))
	return []statement{{sql: sqlGroups, params: []param{idsParam(ids)}, eachRow: put}}
}

// loadReservations adds only the active reservation to the read set, because an ended one never
// changes.
func (t *tx) loadReservations(ids []rota.ID, u *rules.UnitOfWork) []statement {
	putRow := scanInto(storekit.Reservations, rules.Reservations.Into(u))
	return []statement{{sql: sqlReservations, params: []param{idsParam(ids)}, eachRow: func(r row) error {
		if rota.ReservationStatus(r.Text(storekit.Reservations.Col("status"))) == rota.ReservationActive {
			t.readSet.addRow(rules.LockActive, rowKey{}, r.xid(len(r)-1))
		}
		return putRow(r)
	}}}
}

func (t *tx) loadActive(_ []struct{}, u *rules.UnitOfWork) []statement {
	if useCached(t, rules.LockActive, rowKey{}, u.PutActive) {
		return nil
	}
	return []statement{cacheRows(t, rules.LockActive, singleKey, statement{sql: sqlActive}, keyOfSingle, storekit.Reservations.Scan, u.PutActive)}
}

func (t *tx) loadThrottle(_ []struct{}, u *rules.UnitOfWork) []statement {
	into := rules.Throttle.Into(u)
	if useCached(t, rules.LockThrottle, rowKey{}, into) {
		return nil
	}
	return []statement{cacheRows(t, rules.LockThrottle, singleKey, statement{sql: sqlThrottle}, keyOfSingle, storekit.Throttle.Scan, into)}
}

func (t *tx) loadWebhooks(_ struct{}, u *rules.UnitOfWork) statement {
	t.readSet.addLookup(rules.LockWebhooks, rowKey{})
	return statement{sql: sqlWebhooks, eachRow: scanTracked(t, rules.LockWebhooks, keyOfSingle, storekit.Webhooks, rules.Webhooks.Into(u))}
}

func (t *tx) loadAccessState(_ struct{}, u *rules.UnitOfWork) statement {
	t.readSet.addLookup(rules.LockAccessState, rowKey{})
	return statement{sql: sqlAccessState, eachRow: scanTracked(t, rules.LockAccessState, keyOfSingle, storekit.AccessState, rules.AccessState.Into(u))}
}

func (t *tx) loadRequests(keys []rules.RequestKey, u *rules.UnitOfWork) []statement {
	actors, names := newColumn(oidTexts, len(keys)), newColumn(oidTexts, len(keys))
	for _, key := range keys {
		t.readSet.addLookup(rules.LockRequest, rowKey{name: key.Actor, second: key.Key})
		actors.Text(key.Actor)
		names.Text(key.Key)
	}
	put := scanTracked(t, rules.LockRequest, keyOfPair, storekit.Requests, rules.Requests.Into(u))
	return []statement{{sql: sqlRequests, params: []param{actors.param(), names.param()}, eachRow: put}}
}

func (t *tx) loadExpiredRequests(q rules.ExpiredRequestsQuery, u *rules.UnitOfWork) statement {
	put := scanTracked(t, rules.LockRequest, keyOfPair, storekit.Requests, func(r *rules.Request) { u.PutExpiredRequest(q, r) })
	return statement{sql: sqlExpiredRequests, params: []param{intParam(q.By), intParam(int64(q.Limit))}, eachRow: put}
}
