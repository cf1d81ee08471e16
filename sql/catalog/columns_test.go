package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// Both schemas contain every relation of PostgreSQL with all its columns, in order and with
// their types.
func TestColumnsEqualPostgres(t *testing.T) {
	real := map[string][]string{}
	for _, row := range pgtest.Query(t, createTables(t), `
		SELECT n.nspname || '.' || c.relname, c.oid, c.relkind, c.relisshared, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v') AND a.attnum > 0 ORDER BY 1, a.attnum`) {
		if oid := row[1]; len(oid) > 4 { // it is given when a server is made, and may change with its build
			row[1] = "own"
		}
		real[row[0]] = append(real[row[0]], strings.Join(row[1:], " "))
	}
	ours := map[string][]string{}
	for _, s := range specs() {
		for _, c := range s.columns {
			oid, typ := fmt.Sprint(s.oid), strings.ReplaceAll(c.typ, "timestamptz", "timestamp with time zone")
			if len(oid) > 4 {
				oid = "own"
			}
			if of := allTypes().byFormattedName[c.typ]; of == nil {
				t.Errorf("%s.%s is of the type %s, which is not there", s.name, c.name, c.typ)
			} else if of.space == standardSpace {
				typ = standardSchema + "." + typ
			}
			line := fmt.Sprintf("%s %s %s %s %s %s", oid, s.kind, formatValue("boolean", boolInt(s.shared)), c.name, typ, formatValue("boolean", boolInt(c.must)))
			ours[s.schema+"."+s.name] = append(ours[s.schema+"."+s.name], line)
		}
	}
	for name, columns := range real {
		if !slices.Equal(ours[name], columns) {
			t.Errorf("%s has\n\t%s\nand not\n\t%s", name, strings.Join(columns, "\n\t"), strings.Join(ours[name], "\n\t"))
		}
	}
	for name := range ours {
		if real[name] == nil {
			t.Errorf("PostgreSQL has no %s", name)
		}
	}
}

// Each row has a value for each column, and the value matches the kind of the column.
func TestRowsMatchColumnKinds(t *testing.T) {
	for _, r := range New(subject).Relations() {
		for _, row := range r.Rows {
			if len(row) != len(r.Columns) {
				t.Fatalf("%s has %d columns and a row of %d values", r.Name, len(r.Columns), len(row))
			}
			for i, v := range row {
				if !matchesKind(r.Columns[i].Kind, v) {
					t.Fatalf("%s.%s is %s and holds %#v", r.Name, r.Columns[i].Name, r.Columns[i].Kind, v)
				}
			}
		}
	}
}
