package translate

import (
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// scope resolves the names of one SELECT or of a part of it.
type scope struct {
	outer   *scope
	names   []column  // columns that an unqualified name or * can mean
	sources []*source // sources that can qualify a name
	with    map[string]*commonTable
	sel     *selection // the SELECT of the scope; nil: part of no SELECT
}

// source is one item of FROM.
type source struct {
	name    string // name in the query
	schema  string // of a table
	oid     int64  // of a table; 0: no tableoid
	alias   string // name in the text
	columns []column
	single  bool // a function whose name can also mean its only column
}

// column is a column of a source or of an answer.
type column struct {
	name  string
	kind  kind.Kind
	sql   *sql
	alias string // name in the text, as a column of a subquery
	from  Origin
	set   *setFunction // whose records it contains

	notNull bool   // never NULL
	short   bool   // a column of a table whose values are short
	sortKey string // column of the text with the order of this one
}

// ungroupedColumn is a column that is not an argument of an aggregate.
type ungroupedColumn struct {
	scope *selection
	name  string
	at    int
}

// inner returns a scope whose names hide those of s.
func (s *scope) inner() *scope { return &scope{outer: s} }

// commonTable finds a common table by name.
func (s *scope) commonTable(name string) *commonTable {
	for ; s != nil; s = s.outer {
		if c := s.with[name]; c != nil {
			return c
		}
	}
	return nil
}

// selection returns the SELECT that the scope belongs to.
func (s *scope) selection() *selection {
	for ; s != nil; s = s.outer {
		if s.sel != nil {
			return s.sel
		}
	}
	return nil
}

// column resolves a column reference.
func (t *translator) column(c *query.Column, s *scope) value {
	last := c.Path[len(c.Path)-1]
	for at := s; at != nil; at = at.outer {
		if v, found := at.find(c); found {
			return v
		}
	}
	if len(c.Path) == 1 {
		if v := t.wholeRow(c, s); v.of != nil {
			return v
		}
	}
	panic(s.unknownColumn(c, last))
}

// find looks up a column in this scope only.
func (s *scope) find(c *query.Column) (v value, found bool) {
	last := c.Path[len(c.Path)-1]
	if len(c.Path) == 1 {
		if v, found = s.pickColumn(s.names, last.Text, last.Text, c.Place()); found {
			return v, found
		}
		return s.pickColumn(hiddenColumns(s.sources), last.Text, last.Text, c.Place())
	}
	from := s.source(c.Path[:len(c.Path)-1], c.Place())
	if from == nil {
		return value{}, false
	}
	if v, found = s.pickColumn(from.columns, last.Text, pathText(c.Path), c.Place()); !found {
		v, found = s.pickColumn(hiddenColumns([]*source{from}), last.Text, pathText(c.Path), c.Place())
	}
	if !found {
		panic(queryError(StateColumn, last.At, "column %s does not exist", pathText(c.Path)).
			WithHint("%s", suggestion(last.Text, "the columns of "+from.name+" are", columnNames(from.columns))))
	}
	return v, true
}

// hiddenColumns are the columns tableoid and xmin of the tables, which * does not include. pgAdmin reads xmin, the
// transaction that wrote a row; that of all rows is the one that creates a database.
func hiddenColumns(sources []*source) (columns []column) {
	for _, from := range sources {
		if from.oid == 0 {
			continue
		}
		hidden := func(name string, k kind.Kind, attribute int, value int64) column {
			text := cat("(CASE WHEN ", quoted(from.alias), ".rowid IS NOT NULL THEN ", number(int(value)), " END)")
			return column{name: name, kind: k, sql: text, from: Origin{from.oid, attribute}}
		}
		columns = append(columns, hidden("tableoid", kind.OID, -6, from.oid), hidden("xmin", kind.XID, -2, 1))
	}
	return columns
}

func (s *scope) pickColumn(among []column, name, written string, at int) (v value, found bool) {
	for _, c := range among {
		if c.name != name {
			continue
		}
		if found {
			panic(queryError(StateAmbiguous, at, "column reference %q is ambiguous", written).WithHint("qualify it with a table name: %s", s.qualifiedNames(name)))
		}
		v, found = s.value(c, at), true
	}
	return v, found
}

func (s *scope) value(c column, at int) value {
	v := value{sql: c.sql, kind: c.kind, level: atom, at: at, from: c.from, set: c.set, notNull: c.notNull}
	if c.sortKey != "" {
		v.order = raw(c.sortKey)
	}
	if s.sel != nil {
		v.ungrouped = []ungroupedColumn{{s.sel, c.name, at}}
	}
	return v
}

// qualifiedNames lists the qualified names of an ambiguous column.
func (s *scope) qualifiedNames(name string) string {
	var ways []string
	for _, from := range s.sources {
		for _, c := range from.columns {
			if c.name == name {
				ways = append(ways, from.name+"."+name)
				break
			}
		}
	}
	return strings.Join(ways, " or ")
}

// source finds the source that a path names.
func (s *scope) source(path []query.Name, at int) (found *source) {
	name, schema := path[len(path)-1].Text, ""
	if len(path) > 1 {
		schema = path[len(path)-2].Text
	}
	for _, from := range s.sources {
		if from.name != name || schema != "" && from.schema != schema {
			continue
		}
		if found != nil {
			panic(queryError(StateAmbiguous, at, "table reference %q is ambiguous", pathText(path)).WithHint("give the tables other names with AS"))
		}
		found = from
	}
	return found
}

// lookup finds a source in this scope or in an outer one.
func (s *scope) lookup(path []query.Name, at int) (*scope, *source) {
	for ; s != nil; s = s.outer {
		if from := s.source(path, at); from != nil {
			return s, from
		}
	}
	return nil, nil
}

// unknownColumn is the error of a column that does not exist.
func (s *scope) unknownColumn(c *query.Column, last query.Name) *Error {
	if len(c.Path) > 1 {
		path := c.Path[:len(c.Path)-1]
		return queryError(StateTable, c.Place(), "missing FROM-clause entry for table %q", pathText(path)).
			WithHint("%s", suggestion(pathText(path), "FROM contains", s.sourceNames()))
	}
	var names []string
	seen := map[string]bool{}
	for at := s; at != nil; at = at.outer {
		for _, n := range columnNames(at.names) {
			if !seen[n] {
				seen[n] = true
				names = append(names, n)
			}
		}
	}
	e := queryError(StateColumn, c.Place(), "column %q does not exist", last.Text)
	if last.Quoted && len(names) == 0 {
		return e.WithHint("write a string in single quotes: '%s'", last.Text)
	}
	return e.WithHint("%s", suggestion(last.Text, "the columns are", names))
}

// sourceNames returns the names of the sources.
func (s *scope) sourceNames() (names []string) {
	for ; s != nil; s = s.outer {
		for _, from := range s.sources {
			names = append(names, from.name)
		}
	}
	return names
}

func columnNames(columns []column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// pathText is a name as the query contains it.
func pathText(path []query.Name) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = p.Text
	}
	return strings.Join(parts, ".")
}

// wholeRow translates the name of a source as a value: the value of a function, or all columns
// as one record.
func (t *translator) wholeRow(c *query.Column, s *scope) value {
	at, from := s.lookup(c.Path, c.Place())
	if from == nil {
		return value{}
	}
	if from.single {
		v := at.value(from.columns[0], c.Place())
		v.of = from
		return v
	}
	checkArgs(2*len(from.columns), "the record", c.Place())
	parts := make([]*sql, 0, 2*len(from.columns))
	for _, col := range from.columns {
		parts = append(parts, raw(quoteText(col.name)), t.inJSON(at.value(col, c.Place())).sql)
	}
	v := newValue(kind.Record, atom, cat("json_object(", list(parts), ")"))
	v.of = from
	if at.sel != nil {
		v.ungrouped = []ungroupedColumn{{at.sel, from.name, c.Place()}}
	}
	return v.placed(c.Place())
}
