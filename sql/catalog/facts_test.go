package catalog

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// matchesKind says whether a value can be one of a kind.
func matchesKind(k kind.Kind, v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case int64:
		return k.Number()
	case float64:
		return k == kind.Float || k == kind.Float4
	case string:
		if k.Elem() != "" {
			return json.Valid([]byte(v))
		}
		return !k.Number()
	}
	return false
}

// regprocs matches the columns that name functions.
var regprocs = regexp.MustCompile(`aggfnoid|typ(subscript|input|output|receive|send|modin|modout|analyze)|opr(code|rest|join)|rng(canonical|subdiff)|amhandler`)

// firstUnpinned is the first number that initdb gives to an object, such as a type of information_schema. These numbers
// differ between minor versions and builds.
const firstUnpinned = 12000

// The rows of built-in objects equal those of a PostgreSQL server. The first column of each
// relation is its key.
func TestBuiltinRowsEqualPostgres(t *testing.T) {
	url, c := createTables(t), New(subject)
	for _, test := range append(builtins, []builtin{
		{"pg_namespace", "nspname oid", "nspname IN ('pg_catalog', 'pg_toast', 'public')"},
		{"pg_settings", "name unit category context vartype min_val max_val enumvals", "name NOT LIKE 'server_version%'"},
		{"pg_class", "oid relname relnamespace reloftype relam relisshared relpersistence relkind relnatts relchecks relispopulated relreplident reltablespace", "oid < 10000"},
	}...) {
		real := map[string][]string{}
		for _, row := range pgtest.Query(t, url, withNames("kept_functions", "functions", "name", "answer")+
			"SELECT "+regprocs.ReplaceAllString(strings.ReplaceAll(test.columns, " ", ", "), "$0::oid")+" FROM "+test.relation+" WHERE "+test.where) {
			real[row[0]] = row
		}
		ours := relationOf(t, c, test.relation).pick(t, strings.Fields(test.columns)...)
		same := 0
		for key, row := range ours {
			if n, err := strconv.Atoi(key); real[key] == nil || err == nil && n >= firstUnpinned {
				continue // one that is ours, or whose number is not the same everywhere
			}
			if same++; maskBuild(strings.Join(row, "|")) != maskBuild(strings.Join(real[key], "|")) {
				t.Errorf("%s: %v is in PostgreSQL\n%v", test.relation, row, real[key])
			}
		}
		if same == 0 {
			t.Errorf("%s: no row is compared", test.relation)
		}
	}
}

// The rows that describe tables equal those of a PostgreSQL server with the same tables.
func TestTableRowsEqualPostgres(t *testing.T) {
	url, c := createTables(t), New(subject)
	const ofColumn = "attrelid::regclass || '.' || attname"
	real := map[string][]string{}
	for _, row := range pgtest.Query(t, url, `
		SELECT `+ofColumn+`, attnum, attlen, attbyval, attalign, attstorage, attnotnull, attcollation, atttypmod, attstattarget, atthasdef, attislocal
		FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE attnum > 0 AND relkind IN ('r', 'v', 'i')`) {
		real[row[0]] = row[1:]
	}
	show := functionNamed(t, "rota_regclass_text", 1)
	attributes := relationOf(t, c, "pg_attribute")
	columns := strings.Fields("attnum attlen attbyval attalign attstorage attnotnull attcollation atttypmod attstattarget atthasdef attislocal")
	for i, row := range attributes.Rows {
		one := Relation{Name: "pg_attribute", Columns: attributes.Columns, Rows: attributes.Rows[i : i+1]}
		name, err := show.Call(env, c, row[:1])
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprint(name, ".", row[1])
		for _, values := range one.pick(t, columns...) {
			if !slices.Equal(values, real[key]) {
				t.Errorf("%s: %v is in PostgreSQL\n%v", key, values, real[key])
			}
		}
	}
}

// The rows of the information schema equal those of a PostgreSQL server with the same tables.
func TestInformationSchemaEqualsPostgres(t *testing.T) {
	url, c := createTables(t), New(subject)
	const keptTable = "table_schema = 'sys' OR table_name IN (SELECT relation FROM r)"
	for _, test := range []builtin{
		{"columns", "table_schema table_name column_name ordinal_position is_nullable data_type character_maximum_length character_octet_length " +
			"numeric_precision numeric_precision_radix numeric_scale datetime_precision collation_schema collation_name domain_schema domain_name " +
			"udt_schema udt_name dtd_identifier is_self_referencing is_identity identity_cycle is_generated", keptTable},
		{"tables", "table_schema table_name table_type is_typed", keptTable},
		{"key_column_usage", "constraint_schema constraint_name table_schema table_name column_name ordinal_position", "table_schema = 'sys'"},
		{"constraint_column_usage", "constraint_schema constraint_name table_schema table_name column_name", "table_schema = 'sys'"},
		{"schemata", "schema_name", "true"},
	} {
		query := withNames("r", "relations", "relation") + "SELECT " + strings.ReplaceAll(test.columns, " ", ", ") + " FROM information_schema." + test.relation + " WHERE " + test.where
		var real, ours []string
		for _, row := range pgtest.Query(t, url, query) {
			real = append(real, strings.Join(row, "|"))
		}
		r := relationOf(t, c, test.relation)
		for i := range r.Rows {
			one := Relation{Name: r.Name, Columns: r.Columns, Rows: r.Rows[i : i+1]}
			for _, row := range one.pick(t, strings.Fields(test.columns)...) {
				if test.relation == "key_column_usage" && row[2] != "sys" {
					continue
				}
				ours = append(ours, strings.Join(row, "|"))
			}
		}
		reportMissing(t, test.relation+" in PostgreSQL alone", real, ours)
		reportMissing(t, test.relation+" in ours alone", ours, real)
	}
}

// reportMissing reports the items of one list that are not in the other.
func reportMissing(t *testing.T, what string, list, other []string) {
	t.Helper()
	there := map[string]bool{}
	for _, item := range other {
		there[item] = true
	}
	for _, item := range list {
		if !there[item] {
			t.Errorf("%s: %s", what, item)
		}
	}
}
