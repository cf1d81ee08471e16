// Package dialect says what a query means: which columns its names stand for, of
// which kind each value is, and how the same is asked of SQLite. It holds no data;
// what there is to ask for, a [Catalogue] says.
package dialect

import (
	"github.com/rotajobs/rota/console/kind"
)

// Catalogue is what the names of a query stand for.
type Catalogue interface {
	// Table finds a table. Without a schema it is looked for where the session looks.
	Table(schema, name string) (*Table, bool)
	// Functions finds the functions of a name that are known beyond those of this package.
	Functions(name string) []Signature
	// Tables are the names of all tables, for who asks for one that is not there.
	Tables() []string
	// Zones are the time zones of the session, by their names; empty: UTC. In the first are
	// the times that the query writes without one, by the clock of the second it looks at
	// times. They differ where the session has changed its zone since the query was prepared.
	Zones() (written, shown string)
}

// Table is one that can be read. SQLite knows it by the same names.
type Table struct {
	Schema, Name string
	OID          int64 // the tableoid of its rows; 0: they have none
	Columns      []Column
}

// Column is one of a table, or of an answer.
type Column struct {
	Name string
	Kind kind.Kind
	From Origin // of an answer
}

// Origin is the column of a table that a column of an answer shows as it is. Its zero
// value is none.
type Origin struct {
	Table  int64 // its OID
	Number int   // of the column, from 1
}

// Signature is what a function takes and gives.
type Signature struct {
	Name     string
	Args     []kind.Kind // kind.Unknown: anything
	Optional int         // how many of the last may be left out
	Variadic bool        // the last may come as often as one likes
	Returns  kind.Kind
	As       string   // what SQLite calls it; empty: the same
	Set      bool     // it yields rows: a JSON array, of Returns
	Fields   []Column // of the records that it yields; nil: they are read as one value
}
