package translate

import (
	"errors"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// Statement is a translated query.
type Statement struct {
	Text         string      // the query for SQLite
	Columns      []Column    // columns of the answer
	Params       []kind.Kind // kinds of the parameters
	CommonTables []string    // names of the common tables in the text
	Values       int         // values of any length that the query may hold at the same time, at most
}

// Translate translates a query. params are the parameter kinds that the caller knows;
// kind.Unknown means that Translate determines them.
func Translate(q *query.Query, in Catalogue, params []kind.Kind) (s *Statement, err error) {
	t := &translator{in: in, at: -1, params: append([]kind.Kind{}, params...), taken: map[string]bool{}}
	written, shown := in.Zones()
	t.writtenZone, t.shownZone = zoneWord(written), zoneWord(shown)
	defer func() {
		var e *Error
		if errors.As(err, &e) && e.Offset < 0 {
			e.Offset = t.at
		}
	}()
	defer catch(&err)
	b := t.resolveBlock(t.query(q, nil))
	text := b.write(false)
	t.checkRefs(text)
	s = &Statement{Text: text.write(), CommonTables: t.commonTables, Columns: outputColumns(b.columns), Params: t.params, Values: 1 + text.values}
	for i, k := range s.Params {
		s.Params[i] = outputKind(k)
	}
	return s, nil
}

// outputColumns returns the columns of the answer.
func outputColumns(columns []column) []Column {
	list := make([]Column, len(columns))
	for i, c := range columns {
		list[i] = Column{Name: c.name, Kind: outputKind(c.kind), From: c.from}
	}
	return list
}

// outputKind is the kind that is reported to callers.
func outputKind(k kind.Kind) kind.Kind {
	if k == kind.Unknown {
		return kind.Text
	}
	return k
}

// translator translates one query.
type translator struct {
	in           Catalogue
	params       []kind.Kind
	taken        map[string]bool // names used in the text, in lower case
	commonTables []string
	depth        int
	at           int // place of the current expression, for errors that have none
	columns      int
	writtenZone  string // zone of time literals; empty: UTC
	shownZone    string // zone in which times are shown; empty: UTC
}

// Limits of a query.
const (
	depthMax   = 1000
	columnsMax = 2000
	paramsMax  = 10_000
)

// enter counts the nesting depth of the query.
func (t *translator) enter(at int) {
	if t.depth++; t.depth > depthMax {
		panic(queryError(StateLimit, at, "the query is nested deeper than %d levels", depthMax).WithHint("use a common table expression or an IN list"))
	}
}

func (t *translator) leave() { t.depth-- }

// alias returns a name that is unique in the text. SQLite ignores the case of names, and an
// inner name must not hide an outer one.
func (t *translator) alias(name string) string {
	if name == "" || strings.ContainsRune(name, 0) {
		name = "_"
	}
	if t.reserved(strings.ToLower(name)) {
		name = "_" + name
	}
	for n, tried := 1, name; ; n++ {
		low := strings.ToLower(tried)
		if !t.taken[low] && !t.reserved(low) {
			t.taken[low] = true
			return tried
		}
		tried = name + "_" + strconv.Itoa(n+1)
	}
}

// reserved reports whether SQLite or this package uses the name.
func (t *translator) reserved(name string) bool {
	return strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "pragma_") || strings.HasPrefix(name, "rota_")
}

// param translates a parameter, with the kind that is known so far.
func (t *translator) param(p *query.Param) value {
	if p.N < 1 || p.N > paramsMax {
		panic(queryError(StateParameter, p.Place(), "there is no parameter $%d", p.N).WithHint("use $1 to $%d", paramsMax))
	}
	for len(t.params) < p.N {
		t.params = append(t.params, kind.Unknown)
	}
	v := value{sql: raw("?" + strconv.Itoa(p.N)), kind: t.params[p.N-1], level: atom, at: p.Place(), bound: true}
	if v.kind == kind.Unknown {
		v.param = p.N
	}
	return v
}
