package pgcatalog

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/console/dialect"
	"github.com/rotajobs/rota/console/kind"
)

// builder fills the relations of a catalogue.
type builder struct {
	*Catalog
	sheets []*sheet
	named  map[string]*sheet // no name stands in both schemas
}

// sheet is one relation while it is filled.
type sheet struct {
	*spec
	at    map[string]int
	blank []any // what a row has where nothing is said
	rows  [][]any
	room  []any // for the values of more rows
}

// slab is for how many rows room is made at most at a time.
const slab = 64

// row is a new one, as blank as can be.
func (sh *sheet) row() []any {
	n := len(sh.blank)
	if len(sh.room) < n {
		sh.room = make([]any, n*min(slab, 1+len(sh.rows)))
	}
	row := sh.room[:n:n]
	sh.room = sh.room[n:]
	copy(row, sh.blank)
	sh.rows = append(sh.rows, row)
	return row
}

func newBuilder(c *Catalog) *builder {
	b := &builder{Catalog: c, named: map[string]*sheet{}}
	for _, s := range specs() {
		sh := newSheet(s)
		b.sheets = append(b.sheets, sh)
		b.named[s.name] = sh
	}
	return b
}

func newSheet(s *spec) *sheet {
	sh := &sheet{spec: s, at: map[string]int{}, blank: make([]any, len(s.columns))}
	for i, c := range s.columns {
		sh.at[c.name] = i
		sh.blank[i] = blank(c)
	}
	return sh
}

// blank is what a column has where nothing is said.
func blank(c specColumn) any {
	k := kindOf(c.typ)
	switch {
	case !c.must:
		return nil
	case k.Number():
		return int64(0)
	case k.Elem() != "":
		return "[]"
	}
	return ""
}

// add adds a row to a relation, given as names of columns and their values.
func (b *builder) add(relation string, pairs ...any) {
	b.named[relation].add(pairs)
}

func (sh *sheet) add(pairs []any) { sh.set(sh.row(), pairs) }

// set sets some values of a row.
func (sh *sheet) set(row, pairs []any) {
	for i := 0; i < len(pairs); i += 2 {
		at, known := sh.at[pairs[i].(string)]
		if !known {
			panic("pgcatalog: " + sh.name + " has no column " + pairs[i].(string))
		}
		row[at] = plain(pairs[i+1])
	}
}

// assume says what rows of a relation have where nothing else is said of them.
func (b *builder) assume(relation string, pairs ...any) {
	sh := b.named[relation]
	sh.set(sh.blank, pairs)
}

// plain is a value as rows hold it.
func plain(v any) any {
	switch v := v.(type) {
	case bool:
		return truth(v)
	case int:
		return int64(v)
	}
	return v
}

func truth(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// addFacts adds a row for each line of facts, whose fields are for the columns named,
// with more columns that all of them share. A minus sign alone is nothing said.
func (b *builder) addFacts(relation, columns, text string, shared ...any) {
	sh, names := b.named[relation], strings.Fields(columns)
	kinds := make([]kind.Kind, len(names))
	for i, name := range names {
		kinds[i] = kindOf(sh.columns[sh.at[name]].typ)
	}
	for _, fields := range facts(text) {
		row := sh.row()
		sh.set(row, shared)
		for i, name := range names {
			if fields[i] != "-" || kinds[i] == kind.Name {
				row[sh.at[name]] = read(kinds[i], fields[i])
			}
		}
	}
}

// read reads a field of the facts.
func read(k kind.Kind, field string) any {
	switch {
	case k == kind.Boolean:
		return truth(field == "t")
	case k.Number():
		return number(field)
	}
	return field
}

func (b *builder) relations() []Relation {
	all := make([]Relation, len(b.sheets))
	for i, sh := range b.sheets {
		columns := make([]dialect.Column, len(sh.columns))
		for j, c := range sh.columns {
			columns[j] = dialect.Column{Name: c.name, Kind: kindOf(c.typ)}
		}
		all[i] = Relation{Schema: sh.schema, Name: sh.name, OID: sh.oid, Columns: columns, Rows: sh.rows, Index: indexed[sh.name]}
	}
	return all
}

// indexed are the columns that queries of tools join by. What has few rows needs no
// index.
var indexed = map[string][]string{
	"pg_class":     {"oid", "relnamespace", "relname"},
	"pg_attribute": {"attrelid"},
	"pg_type":      {"oid", "typname", "typelem", "typarray", "typrelid"},
	"pg_proc":      {"oid", "proname"},
	"pg_operator":  {"oid", "oprname"},
	"columns":      {"table_name"},
	"tables":       {"table_name"},
}

// list is an array as rows hold it.
func list(items ...string) string {
	text, err := json.Marshal(append([]string{}, items...))
	if err != nil {
		panic("pgcatalog: " + err.Error()) // items are texts
	}
	return string(text)
}

// numbers is an array of numbers as rows hold it.
func numbers(items ...int64) string {
	text := []byte{'['}
	for i, item := range items {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, item, 10)
	}
	return string(append(text, ']'))
}
