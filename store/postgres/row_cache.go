package postgres

import "sync"

// rowCache is what was read of rows that every step looks at and that seldom change:
// the types, the limits, whether there is a reservation. A step goes by it without
// looking. Whether it still is so is seen with the writes, as of anything that was
// read without a lock, and if not, the step is done anew on what it reads then.
type rowCache struct {
	mu   sync.Mutex
	rows map[class]map[rowKey]cachedRow
}

// cachedRow is a row as it was read; nil: it was not there.
type cachedRow struct {
	row     any
	version uint32
}

// rowCacheMax bounds how many rows of a class are kept.
const rowCacheMax = 4096

func (l *rowCache) get(c class, key rowKey) (cachedRow, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	row, known := l.rows[c][key]
	return row, known
}

func (l *rowCache) set(c class, key rowKey, row cachedRow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows == nil {
		l.rows = map[class]map[rowKey]cachedRow{}
	}
	if l.rows[c] == nil || len(l.rows[c]) >= rowCacheMax {
		l.rows[c] = map[rowKey]cachedRow{}
	}
	l.rows[c][key] = row
}

func (l *rowCache) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = nil
}

// useCached brings in a row that is known, and reports whether it is. Nothing is
// recalled by a step that is careful, or comes after one of its transaction that
// has changed such rows.
func useCached[T any](t *tx, c class, key rowKey, into func(*T)) bool {
	if t.pessimistic || t.changesCachedRows {
		return false
	}
	known, is := t.store.rowCache.get(c, key)
	if !is {
		return false
	}
	t.readSet.addCached(c, key, known.version)
	if known.row != nil {
		row := known.row.(T) // a copy: what is answered is the caller's to change
		into(&row)
	}
	return true
}

// cacheRows has a row that is read known from then on, or that it is not there.
func cacheRows[T any](t *tx, c class, keys []rowKey, a statement, key func(row) rowKey, scan func(row) (*T, error), into func(*T)) statement {
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
		if t.changesCachedRows {
			return
		}
		for one, row := range found {
			t.store.rowCache.set(c, one, row)
		}
	}
	return a
}
