package catalog

import (
	"encoding/json"
	"slices"
	"strconv"

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
	*class
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

// newBuilder returns a builder of some relations, of all if none is named.
func newBuilder(c *Catalog, relations ...string) *builder {
	b := &builder{Catalog: c, tableByName: map[string]*tableBuilder{}}
	for _, of := range systemClasses() {
		if len(relations) > 0 && !slices.Contains(relations, of.name) {
			continue
		}
		sh := &tableBuilder{class: of, at: map[string]int{}, defaults: make([]any, len(of.attrs))}
		for i, a := range of.attrs {
			sh.at[a.name], sh.defaults[i] = i, a.defaultValue()
		}
		b.tables = append(b.tables, sh)
		b.tableByName[of.name] = sh
	}
	return b
}

// defaultValue is the value of a column that is not set.
func (a attr) defaultValue() any {
	switch {
	case !a.must:
		return nil
	case a.kind.Number():
		return int64(0)
	case a.kind.Elem() != "":
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
			panic("catalog: " + sh.name + " has no column " + pairs[i].(string))
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

// addData adds the rows of the data file of a relation; shared values are added to all rows. An
// empty field means the default.
func (b *builder) addData(relation string, shared ...any) {
	sh := b.tableByName[relation]
	for _, r := range readData(relation).rows {
		row := sh.row()
		sh.set(row, shared)
		for i, field := range r.fields {
			if field != "" {
				at := sh.at[r.columns[i]]
				row[at] = parseField(sh.attrs[at].kind, field)
			}
		}
	}
}

// parseField parses a field of a data file.
func parseField(k kind.Kind, field string) any {
	switch {
	case k == kind.Boolean:
		return boolInt(field == "t")
	case k == kind.Float4:
		return float64(parseNumber(field))
	case k.Number():
		return parseNumber(field)
	}
	return field
}

func (b *builder) relations() []Relation {
	all := make([]Relation, len(b.tables))
	for i, sh := range b.tables {
		columns := make([]translate.Column, len(sh.attrs))
		for j, a := range sh.attrs {
			columns[j] = translate.Column{Name: a.name, Kind: a.kind}
		}
		all[i] = Relation{Schema: sh.schema, Name: sh.name, OID: sh.oid, Columns: columns, Rows: sh.rows, Index: indexed[sh.name], OfRoles: slices.Contains(roleRelations, sh.name)}
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
		panic("catalog: " + err.Error()) // items are texts
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
