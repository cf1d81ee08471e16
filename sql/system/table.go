package system

import (
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

// table is one table of the catalogue: its columns and access paths, the best first.
type table[R any] struct {
	name    string
	columns []column[R]
	paths   []accessPath[R]
	key     func(*R) string // identifies a row

	alwaysFull bool // the store has no lean read of the rows
}

// column is one column of a table.
type column[R any] struct {
	name    string
	kind    Kind
	value   func(*R) sqlite.Value
	notNull bool   // never NULL
	sortKey string // hidden column that is never NULL and has the same order with NULLs last; empty: none
	hidden  bool   // not listed
	fullRow bool   // shows a value that a lean read omits
	long    bool   // a text that may have more than 16 KiB; documents always may
}

// needsFullRow marks a column that shows a value a lean read omits.
func (c column[R]) needsFullRow() column[R] {
	c.fullRow = true
	return c
}

// timeColumns are the two columns that show one time: in milliseconds, as in document 002,
// and as a timestamp.
func timeColumns[R any](name string, of func(*R) time.Time) []column[R] {
	return []column[R]{
		{name: name, kind: Integer, value: func(r *R) sqlite.Value { return millis(of(r)) }},
		{name: name + "_ts", kind: Timestamp, value: func(r *R) sqlite.Value { return timestamp(of(r)) }},
	}
}

// accessPath is one way to read the rows of a table.
type accessPath[R any] struct {
	key            string      // column that must have one value; empty: none
	rangeColumn    string      // column that may have bounds; empty: none
	filters        []string    // columns that may have one value
	order          []orderTerm // order of the rows; the last column is unique
	orderFirstOnly bool        // only the first column is in order; rows with equal values there have any order
	countOnly      bool        // the rows have no values
	rows           int64       // estimated number of rows
	read           func(q *query, w readRequest) pages[R]
}

// orderTerm is one column of an order.
type orderTerm struct {
	column string
	desc   bool
}

// pages returns the next page of rows; an empty page is the end.
type pages[R any] func() ([]R, error)

// readRequest holds the conditions that a read can use.
type readRequest struct {
	equal map[string]sqlite.Value // columns that have one value
	from  sqlite.Value            // least value of the range column; NULL: none
	to    sqlite.Value            // greatest value of the range column; NULL: none
	limit int                     // number of rows needed; 0: all
	lean  bool                    // no column that needs the full row is used
}

// page returns a function for the size of each page, which gets the bytes of the documents in the page before: the limit,
// or a few rows first and more each time. Rows with documents have smaller pages, because each may have 1 MiB.
func (w readRequest) page() func(before int) int {
	next, most := pageFirst, pageMax
	if !w.lean {
		next, most = pageFirstFull, pageMaxFull
	}
	if w.limit > 0 {
		next = min(w.limit, most)
	}
	now := 0
	return func(before int) int {
		if now > 0 && before > 0 {
			next = min(next, max(1, now*pageBytes/before))
		}
		now = next
		next = min(next*pageGrowth, most)
		return now
	}
}

const (
	pageFirst     = 64
	pageGrowth    = 4
	pageMax       = 1000
	pageFirstFull = 16
	pageMaxFull   = 64
	pageBytes     = 4 << 20 // of the documents in a page; a single row may have more
)

// declaration returns the CREATE TABLE statement for SQLite.
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

// fullRowMask has a bit for each column that a lean read cannot show. SQLite has
// one bit for all columns from the 64th on.
func (t *table[R]) fullRowMask() (mask uint64) {
	for i, c := range t.columns {
		if c.fullRow {
			mask |= 1 << min(i, 63)
		}
	}
	return mask
}

// module returns the SQLite module of the table for a database.
func (t *table[R]) module(on *memoryDB) *sqlite.Module {
	return &sqlite.Module{
		UseConnectAsCreate: true,
		Connect: func(*sqlite.Conn, *sqlite.VTableConnectOptions) (sqlite.VTable, *sqlite.VTableConfig, error) {
			return &virtual[R]{table: t, db: on, fullRowColumns: t.fullRowMask()}, &sqlite.VTableConfig{Declaration: t.declaration()}, nil
		},
	}
}

// virtual is a table on one connection.
type virtual[R any] struct {
	*table[R]
	db             *memoryDB
	fullRowColumns uint64
}

// Open begins a scan of the table.
func (v *virtual[R]) Open() (sqlite.VTableCursor, error) { return &cursor[R]{virtual: v}, nil }

// Disconnect does nothing: a table holds nothing.
func (v *virtual[R]) Disconnect() error { return nil }

// Destroy does nothing.
func (v *virtual[R]) Destroy() error { return nil }
