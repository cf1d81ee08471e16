package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresBench returns a bench, or skips the test if PostgreSQL is not installed.
func postgresBench(t *testing.T) *bench {
	t.Helper()
	if !findPostgres() {
		t.Skip("PostgreSQL is not installed")
	}
	b, err := newBench(t.Context(), tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.close() })
	return b
}

func newTestDatabase(t *testing.T, b *bench, name string) *database {
	t.Helper()
	db, err := b.database(name)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// The session of the raw engine has the same planner settings as the store's.
func TestRawSessionSettingsEqualTheStores(t *testing.T) {
	source, err := os.ReadFile("../store/postgres/tx.go")
	if err != nil {
		t.Fatal(err)
	}
	var settings []string
	for _, m := range regexp.MustCompile(`set_config\('(\w+)', '(\w+)', true\)`).FindAllStringSubmatch(string(source), -1) {
		settings = append(settings, "SET "+m[1]+" = "+m[2])
	}
	if got, want := strings.TrimSpace(pgRawSession), strings.Join(settings, "; "); got != want {
		t.Errorf("raw sets\n%s\nthe store\n%s", got, want)
	}
}

// The raw engine writes the same values as Rota, except generated ids and times.
func TestRawWritesSameRowsAsRotaOnPostgres(t *testing.T) {
	b := postgresBench(t)
	rota := pgRowsAfterWork(t, newTestDatabase(t, b, "rota"), openPgRotaBatchQueue)
	raw := pgRowsAfterWork(t, newTestDatabase(t, b, "raw"), openPgRawBatchQueue)
	if rota != raw {
		t.Errorf("rota wrote\n%s\nraw wrote\n%s", rota, raw)
	}
	if !strings.Contains(rota, "COMPLETED") || !strings.Contains(rota, "QUEUED") {
		t.Errorf("rota wrote\n%s", rota)
	}
}

// pgRowsAfterWork enqueues three jobs, completes one, and returns the rows.
func pgRowsAfterWork(t *testing.T, db *database, open func(context.Context, *database, int) (batchQueue, error)) string {
	t.Helper()
	e, err := open(t.Context(), db, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.enqueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.claimAndFinish(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := e.close(); err != nil {
		t.Fatal(err)
	}
	if err := db.audit(t.Context(), counts{queued: 2, completed: 1}); err != nil {
		t.Error(err)
	}
	return pgDump(t, db)
}

// pgDump returns the rows as text. For generated ids and times it shows only whether there is a value.
func pgDump(t *testing.T, db *database) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	const sql = `
SELECT e.key, e.value
FROM rota.jobs j
CROSS JOIN LATERAL jsonb_each_text(to_jsonb(j)) WITH ORDINALITY AS e
ORDER BY j.position, e.ordinality`
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	generated := regexp.MustCompile(`^(id|run_id|claim_id|token|life|version|\w+_at|stale_after)$`)
	var text strings.Builder
	var name string
	var value *string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		switch {
		case value == nil:
			text.WriteString(name + "=NULL ")
		case generated.MatchString(name):
			text.WriteString(name + "=some ")
		default:
			text.WriteString(name + "=" + *value + " ")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// A pool that leaves jobs unfinished is an error, so that it gets no figure.
func TestUnfinishedJobsAreAnErrorOnPostgres(t *testing.T) {
	b := postgresBench(t)
	for _, a := range pgContenders() {
		t.Run(a.name, func(t *testing.T) {
			c, err := a.open(t.Context(), newTestDatabase(t, b, a.name))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.fill(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			if c.close(t.Context(), 3) == nil {
				t.Error("unfinished jobs are accepted")
			}
		})
	}
}

// A case that takes an hour runs only if BENCH names it.
func TestChurnRunsOnlyIfNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	b := postgresBench(t)
	b.filter, b.runs, b.churn = regexp.MustCompile("postgres/churn"), 1, 2*time.Second
	if err := b.measure(pgBenchmarks()); err != nil {
		t.Fatal(err)
	}
	for _, tail := range []string{"", "/table", "/indexes", "/rows", "/dead", "/autovacuums"} {
		if b.report.row(pgChurnCase+tail, pgChurnMarks[2]) == nil {
			t.Errorf("%s left no row", pgChurnCase+tail)
		}
	}
	b.filter = regexp.MustCompile("postgres/chu.n")
	if err := b.measure(pgBenchmarks()); err == nil {
		t.Error("churn ran without being named")
	}
}

// The cost includes the processor time of the server processes.
func TestCostIncludesProcessorTimeOfServer(t *testing.T) {
	b := postgresBench(t)
	s, err := b.postgres()
	if err != nil {
		t.Fatal(err)
	}
	var took cost
	err = took.measure(t.Context(), s, nil, func() error {
		_, err := s.admin.Exec(t.Context(), "SELECT count(*) FROM generate_series(1, 2000000)")
		return err
	})
	if err != nil || took.server < 10*time.Millisecond || took.server > 2*took.wall {
		t.Errorf("the server took %v of a processor in %v: %v", took.server, took.wall, err)
	}
}
