// Package translate translates queries of the PostgreSQL dialect to SQLite. It resolves the names
// of a query, determines the kind of each value, and writes the text for SQLite. The functions of
// queries are listed in data/functions.txt; a [Catalogue] describes the tables and further functions.
// Start reading at translate.go.
package translate

import (
	"github.com/rotajobs/rota/sql/kind"
)

// Catalogue resolves the names of a query.
type Catalogue interface {
	// Table finds a table. An empty schema means the search path of the session.
	Table(schema, name string) (*Table, bool)
	// Functions returns the functions of that name in addition to those of this package.
	Functions(name string) []Signature
	// Tables returns the names of all tables, for suggestions.
	Tables() []string
	// Zones returns the names of the session's time zones; empty: UTC. Time literals without a
	// zone are in written; values are shown in shown. The two differ if the session has changed
	// its zone since the query was prepared.
	Zones() (written, shown string)
}

// Table is a table that can be read. SQLite uses the same names.
type Table struct {
	Schema, Name string
	OID          int64 // the tableoid of its rows; 0: they have none
	Columns      []Column
}

// Column is a column of a table or of an answer.
type Column struct {
	Name    string
	Kind    kind.Kind
	From    Origin // of an answer
	NotNull bool   // of a table: never NULL
	Long    bool   // of a table: its values may have more than 16 KiB
	SortKey string // of a table: a column that is not listed, is never NULL and has the order of this one with NULLs last
}

// Origin is the table column that a column of an answer shows unchanged. The zero value means
// none.
type Origin struct {
	Table  int64 // its OID
	Number int   // of the column, from 1
}

// Signature is the signature of a function.
type Signature struct {
	Name     string
	Args     []kind.Kind // kind.Unknown: anything
	Optional int         // number of optional arguments at the end
	Variadic bool        // the last argument can be repeated
	Returns  kind.Kind
	As       string   // name in SQLite; empty: the same
	Set      bool     // returns rows: a JSON array of Returns
	Fields   []Column // columns of the returned records; nil: single values
}
