package query

// Expr is an expression. Place returns its position in the text, in bytes.
type Expr interface{ Place() int }

// At is the position of an expression in the text, in bytes.
type At int

// Place returns the position.
func (a At) Place() int { return int(a) }

type (
	// Number is a number as it was written.
	Number struct {
		At
		Text string
	}
	// String is a text, or something else that is written as one.
	String struct {
		At
		Value string
	}
	// Bool is TRUE or FALSE.
	Bool struct {
		At
		Value bool
	}
	// Null is NULL.
	Null struct{ At }
	// Param is $1, or the next ?.
	Param struct {
		At
		N int // from 1
	}
	// Column is a column, or anything else that is just a name.
	Column struct {
		At
		Path []Name
	}
	// Star is all columns, or all of one source, or all fields of a value.
	Star struct {
		At
		Path []Name
		Of   Expr // (x).*
	}
	// Call is a function with what it is given. Words of SQL that call one without
	// parentheses, such as CURRENT_USER, are calls, too.
	Call struct {
		At
		Path     []Name
		Args     []Expr
		Names    []Name // of the arguments, where they are named; else nil
		Star     bool   // count(*)
		Distinct bool
		Order    []*Term
		Filter   Expr
		Within   []*Term // WITHIN GROUP (ORDER BY …)
		Over     *Window // one with a Name only is OVER name
	}
	// Unary is a sign, or NOT, before a value.
	Unary struct {
		At
		Op string // + - NOT, or another operator, which the translator refuses
		X  Expr
	}
	// Binary is an operator between two values: AND, OR, or what signs say. OPERATOR(…)
	// is the sign that it names, and != is <>.
	Binary struct {
		At
		Op   string
		OpAt int
		X, Y Expr
	}
	// Like is LIKE or ILIKE.
	Like struct {
		At
		X, Pattern Expr
		Escape     Expr
		Not        bool
		How        string // LIKE, ILIKE
	}
	// Is is IS NULL, IS TRUE, IS DISTINCT FROM and so on.
	Is struct {
		At
		X    Expr
		Not  bool
		What string // NULL, TRUE, FALSE, UNKNOWN, DISTINCT (FROM Y)
		Y    Expr
	}
	// In is IN, with a list or a query.
	In struct {
		At
		X     Expr
		Not   bool
		List  []Expr
		Query *Query
	}
	// Between is BETWEEN.
	Between struct {
		At
		X, Low, High Expr
		Not          bool
	}
	// Quantified is = ANY (…), <> ALL (…), of an array or a query.
	Quantified struct {
		At
		X     Expr
		Op    string // an operator, or LIKE, ILIKE, NOT LIKE, NOT ILIKE
		All   bool
		Array Expr
		Query *Query
	}
	// Exists is EXISTS.
	Exists struct {
		At
		Query *Query
	}
	// Scalar is a scalar subquery.
	Scalar struct {
		At
		Query *Query
	}
	// Array is ARRAY[…] or ARRAY(query).
	Array struct {
		At
		Elems []Expr
		Query *Query
	}
	// Row is (a, b) or ROW(a).
	Row struct {
		At
		Elems []Expr
	}
	// Case is CASE.
	Case struct {
		At
		Of    Expr
		Whens []When
		Else  Expr
	}
	// When is one WHEN of a CASE.
	When struct{ If, Then Expr }
	// Cast is x::type, CAST(x AS type), or type 'text'.
	Cast struct {
		At
		X    Expr
		Type *Type
	}
	// Collate is COLLATE.
	Collate struct {
		At
		X    Expr
		Path []Name
	}
	// Zone is AT TIME ZONE.
	Zone struct {
		At
		X, Zone Expr
	}
	// Extract is EXTRACT(field FROM x).
	Extract struct {
		At
		Field string // in small letters
		X     Expr
	}
	// Index is x[i].
	Index struct {
		At
		X, I Expr
	}
	// Field is (x).name.
	Field struct {
		At
		X    Expr
		Name Name
	}
)

// Type is the name of a type, as it was written.
type Type struct {
	At     int
	Schema string // pg_catalog, or nothing
	Name   string // in small letters, words separated by one blank: double precision
	Quoted bool   // "char" is another than char
	Mods   []string
	Array  int    // how many times []
	Field  string // of an interval: day
}
