package postgres

import "sync"

// lore is what was read of rows that every step looks at and that seldom change:
// the types, the limits, whether there is a reservation. A step goes by it without
// looking. Whether it still is so is seen with the writes, as of anything that was
// read without a lock, and if not, the step is done anew on what it reads then.
type lore struct {
	mu   sync.Mutex
	rows map[class]map[seat]told
}

// told is a row as it was read; nil: it was not there.
type told struct {
	row     any
	version uint32
}

// loreMax bounds how many rows of a class are kept.
const loreMax = 4096

func (l *lore) get(c class, at seat) (told, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	row, known := l.rows[c][at]
	return row, known
}

func (l *lore) set(c class, at seat, row told) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows == nil {
		l.rows = map[class]map[seat]told{}
	}
	if l.rows[c] == nil || len(l.rows[c]) >= loreMax {
		l.rows[c] = map[seat]told{}
	}
	l.rows[c][at] = row
}

func (l *lore) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = nil
}

// recall brings in a row that is known, and reports whether it is. Nothing is
// recalled by a step that is careful, or comes after one of its transaction that
// has changed such rows.
func recall[T any](t *tx, c class, at seat, into func(*T)) bool {
	if t.careful || t.defines {
		return false
	}
	known, is := t.store.lore.get(c, at)
	if !is {
		return false
	}
	t.seen.recalled(c, at, known.version)
	if known.row != nil {
		row := known.row.(T) // a copy: what is answered is the caller's to change
		into(&row)
	}
	return true
}

// learn has a row that is read known from then on, or that it is not there.
func learn[T any](t *tx, c class, asked []seat, a ask, at func(row) seat, scan func(row) (*T, error), into func(*T)) ask {
	found := map[seat]told{}
	for _, one := range asked {
		t.seen.asked(c, one)
		found[one] = told{}
	}
	a.each = func(r row) error {
		one, err := scan(r)
		if err == nil {
			version := r.xid(len(r) - 1)
			t.seen.named(c, at(r), version)
			found[at(r)] = told{*one, version}
			into(one)
		}
		return err
	}
	a.end = func() {
		if t.defines {
			return
		}
		for one, row := range found {
			t.store.lore.set(c, one, row)
		}
	}
	return a
}
