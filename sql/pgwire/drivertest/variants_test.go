package drivertest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

var seed = flag.Uint64("seed", 1, "which variants are tried")

var echoed = regexp.MustCompile(`(?s)\*{9} QUERY \*{10}\n(.*?)\n\*{26}`)

// The test rewrites psql's catalogue queries to equivalent ones that PostgreSQL accepts. The rows
// must be the same: the server executes the queries instead of recognising their text.
func TestMutatedPsqlQueriesReturnSameRows(t *testing.T) {
	s := startWithHistory(t)
	var queries []string
	for _, name := range []string{"meta", "tables"} {
		script, err := os.ReadFile("testdata/psql/" + name + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		out, _ := s.psql(t, string(script), "-E")
		for _, found := range echoed.FindAllStringSubmatch(out, -1) {
			if !slices.Contains(queries, found[1]) && strings.HasPrefix(strings.ToUpper(found[1]), "SELECT") {
				queries = append(queries, found[1])
			}
		}
	}
	if len(queries) < 100 {
		t.Fatalf("psql sent %d queries", len(queries))
	}
	ours, theirs := s.connect(t), postgresWithTables(t, s).connect(t)
	random := rand.New(rand.NewPCG(*seed, 2))
	variants := 0
	for _, text := range queries {
		want := rowsOf(t, ours, text)
		if strings.HasPrefix(want, "ERROR") {
			t.Errorf("%s\n%s", text, want)
		}
		for range 3 {
			mutated, how := mutate(text, random)
			if d := describe(t, theirs, mutated); d.sqlstate != "" && describe(t, theirs, text).sqlstate == "" {
				t.Errorf("PostgreSQL rejects it, %s: %s\n%s", how, d.sqlstate, mutated)
				continue
			}
			variants++
			if got := rowsOf(t, ours, mutated); got != want {
				t.Errorf("%s\n%s\n-- was\n%s\n got %s\nwant %s", how, mutated, text, brief(got), brief(want))
			}
		}
	}
	t.Logf("%d variants of %d queries", variants, len(queries))
}

// mutate applies some of the mutations to a query.
func mutate(text string, random *rand.Rand) (mutated, how string) {
	t := tokensOf(text)
	var names []string
	chosen := random.Perm(len(mutations))[:1+random.IntN(4)]
	slices.Sort(chosen)
	slices.Reverse(chosen) // so that comments come last
	for _, i := range chosen {
		t = mutations[i].do(t, random)
		names = append(names, mutations[i].name)
	}
	return t.String(), strings.Join(names, ", ")
}

// rowsOf is an answer as one text, its rows in the order of their texts.
func rowsOf(t *testing.T, conn *pgx.Conn, text string) string {
	t.Helper()
	results, err := conn.PgConn().Exec(t.Context(), text).ReadAll()
	if err != nil {
		return fmt.Sprint("ERROR: ", err)
	}
	var names, lines []string
	for _, f := range results[0].FieldDescriptions {
		names = append(names, fmt.Sprint(f.Name, " ", f.DataTypeOID))
	}
	for _, row := range results[0].Rows {
		lines = append(lines, string(slices.Concat(slices.Collect(func(yield func([]byte) bool) {
			for _, cell := range row {
				if !yield(append(cell, '|')) {
					return
				}
			}
		})...)))
	}
	slices.Sort(lines)
	return strings.Join(names, "|") + "\n" + strings.Join(lines, "\n")
}

func brief(text string) string {
	if len(text) > 600 {
		return text[:600] + "…"
	}
	return text
}
