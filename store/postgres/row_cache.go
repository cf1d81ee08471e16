package postgres

import (
	"slices"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// The row cache is a fast path of claims, finishes and enqueues. The plain way reads types, limits
// and the active reservation in each transaction. The fast path keeps these rows, which seldom
// change, and assumes that they are unchanged. The writes check their versions like those of other
// rows read without a lock. If one has changed, the batch is decided again on rows that are read.

// rowCache holds the rows.
type rowCache struct {
	mu   sync.Mutex
	rows map[rules.LockClass]map[rowKey]cachedRow
}

// cachedRow is a row and its version. A nil row does not exist.
type cachedRow struct {
	row     any
	version uint32
}

// rowCacheMax is the maximal number of cached rows of a class.
const rowCacheMax = 4096

func (r *rowCache) get(c rules.LockClass, key rowKey) (cachedRow, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row, known := r.rows[c][key]
	return row, known
}

func (r *rowCache) set(c rules.LockClass, key rowKey, row cachedRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		r.rows = map[rules.LockClass]map[rowKey]cachedRow{}
	}
	if r.rows[c] == nil || len(r.rows[c]) >= rowCacheMax {
		r.rows[c] = map[rowKey]cachedRow{}
	}
	r.rows[c][key] = row
}

func (r *rowCache) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = nil
}

// knowsPaused reports whether the cache holds a type that is paused.
func (r *rowCache) knowsPaused(name string) bool {
	known, _ := r.get(rules.LockType, rowKey{name: name})
	typ, is := known.row.(rota.Type)
	return is && typ.Paused
}

// useCached passes on a cached row, and reports whether there is one. It returns false in a
// pessimistic transaction, in one that has changed cached rows, and in one of a caller that cannot
// be retried.
func useCached[T any](t *tx, c rules.LockClass, key rowKey, into func(*T)) bool {
	if t.pessimistic || t.writer.changesCachedRows || !t.mayAssumeRows() || !t.store.uses(RowCache) {
		return false
	}
	known, is := t.store.rowCache.get(c, key)
	if !is {
		return false
	}
	t.readSet.addCached(c, key, known.version)
	if known.row != nil {
		row := known.row.(T) // a copy, because the caller may change what is returned
		into(&row)
	}
	return true
}

// cacheRows returns a statement whose rows are cached, also those that do not exist.
func cacheRows[T any](
	t *tx, c rules.LockClass, keys []rowKey, a statement, key func(row) rowKey, scan func(storekit.Row) (*T, error), into func(*T),
) statement {
	found := map[rowKey]cachedRow{}
	for _, one := range keys {
		t.readSet.addLookup(c, one)
		found[one] = cachedRow{}
	}
	a.eachRow = func(r row) error {
		one, err := scan(r)
		if err == nil {
			version := r.xid(len(r) - 1)
			t.readSet.addRow(c, key(r), version)
			found[key(r)] = cachedRow{*one, version}
			into(one)
		}
		return err
	}
	a.afterRows = func() {
		if t.writer.changesCachedRows || t.caller != nil { // rows that are not committed yet
			return
		}
		for one, row := range found {
			t.store.rowCache.set(c, one, row)
		}
	}
	return a
}

// LoadCached loads what limits a claim from the row cache.
func (t *tx) LoadCached(u *rules.UnitOfWork) {
	t.setUnit(u)
	for _, name := range slices.Clone(rules.Types.Missing(u)) {
		if useCached(t, rules.LockType, rowKey{name: name}, rules.Types.Into(u)) {
			rules.Types.PutAbsent(u, name) // unless there is a row
		}
	}
	if len(rules.Throttle.Missing(u)) > 0 && useCached(t, rules.LockThrottle, rowKey{}, rules.Throttle.Into(u)) {
		rules.Throttle.PutAbsent(u, struct{}{})
	}
	if len(rules.Active.Missing(u)) > 0 && useCached(t, rules.LockActive, rowKey{}, u.PutActive) {
		u.PutNoActive()
	}
}
