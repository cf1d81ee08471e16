package query

// Query is a whole query: its common table expressions, body, order and limits.
type Query struct {
	At        int
	With      []*Common
	Recursive bool
	Body      Body
	Order     []*Term
	Limit     Expr // nil: all
	Offset    Expr // nil: none are skipped
	Params    int  // of a whole text: the highest parameter
}

// Common is a common table expression.
type Common struct {
	Name    Name
	Columns []Name
	Query   *Query
}

// Body is where the rows of a query come from: *Select, *Values, *Compound or
// *Query in parentheses.
type Body interface{ body() }

// Select is one SELECT.
type Select struct {
	At       int
	Distinct bool
	On       []Expr // DISTINCT ON
	Items    []*Item
	From     []Source
	Where    Expr
	Group    []Expr
	Having   Expr
	Windows  []*Window // those with names
}

// Item is one item of the select list.
type Item struct {
	Expr  Expr
	Alias *Name
}

// Values are rows that are written out.
type Values struct {
	At   int
	Rows [][]Expr
}

// Compound is two bodies combined by UNION, INTERSECT or EXCEPT.
type Compound struct {
	At          int
	Op          string // UNION, INTERSECT, EXCEPT
	All         bool
	Left, Right Body
}

func (*Select) body()   {}
func (*Values) body()   {}
func (*Compound) body() {}
func (*Query) body()    {}

// Source is a source of FROM: *Table, *Derived, *FuncSource or *Join.
type Source interface{ source() }

// Alias is what a source is called in the statement.
type Alias struct {
	Name    *Name // nil: its own name
	Columns []Name
}

// Table is a named table.
type Table struct {
	At    int
	Path  []Name
	Alias Alias
}

// Derived is a query in parentheses.
type Derived struct {
	At      int
	Lateral bool
	Query   *Query
	Alias   Alias
}

// FuncSource is a function that yields rows.
type FuncSource struct {
	At         int
	Lateral    bool
	Call       *Call
	Ordinality bool // WITH ORDINALITY
	Alias      Alias
}

// Join is two joined sources.
type Join struct {
	At          int
	Kind        string // INNER, LEFT, RIGHT, FULL, CROSS
	Natural     bool
	Left, Right Source
	On          Expr
	Using       []Name
}

func (*Table) source()      {}
func (*Derived) source()    {}
func (*FuncSource) source() {}
func (*Join) source()       {}

// Term is one expression of ORDER BY.
type Term struct {
	Expr  Expr
	Desc  bool
	Nulls string // FIRST, LAST; empty: the default of PostgreSQL
}

// Window is a window definition.
type Window struct {
	At        int
	Name      *Name // of the WINDOW clause; nil: none
	Partition []Expr
	Order     []*Term
	Frame     string // as it was written, in capitals; empty: none
}

// Name is a name: in small letters, unless it was quoted.
type Name struct {
	Text   string
	Quoted bool
	At     int
}
