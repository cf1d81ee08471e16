package rules

// rowSet holds the known rows of one kind, by key. A row that is known and nil
// is absent. Rows are never changed in place: a decision sets a new row.
type rowSet[K comparable, V any] struct {
	rows    map[K]*rowEntry[K, V]
	touched []*rowEntry[K, V]
}

type rowEntry[K comparable, V any] struct {
	key     K
	was, is *V // as stored, as decided
	touched bool
}

// Change is a row that was decided differently. Was is nil for a new row, Is is
// nil for a removed row.
type Change[K comparable, V any] struct {
	Key     K
	Was, Is *V
}

// get returns a row to read, nil if it is absent.
func (s *rowSet[K, V]) get(key K) *V {
	if r := s.rows[key]; r != nil {
		return r.is
	}
	return nil
}

// lookup returns a row. If the row is not known yet, it adds the key to wanted.
func (s *rowSet[K, V]) lookup(wanted *[]K, key K) *V {
	if r := s.rows[key]; r != nil {
		return r.is
	}
	s.row(key)
	*wanted = append(*wanted, key)
	return nil
}

// put adds a row as stored. A decided row takes precedence.
func (s *rowSet[K, V]) put(key K, row *V) {
	if r := s.row(key); !r.touched {
		r.was, r.is = row, row
	}
}

// set decides a row; nil removes it.
func (s *rowSet[K, V]) set(u *UnitOfWork, key K, row *V) {
	r := s.row(key)
	before := r.is
	u.onRollback(func() { r.is = before })
	r.is = row
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

func (s *rowSet[K, V]) changes() (changes []Change[K, V]) {
	for _, r := range s.touched {
		if r.is != r.was {
			changes = append(changes, Change[K, V]{Key: r.key, Was: r.was, Is: r.is})
		}
	}
	return changes
}

// queryCache holds the answers to queries of one kind. Each query is loaded
// once.
type queryCache[Q comparable, A any] struct{ answers map[Q]A }

// lookup returns an answer. If the query is not known yet, it adds the query to
// wanted and returns false.
func (c *queryCache[Q, A]) lookup(wanted *[]Q, query Q) (A, bool) {
	answer, known := c.answers[query]
	if !known {
		c.put(query, answer)
		*wanted = append(*wanted, query)
	}
	return answer, known
}

func (c *queryCache[Q, A]) get(query Q) A { return c.answers[query] }

func (c *queryCache[Q, A]) put(query Q, answer A) {
	if c.answers == nil {
		c.answers = map[Q]A{}
	}
	c.answers[query] = answer
}
