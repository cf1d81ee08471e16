package dialect

import (
	"sort"
	"strings"
)

// Text is a query as SQLite is given it, and where its pieces came from.
type Text struct {
	SQL    string
	pieces []piece
}

type piece struct{ here, there int }

// Origin is where in the query as it was written something stands, given where it
// stands in the text for SQLite.
func (t *Text) Origin(at int) int {
	i := sort.Search(len(t.pieces), func(i int) bool { return t.pieces[i].here > at }) - 1
	if i < 0 {
		return 0
	}
	return t.pieces[i].there
}

// sql is a piece of text for SQLite, made of smaller ones. It is kept as a tree, so that
// putting two together costs nothing, however long they are. Two of one hash and size
// are the same text.
type sql struct {
	text   string
	kids   []*sql
	at     int  // position of the piece in the query, plus one; 0: none
	sorted bool // it is written only where orders say where NULLs go
	hash   uint64
	size   int
	refs   int // how many tables it reads, once common tables are put in place
}

// base is what the hash of a text is a polynomial of.
const base = 0x100000001b3

// raw is a text as it is.
func raw(text string) *sql {
	s := &sql{text: text, size: len(text)}
	for i := range len(text) {
		s.hash = s.hash*base + uint64(text[i]) + 1
	}
	return s
}

// cat puts texts, pieces and values together.
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

// add puts a piece behind.
func (s *sql) add(p *sql) {
	if p == nil || p.size == 0 && !p.sorted && len(p.kids) == 0 {
		return
	}
	s.kids = append(s.kids, p)
	s.hash = s.hash*power(p.size) + p.hash
	s.size = min(s.size+p.size, 2*sizeMax)
	s.refs = min(s.refs+p.refs, 2*refsMax)
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

// from says where in the query a piece stands.
func (s *sql) from(at int) *sql {
	return &sql{kids: []*sql{s}, at: at + 1, hash: s.hash, size: s.size, refs: s.refs}
}

// whenSorted is written only where orders say where NULLs go.
func whenSorted(text string) *sql { return &sql{text: text, sorted: true} }

// reading is a piece that reads so many tables.
func (s *sql) reading(refs int) *sql {
	after := *s
	after.refs = refs
	return &after
}

// list puts pieces together with commas.
func list(parts []*sql) *sql {
	s := &sql{kids: make([]*sql, 0, 2*len(parts))}
	for i, p := range parts {
		if i > 0 {
			s.add(comma)
		}
		s.add(p)
	}
	return s
}

var comma = raw(", ")

// same says whether two pieces are the same text.
func (s *sql) same(other *sql) bool { return s.hash == other.hash && s.size == other.size }

// sizeMax is how long a text may become, in bytes: as long as SQLite takes one.
const sizeMax = 1_000_000

// write is the whole text.
func (s *sql) write(sorted bool) (*Text, error) {
	if s.size > sizeMax {
		return nil, queryError(StateLimit, -1, "the translated query exceeds %d bytes", sizeMax).withHint("split it into smaller queries")
	}
	t, b := &Text{}, &strings.Builder{}
	s.writeTo(t, b, sorted, 0)
	t.SQL = b.String()
	return t, nil
}

func (s *sql) writeTo(t *Text, b *strings.Builder, sorted bool, at int) {
	if s.sorted && !sorted {
		return
	}
	if s.at > 0 {
		at = s.at
	}
	if s.text != "" {
		if n := len(t.pieces); at > 0 && (n == 0 || t.pieces[n-1].there != at-1) {
			t.pieces = append(t.pieces, piece{b.Len(), at - 1})
		}
		b.WriteString(s.text)
	}
	for _, k := range s.kids {
		k.writeTo(t, b, sorted, at)
	}
}

// quoted is a name as SQLite reads one.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteText is a text as SQLite reads one.
func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
