package rules

import "github.com/rotajobs/rota"

// kind is the number of one kind of rows or queries, its index in a unit of work.
type kind int

var kindNames []string

func newKind(name string) kind {
	kindNames = append(kindNames, name)
	return kind(len(kindNames) - 1)
}

// table is what a unit of work knows of one kind.
type table interface {
	missing() int           // how many keys are to be loaded
	loaded()                // they have been loaded
	forgetMissing()         // they are not to be loaded any more
	addLocks(l *Locks)      // what was read
	addChangedLocks(*Locks) // what is decided differently
	addChanges(c *Changes)  // how it is decided
	readsByPredicate() bool // whether rows were found by a predicate instead of a key
}

// RowKind is one kind of rows, found by key.
type RowKind[K comparable, V any] struct {
	kind
	key  func(*V) K
	lock func(K) Lock // nil: other locks cover the row
	// predicate is set if transactions change the row without reading it, so that
	// it has to be read again under its lock.
	predicate bool
}

func newRows[K comparable, V any](name string, key func(*V) K, lock func(K) Lock) *RowKind[K, V] {
	return &RowKind[K, V]{kind: newKind(name), key: key, lock: lock}
}

// underLock makes rows be read again under their lock.
func (k *RowKind[K, V]) underLock() *RowKind[K, V] {
	k.predicate = true
	return k
}

func (k *RowKind[K, V]) of(u *UnitOfWork) *rowSet[K, V] {
	if s := u.tables[k.kind]; s != nil {
		return s.(*rowSet[K, V])
	}
	s := &rowSet[K, V]{of: k}
	u.tables[k.kind] = s
	return s
}

// get returns a row to read, nil if it is absent. If the row is not known, the
// rule stops here until it is loaded.
func (k *RowKind[K, V]) get(u *UnitOfWork, key K) *V { return k.of(u).get(key) }

// want asks for a row without stopping the rule.
func (k *RowKind[K, V]) want(u *UnitOfWork, key K) { k.of(u).want(key) }

// peek returns a row if it is known.
func (k *RowKind[K, V]) peek(u *UnitOfWork, key K) (row *V, known bool) { return k.of(u).peek(key) }

// set decides a row; nil removes it.
func (k *RowKind[K, V]) set(u *UnitOfWork, key K, row *V) { k.of(u).set(u, key, row) }

// Put adds a row as stored. A row that is known stays as it is.
func (k *RowKind[K, V]) Put(u *UnitOfWork, row *V) { k.of(u).put(k.key(row), row) }

// Into returns a function that puts rows into a unit of work.
func (k *RowKind[K, V]) Into(u *UnitOfWork) func(*V) { return func(row *V) { k.Put(u, row) } }

// PutAbsent notes that there is no row of a key.
func (k *RowKind[K, V]) PutAbsent(u *UnitOfWork, key K) { k.of(u).put(key, nil) }

// Missing returns the keys that are to be loaded.
func (k *RowKind[K, V]) Missing(u *UnitOfWork) []K { return k.of(u).misses() }

// Changes returns how rows of the kind are decided.
func (k *RowKind[K, V]) Changes(c *Changes) []Change[K, V] {
	if changes := c.rows[k.kind]; changes != nil {
		return changes.([]Change[K, V])
	}
	return nil
}

// QueryKind is one kind of queries.
type QueryKind[Q comparable, A any] struct {
	kind
	lock      func(Q) Lock // nil: other locks cover what it finds
	predicate bool         // it finds rows by a predicate, so other transactions may add some
}

func newQuery[A any, Q comparable](name string, lock func(Q) Lock) *QueryKind[Q, A] {
	return &QueryKind[Q, A]{kind: newKind(name), lock: lock}
}

func newPredicate[A any, Q comparable](name string, lock func(Q) Lock) *QueryKind[Q, A] {
	return &QueryKind[Q, A]{kind: newKind(name), lock: lock, predicate: true}
}

func (k *QueryKind[Q, A]) of(u *UnitOfWork) *queryCache[Q, A] {
	if c := u.tables[k.kind]; c != nil {
		return c.(*queryCache[Q, A])
	}
	c := &queryCache[Q, A]{of: k}
	u.tables[k.kind] = c
	return c
}

// get returns an answer. If it is not known, the rule stops here until it is
// loaded.
func (k *QueryKind[Q, A]) get(u *UnitOfWork, query Q) A { return k.of(u).get(query) }

// want asks for an answer without stopping the rule.
func (k *QueryKind[Q, A]) want(u *UnitOfWork, query Q) { k.of(u).want(query) }

// peek returns an answer if it is known.
func (k *QueryKind[Q, A]) peek(u *UnitOfWork, query Q) (answer A, known bool) {
	return k.of(u).peek(query)
}

// set decides an answer that this transaction changes.
func (k *QueryKind[Q, A]) set(u *UnitOfWork, query Q, answer A) { k.of(u).set(u, query, answer) }

// Put sets an answer.
func (k *QueryKind[Q, A]) Put(u *UnitOfWork, query Q, answer A) { k.of(u).put(query, answer) }

// Missing returns the queries that are to be loaded.
func (k *QueryKind[Q, A]) Missing(u *UnitOfWork) []Q { return k.of(u).misses() }

// Append adds to an answer that is a list.
func Append[Q comparable, E any](k *QueryKind[Q, []E], u *UnitOfWork, query Q, one E) {
	c := k.of(u)
	c.put(query, append(c.answers[query].is, one))
}

// AppendJob adds a job to an answer, and to the unit of work.
func AppendJob[Q comparable](k *QueryKind[Q, []rota.ID], u *UnitOfWork, query Q, j *rota.Job) {
	u.PutJob(j)
	Append(k, u, query, j.ID)
}

// AppendLease adds a job of which the fields of a lease are loaded to an answer,
// and to the unit of work.
func AppendLease[Q comparable](k *QueryKind[Q, []rota.ID], u *UnitOfWork, query Q, j *rota.Job) {
	u.PutLease(j)
	Append(k, u, query, j.ID)
}
