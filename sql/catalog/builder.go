package catalog

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/translate"
)

// builder fills the relations of a catalogue.
type builder struct {
	*Catalog
	tables      []*tableBuilder
	tableByName map[string]*tableBuilder // names are unique across both schemas
}

// tableBuilder collects the rows of one relation.
type tableBuilder struct {
	*spec
	at       map[string]int
	defaults []any // values of columns that are not set
	rows     [][]any
	spare    []any // preallocated values of further rows
}

// rowsPerAllocation is the maximum number of rows allocated at once.
const rowsPerAllocation = 64

// row appends a row of default values.
func (sh *tableBuilder) row() []any {
	n := len(sh.defaults)
	if len(sh.spare) < n {
		sh.spare = make([]any, n*min(rowsPerAllocation, 1+len(sh.rows)))
	}
	row := sh.spare[:n:n]
	sh.spare = sh.spare[n:]
	copy(row, sh.defaults)
	sh.rows = append(sh.rows, row)
	return row
}

func newBuilder(c *Catalog) *builder {
	b := &builder{Catalog: c, tableByName: map[string]*tableBuilder{}}
	for _, s := range specs() {
		sh := newTableBuilder(s)
		b.tables = append(b.tables, sh)
		b.tableByName[s.name] = sh
	}
	return b
}

func newTableBuilder(s *spec) *tableBuilder {
	sh := &tableBuilder{spec: s, at: map[string]int{}, defaults: make([]any, len(s.columns))}
	for i, c := range s.columns {
		sh.at[c.name] = i
		sh.defaults[i] = defaultValue(c)
	}
	return sh
}

// defaultValue is the value of a column that is not set.
func defaultValue(c specColumn) any {
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
	b.tableByName[relation].add(pairs)
}

func (sh *tableBuilder) add(pairs []any) { sh.set(sh.row(), pairs) }

// set sets some values of a row.
func (sh *tableBuilder) set(row, pairs []any) {
	for i := 0; i < len(pairs); i += 2 {
		at, known := sh.at[pairs[i].(string)]
		if !known {
			panic("pgcatalog: " + sh.name + " has no column " + pairs[i].(string))
		}
		row[at] = storedValue(pairs[i+1])
	}
}

// setDefaults sets the default values of a relation's columns.
func (b *builder) setDefaults(relation string, pairs ...any) {
	sh := b.tableByName[relation]
	sh.set(sh.defaults, pairs)
}

// storedValue converts a value to the form used in rows.
func storedValue(v any) any {
	switch v := v.(type) {
	case bool:
		return boolInt(v)
	case int:
		return int64(v)
	}
	return v
}

func boolInt(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// addLines adds a row for each line of text. The fields of a line are the values of the named
// columns; shared values are added to all rows. A single minus sign means the default.
func (b *builder) addLines(relation, columns, text string, shared ...any) {
	sh, names := b.tableByName[relation], strings.Fields(columns)
	kinds := make([]kind.Kind, len(names))
	for i, name := range names {
		kinds[i] = kindOf(sh.columns[sh.at[name]].typ)
	}
	for _, fields := range splitLines(text) {
		row := sh.row()
		sh.set(row, shared)
		for i, name := range names {
			if fields[i] != "-" || kinds[i] == kind.Name {
				row[sh.at[name]] = parseField(kinds[i], fields[i])
			}
		}
	}
}

// parseField parses one field of a line.
func parseField(k kind.Kind, field string) any {
	switch {
	case k == kind.Boolean:
		return boolInt(field == "t")
	case k.Number():
		return parseNumber(field)
	}
	return field
}

func (b *builder) relations() []Relation {
	all := make([]Relation, len(b.tables))
	for i, sh := range b.tables {
		columns := make([]translate.Column, len(sh.columns))
		for j, c := range sh.columns {
			columns[j] = translate.Column{Name: c.name, Kind: kindOf(c.typ)}
		}
		all[i] = Relation{Schema: sh.schema, Name: sh.name, OID: sh.oid, Columns: columns, Rows: sh.rows, Index: indexed[sh.name]}
	}
	return all
}

// indexed are the columns that tools join by. Relations with few rows need no index.
var indexed = map[string][]string{
	"pg_class":     {"oid", "relnamespace", "relname"},
	"pg_attribute": {"attrelid"},
	"pg_type":      {"oid", "typname", "typelem", "typarray", "typrelid"},
	"pg_proc":      {"oid", "proname"},
	"pg_operator":  {"oid", "oprname"},
	"columns":      {"table_name"},
	"tables":       {"table_name"},
}

// list formats an array in its stored form.
func list(items ...string) string {
	text, err := json.Marshal(append([]string{}, items...))
	if err != nil {
		panic("pgcatalog: " + err.Error()) // items are texts
	}
	return string(text)
}

// numbers formats an array of numbers in its stored form.
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
