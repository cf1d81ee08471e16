package translate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rotajobs/rota/internal/depth"
)

// generator makes values at random: of each kind columns, constants, and what can be made
// of others.
type generator struct{ *rand.Rand }

func (m generator) pick(all ...string) string { return all[m.IntN(len(all))] }

// fill replaces the kinds in braces by values of them.
func (m generator) fill(pattern string, depth int) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(pattern, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		sort, rest, _ := strings.Cut(after, "}")
		b.WriteString("(" + m.value(sort, depth-1) + ")")
		pattern = rest
	}
}

// leaves are columns and constants, forms what is made of others.
var leaves = map[string][]string{
	"int":  {"n", "small::int", "1", "2", "0", "-3", "length(job_name)"},
	"big":  {"priority", "row_number() OVER (ORDER BY job_name)", "3::bigint"},
	"num":  {"cost", "1.5", "0.25", "10.0"},
	"flt":  {"weight", "2.5::float8"},
	"text": {"job_name", "description", "state", "title", "'abc'::text", "'x y'::text", "NULL::text"},
	"bool": {"enabled", "true", "false", "NULL::boolean"},
	"time": {"next_run", "timestamptz '2026-03-01 10:00+02'", "timestamptz '2026-03-29 02:30'", "timestamptz '2026-10-25 00:15+00'"},
	"loc":  {"local", "timestamp '2025-12-31 23:00'", "timestamp '2026-10-25 02:30'"},
	"date": {"day", "date '2026-02-28'"},
	"span": {"took", "interval '1 day 02:03:04'", "interval '1 month'", "interval '-5 minutes'"},
	"arr":  {"nums", "ARRAY[1, 2]", "'{3,NULL}'::int[]"},
	"tags": {"tags", "ARRAY['a', 'red']"},
	"one":  {`'{"a": 1}'::jsonb`},
	"doc":  {"params", `'{"a": {"b": 2}, "l": [1, "x"]}'::jsonb`},
}

var forms = map[string][]string{
	"int":  {"{int} + {int}", "{int} - {int}", "{int} * {int}", "{int} / nullif({int}, 0)", "{int} % nullif({int}, 0)", "abs{int}", "length{text}", "coalesce({int}, {int})", "CASE WHEN {bool} THEN {int} ELSE {int} END", "greatest({int}, {int})", "strpos({text}, {text})", "{date} - {date}", "array_length({arr}, 1)", "{arr}[1]", "{bool}::int", "round{num}::int", "cardinality{tags}"},
	"big":  {"{big} + {int}", "{big} * {big}", "coalesce({big}, {int})", "{int}::bigint", "nullif({big}, {big})"},
	"num":  {"{num} + {num}", "{num} * {int}", "{num} / nullif({num}, 0)", "round({num}, 1)", "trunc({num}, 1)", "abs{num}", "extract(epoch FROM {time})", "extract(hour FROM {time})", "extract(month FROM {date})", "extract(hour FROM {span})", "ceil{num}", "floor{num}", "least({num}, {int})", "{int}::numeric"},
	"flt":  {"{flt} + {flt}", "{flt} * {int}", "{flt} / nullif({flt}, 0)", "{num}::float8", "sqrt(abs{flt})", "date_part('day', {loc})", "{flt} - {num}", "floor{flt}", "power(abs{int}, 2)"},
	"text": {"{text} || {text}", "upper{text}", "lower{text}", "substr({text}, 2, 3)", "left({text}, {int})", "right({text}, 2)", "replace({text}, 'a', 'Z')", "coalesce({text}, {text})", "CASE {text} WHEN {text} THEN {text} END", "{int}::text", "{bool}::text", "{time}::text", "{span}::text", "{date}::text", "to_char({time}, 'YYYY-MM-DD HH24:MI:SS')", "{tags}[1]", "concat({text}, {int}, {bool})", "lpad({text}, 4, '*')", "split_part({text}, 'a', 1)", "trim{text}", "md5{text}", "array_to_string({tags}, ',')", "{doc} ->> 'a'", "{arr}::text", "initcap{text}", "reverse{text}", "{loc}::text"},
	"bool": {"{int} = {int}", "{int} < {num}", "{text} = {text}", "{text} > {text}", "{time} >= {time}", "{date} < {loc}", "{time} > {date}", "{loc} <= {time}", "{time}::time > {loc}::time", "{span} < {span}", "{span} = {span}", "{bool} AND {bool}", "{bool} OR {bool}", "NOT {bool}", "{int} IS NULL", "{bool} IS TRUE", "{bool} IS NOT FALSE", "{text} LIKE '%a%'", "{text} ILIKE 'A%'", "{text} ~ '[a-c]'", "{int} IN (1, 2, {int})", "{int} NOT IN (1, 3)", "{int} BETWEEN {int} AND {int}", "{int} = ANY {arr}", "{int} <> ALL {arr}", "{text} = ANY {tags}", "{text} IS DISTINCT FROM {text}", "{arr} @> {arr}", "{arr} && {arr}", "{int} > ANY {arr}", "{int} < ALL {arr}", "{flt} >= {int}", "{doc} @> {one}", "{bool} = {bool}", "({int}, {text}) = ({int}, {text})", "{doc} = {doc}", "EXISTS (SELECT 1 FROM sys.runs r WHERE r.ms > {int})", "{int} IN (SELECT ms FROM sys.runs WHERE ms IS NOT NULL)", "starts_with({text}, {text})"},
	"time": {"{time} + {span}", "{time} - {span}", "date_trunc('day', {time})", "date_trunc('month', {time})", "date_trunc('hour', {time})", "{loc}::timestamptz", "{date}::timestamptz", "coalesce({time}, {time})", "{loc} AT TIME ZONE 'Europe/Berlin'", "greatest({time}, {time})", "to_timestamp({int})"},
	"loc":  {"{loc} + {span}", "{date} + {span}", "{time} AT TIME ZONE 'America/New_York'", "date_trunc('hour', {loc})", "{time}::timestamp", "{date}::timestamp"},
	"date": {"{date} + 3", "{date} - 40", "{time}::date", "{loc}::date", "coalesce({date}, {date})", "least({date}, {date})"},
	"span": {"{time} - {time}", "{loc} - {loc}", "{span} + {span}", "{span} - {span}", "{span} * 2", "{span} / 4", "-{span}", "age({loc}, {loc})", "age({time}, {time})", "{time} - {loc}", "date_trunc('hour', {span})", "coalesce({span}, {span})"},
	"arr":  {"{arr} || {arr}", "{arr} || {int}", "ARRAY[{int}, {int}]", "ARRAY(SELECT ms FROM sys.runs WHERE ms > {int} ORDER BY ms)"},
	"tags": {"{tags} || {text}", "string_to_array({text}, 'a')", "ARRAY[{text}, 'q']"},
	"doc":  {"{doc} -> 'a'", "{doc} -> 'l'", "to_jsonb{int}", "to_jsonb{text}", "to_jsonb{time}", "to_jsonb(ARRAY[{time}])", "jsonb_build_object('a', {int}, 'b', {bool})", "to_jsonb{arr}"},
}

var kindNames = []string{"int", "big", "num", "flt", "text", "bool", "time", "loc", "date", "span", "arr", "tags", "doc"}

func (m generator) value(sort string, depth int) string {
	if depth <= 0 || m.IntN(4) == 0 || len(forms[sort]) == 0 {
		return m.pick(leaves[sort]...)
	}
	return m.fill(m.pick(forms[sort]...), depth)
}

// Both servers return the same values for random expressions.
func TestRandomExpressionsMatchPostgres(t *testing.T) {
	compareRandom(t, openTestDB(t), postgres(t), depth.Of(100, 400, 5_000))
}

// compareRandom asks both for so many values.
func compareRandom(t *testing.T, d *testDB, conn *pgconn.PgConn, count int) {
	t.Helper()
	seed := uint64(1)
	if depth.Deep() {
		seed = rand.Uint64()
		t.Log("seed", seed)
	}
	m := generator{rand.New(rand.NewPCG(seed, 0))}
	bad := 0
	for range count {
		sort := m.pick(kindNames...)
		expr := m.value(sort, 3)
		s := sample{text: fmt.Sprintf("SELECT job_name AS j, %s AS v FROM sys.jobs ORDER BY job_name", expr)}
		if strings.Contains(expr, "OVER") && m.IntN(2) == 0 {
			continue
		}
		result := conn.ExecParams(context.Background(), s.text, nil, nil, nil, nil).Read()
		if result.Err != nil { // it calculates too much, or nests what must not be
			continue
		}
		if !t.Run("", func(t *testing.T) { compareSample(t, d, conn, s) }) {
			if bad++; bad > 10 {
				return
			}
		}
	}
}
