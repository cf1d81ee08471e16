package dialect

import (
	"github.com/rotajobs/rota/console/kind"
)

// value is one of a query, as text for SQLite, and what it is.
type value struct {
	sql       *sql
	kind      kind.Kind
	level     int // how strongly its text holds together
	at        int
	text      *string           // it is written as this text, and may become of any kind
	null      bool              // it is NULL
	param     int               // it is this parameter, of which nothing is known yet
	bound     bool              // it is a parameter
	elems     []value           // of ARRAY[…] and of (a, b)
	row       bool              // it is (a, b)
	plain     bool              // it is a number as it was written, and not zero
	real      bool              // it is a number with a point
	ungrouped []ungroupedColumn // columns that no aggregate stands around
	set       *setFunction      // it yields rows
	key       bool              // it is a text of letters, digits and underscores
	over      bool              // a window function stands in it
	joins     bool              // it is texts with || between them
	of        *source           // it is a whole row of this
	from      Origin            // it is a column as it stands in a table
}

// The levels of texts.
const (
	asOr = iota
	asAnd
	asNot
	asComparison
	asTerm
	atom
)

// untyped says whether a value may still become of any kind.
func (v value) untyped() bool {
	return v.kind == kind.Unknown && (v.text != nil || v.null || v.param > 0)
}

// atLevel is a value's text as part of something that holds together as level does.
func (v value) atLevel(level int) *sql {
	if v.level < level {
		return cat("(", v.sql, ")")
	}
	return v.sql
}

// parenthesized is a value's text as it may stand beside any operator.
func (v value) parenthesized() *sql { return v.atLevel(atom) }

// newValue is a value that is made of others.
func newValue(k kind.Kind, level int, text *sql, of ...value) value {
	v := value{sql: text, kind: k, level: level, at: -1}
	for _, o := range of {
		v.inherit(o)
	}
	return v
}

// inherit notes what of another value stays true of one that it is part of.
func (v *value) inherit(o value) {
	v.addUngrouped(o.ungrouped)
	v.over = v.over || o.over
	if v.at < 0 {
		v.at = o.at
	}
}

// addUngrouped adds to the columns that no aggregate stands around; one of each query is
// enough to say which it was.
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

// placed is the value with its place in the query.
func (v value) placed(at int) value {
	v.at = at
	if v.sql != nil {
		v.sql = v.sql.from(at)
	}
	return v
}

// call is a function of SQLite with what it is given.
func call(k kind.Kind, name string, args ...value) value {
	texts := make([]*sql, len(args))
	for i, a := range args {
		texts[i] = a.sql
	}
	return newValue(k, atom, cat(name, "(", list(texts), ")"), args...)
}

// constant is a value of our own.
func constant(k kind.Kind, text string) value {
	return value{sql: raw(text), kind: k, level: atom, at: -1}
}

func textConstant(text string) value { return constant(kind.Text, quoteText(text)) }

// The sorts of kinds, among which values are converted without being asked to.
const (
	categoryOther = iota
	categoryNumber
	categoryText
	categoryTime
	categoryOID
)

// categoryOf is the sort of a kind.
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

// rank orders the kinds of a sort: one of a lower rank becomes one of a higher by
// itself.
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

// commonKind is the kind that two values share, if there is one. Which of them may be
// unknown, the other decides.
func commonKind(a, b kind.Kind) (kind.Kind, bool) {
	switch {
	case a == b || b == kind.Unknown:
		return a, true
	case a == kind.Unknown:
		return b, true
	case a == dynamic || b == dynamic:
		return dynamic, true
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
