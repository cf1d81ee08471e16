package rules

import (
	"iter"
	"slices"
)

// rowSet holds the rows of one kind that are known, by key. A row that is known
// and nil is absent. Rows are never changed in place: a decision sets a new row.
type rowSet[K comparable, V any] struct {
	of      *RowKind[K, V]
	rows    map[K]*rowEntry[K, V]
	touched []*rowEntry[K, V]
	wanted  []K // to be loaded
}

type rowEntry[K comparable, V any] struct {
	key     K
	was, is *V // as stored, as decided
	known   bool
	wanted  bool // it is to be loaded
	touched bool
}

// Change is a row that was decided differently. Was is nil for a new row, Is is
// nil for a removed row.
type Change[K comparable, V any] struct {
	Key     K
	Was, Is *V
}

func (s *rowSet[K, V]) get(key K) *V {
	r := s.row(key)
	if !r.known {
		s.want(key)
		panic(missed{})
	}
	return r.is
}

func (s *rowSet[K, V]) want(key K) {
	if r := s.row(key); !r.known && !r.wanted {
		r.wanted = true
		s.wanted = append(s.wanted, key)
	}
}

func (s *rowSet[K, V]) peek(key K) (row *V, known bool) {
	if r := s.rows[key]; r != nil && r.known {
		return r.is, true
	}
	return nil, false
}

func (s *rowSet[K, V]) put(key K, row *V) {
	if r := s.row(key); !r.known {
		r.was, r.is, r.known = row, row, true
	}
}

func (s *rowSet[K, V]) set(u *UnitOfWork, key K, row *V) {
	r := s.row(key)
	before, known := r.is, r.known
	u.onUndo(func() { r.is, r.known = before, known })
	r.is, r.known = row, true
	if !r.touched {
		r.touched = true
		s.touched = append(s.touched, r)
	}
}

func (s *rowSet[K, V]) row(key K) *rowEntry[K, V] {
	r := s.rows[key]
	if r == nil {
		if s.rows == nil {
			s.rows = map[K]*rowEntry[K, V]{}
		}
		r = &rowEntry[K, V]{key: key}
		s.rows[key] = r
	}
	return r
}

// misses returns the keys that are to be loaded.
func (s *rowSet[K, V]) misses() []K {
	s.wanted = slices.DeleteFunc(s.wanted, func(key K) bool { return s.rows[key].known })
	return s.wanted
}

func (s *rowSet[K, V]) missing() int { return len(s.misses()) }

// loaded makes the rows that were to be loaded and were not found known as
// absent.
func (s *rowSet[K, V]) loaded() {
	for _, key := range s.wanted {
		r := s.rows[key]
		r.known, r.wanted = true, false
	}
	s.wanted = nil
}

func (s *rowSet[K, V]) forgetMissing() {
	for _, key := range s.wanted {
		s.rows[key].wanted = false
	}
	s.wanted = nil
}

// changed returns the rows that are decided differently from what is stored.
func (s *rowSet[K, V]) changed() iter.Seq[*rowEntry[K, V]] {
	return func(yield func(*rowEntry[K, V]) bool) {
		for _, r := range s.touched {
			if r.is != r.was && !yield(r) {
				return
			}
		}
	}
}

func (s *rowSet[K, V]) addChanges(c *Changes) {
	var changes []Change[K, V]
	for r := range s.changed() {
		changes = append(changes, Change[K, V]{Key: r.key, Was: r.was, Is: r.is})
	}
	if len(changes) > 0 {
		c.rows[s.of.kind] = changes
	}
}

func (s *rowSet[K, V]) addLocks(l *Locks) {
	if s.of.lock != nil {
		for key := range s.rows {
			l.Names = append(l.Names, s.of.lock(key))
		}
	}
}

func (s *rowSet[K, V]) addChangedLocks(l *Locks) {
	if s.of.lock != nil {
		for r := range s.changed() {
			l.Names = append(l.Names, s.of.lock(r.key))
		}
	}
}

func (s *rowSet[K, V]) readsByPredicate() bool { return s.of.predicate && len(s.rows) > 0 }
