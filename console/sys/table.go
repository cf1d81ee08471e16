package sys

import (
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

// table is one table of the catalogue: its columns, and the ways in which a store
// can read its rows, the best first.
type table[R any] struct {
	name    string
	columns []column[R]
	ways    []way[R]
	key     func(*R) string // what tells a row from all others
}

// column is one column of a table.
type column[R any] struct {
	name  string
	kind  Kind
	value func(*R) sqlite.Value
	must  bool // it is never NULL
	rich  bool // it shows what a lean read leaves out
}

// whole says that a column shows what a lean read leaves out.
func (c column[R]) whole() column[R] {
	c.rich = true
	return c
}

// timed are the two columns that show one time: in milliseconds, as document 002
// has it, and for people.
func timed[R any](name string, of func(*R) time.Time) []column[R] {
	return []column[R]{
		{name: name, kind: Integer, value: func(r *R) sqlite.Value { return millis(of(r)) }},
		{name: name + "_ts", kind: Timestamp, value: func(r *R) sqlite.Value { return stamp(of(r)) }},
	}
}

// way is one way to read the rows of a table.
type way[R any] struct {
	by    string   // the column whose value it must be given; empty: none
	span  string   // the column of which it can be given bounds; empty: none
	also  []string // the columns whose values it can use as well
	order []term   // in which order the rows come; the last is unique
	alone bool     // order stands for the first column only: what has one value there comes in any order
	count bool     // it yields rows of which nothing can be read
	rows  int64    // how many rows to expect
	read  func(q *query, w want) pages[R]
}

// term is one column of an order.
type term struct {
	column string
	desc   bool
}

// pages yields some rows at a time, and none when there are no more.
type pages[R any] func() ([]R, error)

// want is what a statement needs of a read.
type want struct {
	is   map[string]sqlite.Value // columns that have one value
	from sqlite.Value            // the least value of the span; NULL: there is none
	to   sqlite.Value            // the greatest
	most int                     // no more rows are needed; 0: nobody said
	lean bool                    // only columns that are not rich are looked at
}

// page is how many rows to ask a store for: what is needed, or first a few, and
// then more each time.
func (w want) page() func() int {
	next := pageFirst
	if w.most > 0 {
		next = min(w.most, pageMost)
	}
	return func() int {
		now := next
		next = min(next*pageGrowth, pageMost)
		return now
	}
}

const (
	pageFirst  = 64
	pageGrowth = 4
	pageMost   = 1000
)

// declaration is what SQLite is told of a table.
func (t *table[R]) declaration() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE t (")
	for i, c := range t.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.name + " " + declared(c.kind))
		if collation(c.kind) != "BINARY" {
			b.WriteString(" COLLATE " + collation(c.kind))
		}
	}
	b.WriteString(")")
	return b.String()
}

// richMask has a bit for each column that a lean read cannot show. SQLite speaks of
// all columns from the 64th on by one bit.
func (t *table[R]) richMask() (mask uint64) {
	for i, c := range t.columns {
		if c.rich {
			mask |= 1 << min(i, 63)
		}
	}
	return mask
}

// module makes the table known to a connection, for whatever query that has.
func (t *table[R]) module(on *memoryDB) *sqlite.Module {
	return &sqlite.Module{
		UseConnectAsCreate: true,
		Connect: func(*sqlite.Conn, *sqlite.VTableConnectOptions) (sqlite.VTable, *sqlite.VTableConfig, error) {
			return &virtual[R]{table: t, db: on, rich: t.richMask()}, &sqlite.VTableConfig{Declaration: t.declaration()}, nil
		},
	}
}

// virtual is a table on one connection.
type virtual[R any] struct {
	*table[R]
	db   *memoryDB
	rich uint64
}

// Open begins a walk through the table.
func (v *virtual[R]) Open() (sqlite.VTableCursor, error) { return &cursor[R]{virtual: v}, nil }

// Disconnect does nothing: a table holds nothing.
func (v *virtual[R]) Disconnect() error { return nil }

// Destroy does nothing.
func (v *virtual[R]) Destroy() error { return nil }
