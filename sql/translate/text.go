package translate

import (
	"strings"
)

// sql is a piece of text for SQLite. It is a tree, so that concatenation costs little for long
// texts. Two pieces with the same hash and size have the same text.
type sql struct {
	text string
	kids []*sql
	hash uint64
	size int
	refs int // tables that it reads after common tables are expanded

	values int // values that SQLite may hold for it at the same time, at most
}

// base is the base of the polynomial hash.
const base = 0x100000001b3

// raw creates a piece from a text.
func raw(text string) *sql {
	s := &sql{text: text, size: len(text), values: countValues(text)}
	for i := range len(text) {
		s.hash = s.hash*base + uint64(text[i]) + 1
	}
	return s
}

// cat concatenates texts, pieces and values.
func cat(parts ...any) *sql {
	s := &sql{kids: make([]*sql, 0, len(parts))}
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			s.add(raw(p))
		case *sql:
			s.add(p)
		case value:
			s.add(p.sql)
		}
	}
	return s
}

// add appends a piece.
func (s *sql) add(p *sql) {
	if p == nil || p.size == 0 && len(p.kids) == 0 {
		return
	}
	s.kids = append(s.kids, p)
	s.hash = s.hash*power(p.size) + p.hash
	s.size = min(s.size+p.size, 2*sizeMax)
	s.refs = min(s.refs+p.refs, 2*refsMax)
	s.values = min(s.values+p.values, 2*sizeMax)
}

// countValues counts the calls, operators that build texts, and columns in a text for SQLite: SQLite may hold the result
// of each at the same time, since it computes constant ones before the first row. Literals are bounded by the text.
func countValues(text string) (n int) {
	for _, mark := range []string{"(", "||", "->", `."`} {
		n += strings.Count(text, mark)
	}
	return n
}

// short marks a column of a table whose values are short: they do not count.
func (s *sql) short() *sql {
	after := *s
	after.values = 0
	return &after
}

// power is base to the n.
func power(n int) uint64 {
	result, factor := uint64(1), uint64(base)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result *= factor
		}
		factor *= factor
	}
	return result
}

// reading sets the number of tables that a piece reads.
func (s *sql) reading(refs int) *sql {
	after := *s
	after.refs = refs
	return &after
}

// list joins pieces with commas.
func list(parts []*sql) *sql { return join(parts, ", ") }

// join joins pieces with a text between them.
func join(parts []*sql, between string) *sql {
	s, separator := &sql{kids: make([]*sql, 0, 2*len(parts))}, raw(between)
	for i, p := range parts {
		if i > 0 {
			s.add(separator)
		}
		s.add(p)
	}
	return s
}

var comma = raw(", ")

// same reports whether two pieces have the same text.
func (s *sql) same(other *sql) bool { return s.hash == other.hash && s.size == other.size }

// sizeMax limits the text in bytes; it is SQLite's limit.
const sizeMax = 1_000_000

// write returns the complete text.
func (s *sql) write() string {
	if s.size > sizeMax {
		panic(queryError(StateLimit, -1, "the translated query exceeds %d bytes", sizeMax).WithHint("split it into smaller queries"))
	}
	var b strings.Builder
	s.writeTo(&b)
	return b.String()
}

func (s *sql) writeTo(b *strings.Builder) {
	b.WriteString(s.text)
	for _, k := range s.kids {
		k.writeTo(b)
	}
}

// quoted quotes a name for SQLite.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteText quotes a text for SQLite.
func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
