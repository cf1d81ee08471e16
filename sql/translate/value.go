package translate

import (
	"github.com/rotajobs/rota/sql/kind"
)

// value is a value of a query: its text for SQLite and what is known of it.
type value struct {
	sql       *sql
	kind      kind.Kind
	level     int // precedence of its text
	at        int
	text      *string           // an untyped string literal
	null      bool              // the literal NULL
	param     int               // number of a parameter without a kind
	bound     bool              // a parameter
	elems     []value           // elements of ARRAY[…] or (a, b)
	row       bool              // a row (a, b)
	plain     bool              // a number literal other than zero
	real      bool              // a number literal with a decimal point
	ungrouped []ungroupedColumn // columns outside of aggregates
	set       *setFunction      // a set-returning function
	key       bool              // a text of letters, digits and underscores
	over      bool              // contains a window function
	joins     bool              // texts joined with ||
	of        *source           // the source whose whole row it is
	from      Origin            // the unchanged table column
	notNull   bool              // never NULL
	order     *sql              // sort key of the unchanged table column
}

// Precedence levels of texts.
const (
	asOr = iota
	asAnd
	asNot
	asComparison
	asTerm
	atom
)

// untyped reports whether the value can still become any kind.
func (v value) untyped() bool {
	return v.kind == kind.Unknown && (v.text != nil || v.null || v.param > 0)
}

// atLevel returns the text, in parentheses if its precedence is below level.
func (v value) atLevel(level int) *sql {
	if v.level < level {
		return cat("(", v.sql, ")")
	}
	return v.sql
}

// parenthesized returns the text as an operand of any operator.
func (v value) parenthesized() *sql { return v.atLevel(atom) }

// newValue creates a value that depends on other values.
func newValue(k kind.Kind, level int, text *sql, of ...value) value {
	v := value{sql: text, kind: k, level: level, at: -1}
	for _, o := range of {
		v.inherit(o)
	}
	return v
}

// inherit copies the properties of an operand that also apply to the result.
func (v *value) inherit(o value) {
	v.addUngrouped(o.ungrouped)
	v.over = v.over || o.over
	if v.at < 0 {
		v.at = o.at
	}
}

// addUngrouped adds ungrouped columns. One of each query is enough for an error message.
func (v *value) addUngrouped(more []ungroupedColumn) {
next:
	for _, l := range more {
		for _, have := range v.ungrouped {
			if have.scope == l.scope {
				continue next
			}
		}
		v.ungrouped = append(v.ungrouped[:len(v.ungrouped):len(v.ungrouped)], l)
	}
}

// placed returns the value with its position in the query.
func (v value) placed(at int) value {
	v.at = at
	return v
}

// call writes the call of an SQLite function.
func call(k kind.Kind, name string, args ...value) value {
	texts := make([]*sql, len(args))
	for i, a := range args {
		texts[i] = a.sql
	}
	return newValue(k, atom, cat(name, "(", list(texts), ")"), args...)
}

// constant creates a value from a text of this package.
func constant(k kind.Kind, text string) value {
	return value{sql: raw(text), kind: k, level: atom, at: -1}
}

func textConstant(text string) value { return constant(kind.Text, quoteText(text)) }

// Categories of kinds. Values are converted implicitly within a category.
const (
	categoryOther = iota
	categoryNumber
	categoryText
	categoryTime
	categoryOID
)

// categoryOf returns the category of a kind. Kinds of a category are converted implicitly.
func categoryOf(k kind.Kind) int {
	switch k {
	case kind.Int2, kind.Int4, kind.Integer, kind.Numeric, kind.Float4, kind.Float:
		return categoryNumber
	case kind.Text, kind.Varchar, kind.BPChar, kind.Name, kind.Char:
		return categoryText
	case kind.Date, kind.Local, kind.Timestamp:
		return categoryTime
	case kind.OID, kind.XID, kind.Regclass, kind.Regtype, kind.Regproc, kind.Regspace, kind.Regrole:
		return categoryOID
	}
	return categoryOther
}

// rank orders the kinds of a category: a kind of lower rank is converted to one of higher rank.
func rank(k kind.Kind) int {
	switch k {
	case kind.Int2, kind.Date:
		return 1
	case kind.Int4, kind.Local:
		return 2
	case kind.Integer, kind.Timestamp:
		return 3
	case kind.Numeric:
		return 4
	case kind.Float4:
		return 5
	case kind.Float:
		return 6
	case kind.Text, kind.OID:
		return 9
	}
	return 0
}

func isInteger(k kind.Kind) bool { return k == kind.Int2 || k == kind.Int4 || k == kind.Integer }

func isJSON(k kind.Kind) bool { return k == kind.JSON || k == kind.PlainJSON }

// commonKind returns the common kind of two values, if there is one. An unknown kind adapts to
// the other.
func commonKind(a, b kind.Kind) (kind.Kind, bool) {
	switch {
	case a == b || b == kind.Unknown:
		return a, true
	case a == kind.Unknown:
		return b, true
	}
	x, y := categoryOf(a), categoryOf(b)
	switch {
	case x == y && x != categoryOther:
		if x == categoryOID && a != b {
			return kind.OID, true
		}
		if x == categoryText { // each becomes the other, so that the first decides
			if a == kind.Char {
				return b, true
			}
			return a, true
		}
		if rank(a) >= rank(b) {
			return a, true
		}
		return b, true
	case x == categoryOID && isInteger(b):
		return a, true
	case y == categoryOID && isInteger(a):
		return b, true
	}
	if a.Elem() != kind.Unknown && b.Elem() != kind.Unknown {
		if elem, fit := commonKind(a.Elem(), b.Elem()); fit {
			return elem.Array(), true
		}
	}
	return kind.Unknown, false
}

// elemOf returns the element kind of an array, and Unknown for any other kind. The elements of an array of any kind
// are texts.
func elemOf(k kind.Kind) kind.Kind {
	if k == kind.AnyArray {
		return kind.Text
	}
	return k.Elem()
}

// oneDimension is the error of an array inside an array.
func oneDimension(at int) *Error {
	return unsupported(at, "arrays with several dimensions are not supported").WithHint("use jsonb")
}
