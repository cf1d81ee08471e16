package catalog

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

var update = flag.Bool("update", false, "write the data files from a PostgreSQL server")

// kept are the OIDs of the types whose operators, casts and operator classes the catalogue shows.
const kept = "16, 17, 18, 19, 20, 21, 23, 25, 26, 114, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1700, 2277, 2950, 3802"

// keptFunctions are the functions that data/functions.tsv names, and the functions that types and
// access methods refer to. callable removes those that queries cannot call.
const keptFunctions = `pronamespace = 'pg_catalog'::regnamespace AND (oid IN (
	SELECT p.oid FROM kept_functions JOIN pg_proc p ON proname = name) OR oid IN (
	SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typsubscript]::oid[]) FROM pg_type UNION SELECT amhandler FROM pg_am))`

// refusedOperators are the operators of these types that queries cannot use.
const refusedOperators = `(oprname IN ('#', '^@', '@@', '~<~', '~<=~', '~>~', '~>=~') OR oprname IN ('-', '||') AND oprleft = 3802)`

type builtin struct{ relation, columns, where string }

// builtins are the relations whose rows are copied from a server. The first column is the key.
var builtins = []builtin{
	{"pg_type", "oid typname typnamespace typlen typbyval typtype typcategory typispreferred typisdefined typdelim typrelid typsubscript " +
		"typelem typarray typinput typoutput typreceive typsend typmodin typmodout typanalyze typalign typstorage typnotnull typbasetype typtypmod typndims " +
		"typcollation typdefault", "typnamespace::regnamespace::text IN ('pg_catalog', 'information_schema') AND typtype <> 'c' AND typelem NOT IN (SELECT oid FROM pg_type WHERE typtype = 'c')"},
	{"pg_proc", "oid proname pronamespace prolang procost prorows provariadic prokind prosecdef proleakproof proisstrict proretset provolatile proparallel " +
		"pronargs pronargdefaults prorettype proargtypes proallargtypes proargmodes proargnames prosrc", keptFunctions},
	{"pg_aggregate", "aggfnoid aggkind aggnumdirectargs aggfinalmodify aggmfinalmodify", "aggfnoid::oid IN (SELECT oid FROM pg_proc WHERE " + keptFunctions + ")"},
	{
		"pg_operator", "oid oprname oprnamespace oprkind oprcanmerge oprcanhash oprleft oprright oprresult oprcom oprnegate oprcode oprrest oprjoin",
		"oprleft IN (" + kept + ") AND oprright IN (" + kept + ") AND NOT " + refusedOperators,
	},
	{"pg_cast", "oid castsource casttarget castfunc castcontext castmethod", "castsource IN (" + kept + ") AND casttarget IN (" + kept + ")"},
	{"pg_opclass", "oid opcmethod opcname opcnamespace opcfamily opcintype opcdefault opckeytype", "opcmethod = 403 AND opcdefault AND opcintype IN (" + kept + ")"},
	{"pg_opfamily", "oid opfmethod opfname opfnamespace", "oid IN (SELECT opcfamily FROM pg_opclass WHERE opcmethod = 403 AND opcdefault AND opcintype IN (" + kept + "))"},
	{"pg_range", "rngtypid rngsubtype rngmultitypid rngcollation rngsubopc rngcanonical rngsubdiff", "true"},
	{"pg_am", "oid amname amhandler amtype", "true"},
	{"pg_language", "oid lanname lanispl lanpltrusted lanplcallfoid laninline lanvalidator", "true"},
	{"pg_collation", "oid collname collnamespace collprovider collisdeterministic collencoding collcollate collctype", "oid < 10000"},
	{"pg_tablespace", "oid spcname", "true"},
}

// expression writes a column as the data files have it: regproc as its OID, arrays as JSON.
const expression = `SELECT attname, CASE
	WHEN atttypid = 'regproc'::regtype THEN attname || '::oid'
	WHEN atttypid IN ('oidvector'::regtype, 'oid[]'::regtype) THEN 'to_json(' || attname || '::oid[]::int[])'
	WHEN typelem <> 0 AND typlen = -1 THEN 'to_json(' || attname || ')' ELSE attname END
	FROM pg_attribute JOIN pg_type t ON t.oid = atttypid WHERE attnum > 0 AND attrelid = '%'::regclass`

// The data files equal the catalogue of a PostgreSQL server. With -update the test writes them.
func TestDataEqualsPostgres(t *testing.T) {
	url := newDatabase(t)
	space := pgtest.Query(t, url, "SELECT 'information_schema'::regnamespace::oid")[0][0]
	procs := map[string]bool{}
	for _, b := range builtins {
		expressions := map[string]string{}
		for _, row := range pgtest.Query(t, url, strings.Replace(expression, "%", b.relation, 1)) {
			expressions[row[0]] = row[1]
		}
		var list []string
		for _, column := range strings.Fields(b.columns) {
			list = append(list, expressions[column])
		}
		rows := pgtest.Query(t, url,
			withNames("kept_functions", "functions", "name", "answer")+"SELECT "+strings.Join(list, ", ")+" FROM "+b.relation+" WHERE "+b.where+" ORDER BY 1")
		switch b.relation {
		case "pg_proc":
			rows = callable(t, strings.Fields(b.columns), rows)
			for _, row := range rows {
				procs[row[0]] = true
			}
		case "pg_aggregate": // after pg_proc
			rows = slices.DeleteFunc(rows, func(row []string) bool { return !procs[row[0]] })
		}
		checkData(t, space, b.relation, strings.Fields(b.columns), rows)
	}
	checkData(t, space, "keywords", strings.Fields("word catcode barelabel catdesc baredesc"), pgtest.Query(t, url, "SELECT * FROM pg_get_keywords() ORDER BY 1"))
	checkData(t, space, "relations", strings.Fields("relation evidence schema oid kind shared"), pgtest.Query(t, url, withNames("r", "relations", "relation", "evidence")+`
		SELECT relation, evidence, relnamespace::regnamespace, c.oid, relkind, relisshared FROM r JOIN pg_class c ON relname = relation ORDER BY relation COLLATE "C"`))
	checkData(t, space, "columns", strings.Fields("relation column type notnull collation"), pgtest.Query(t, url, withNames("r", "relations", "relation")+`
		SELECT relation, attname, typname, attnotnull, attcollation FROM r JOIN pg_class c ON relname = relation
		JOIN pg_attribute ON attrelid = c.oid JOIN pg_type t ON t.oid = atttypid WHERE attnum > 0 ORDER BY relation COLLATE "C", attnum`))
	checkData(t, space, "pg_settings", strings.Fields("name setting unit category short_desc context vartype min_val max_val enumvals"), pgtest.Query(t, url,
		withNames("r", "pg_settings", "name", "setting")+`SELECT r.name, r.setting, unit, category, short_desc, context, vartype, min_val, max_val, to_json(enumvals)
		FROM r JOIN pg_settings s ON s.name = r.name ORDER BY lower(r.name) COLLATE "C"`))
}

// callable removes the functions of sql/translate with argument types that sql/translate refuses.
func callable(t *testing.T, columns []string, rows [][]string) [][]string {
	t.Helper()
	names := queryFunctions()
	return slices.DeleteFunc(rows, func(row []string) bool {
		field := func(column string) string { return row[slices.Index(columns, column)] }
		p := &proc{name: field("proname"), set: field("proretset") == "t", variadic: field("provariadic") != "0"}
		must(t, json.Unmarshal([]byte(field("proargtypes")), &p.args))
		return slices.Contains(names, p.name) && tryCall(p) != nil
	})
}

// withNames is a WITH clause of the columns of a data file that are not copied from the server.
func withNames(name, file string, columns ...string) string {
	text, err := os.ReadFile("data/" + file + ".tsv")
	if err != nil {
		panic(err)
	}
	var rows []string
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		var values []string
		for _, field := range strings.SplitN(line, "\t", len(columns)+1)[:len(columns)] {
			values = append(values, literal(field))
		}
		rows = append(rows, "("+strings.Join(values, ", ")+")")
	}
	return "WITH " + name + " (" + strings.Join(columns, ", ") + ") AS (VALUES " + strings.Join(rows, ", ") + ") "
}

// buildOID matches OIDs that initdb assigns, which may differ between builds of a server.
var buildOID = regexp.MustCompile(`\b1[0-6]\d{3}\b`)

func maskBuild(text string) string { return buildOID.ReplaceAllString(text, "build") }

// checkData compares a data file with the rows of a server, or writes it. buildSpace is the OID of
// the server's information schema.
func checkData(t *testing.T, buildSpace, file string, columns []string, rows [][]string) {
	t.Helper()
	lines := []string{strings.Join(columns, "\t")}
	for _, row := range rows {
		for i, field := range row {
			if field == buildSpace {
				row[i] = fmt.Sprint(standardSpace)
			}
		}
		line := strings.Join(row, "\t")
		if strings.Count(line, "\t") != len(columns)-1 || strings.Contains(line, "\n") {
			t.Fatalf("%s: a value contains a tab or a line break: %q", file, row)
		}
		lines = append(lines, line)
	}
	path, text := "data/"+file+".tsv", strings.Join(lines, "\n")+"\n"
	if *update {
		must(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	old, err := os.ReadFile(path)
	must(t, err)
	real, ours := strings.Split(maskBuild(text), "\n"), strings.Split(maskBuild(string(old)), "\n")
	reportMissing(t, path+" lacks", real, ours)
	reportMissing(t, path+" has, and PostgreSQL has not", ours, real)
}
