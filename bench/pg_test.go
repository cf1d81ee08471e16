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

// postgresBench is a bench with a server, or the test is left out.
func postgresBench(t *testing.T) *bench {
	t.Helper()
	if !findPostgres() {
		t.Skip("there is no PostgreSQL on this machine")
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

// The raw engine's session is set as the store sets its own, as far as that
// decides about plans.
func TestRawPlansAsTheStoreDoes(t *testing.T) {
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

// The raw engine changes the rows that Rota changes, to the same values: all
// but those that are minted or read from a clock.
func TestRawWritesWhatRotaWritesOnPostgres(t *testing.T) {
	b := postgresBench(t)
	rota := pgLiveOf(t, newTestDatabase(t, b, "rota"), openPgRotaLoop)
	raw := pgLiveOf(t, newTestDatabase(t, b, "raw"), openPgRawLoop)
	if rota != raw {
		t.Errorf("rota wrote\n%s\nraw wrote\n%s", rota, raw)
	}
	if !strings.Contains(rota, "COMPLETED") || !strings.Contains(rota, "QUEUED") {
		t.Errorf("rota wrote\n%s", rota)
	}
}

// pgLiveOf enqueues three jobs, completes one, and tells what the rows hold.
func pgLiveOf(t *testing.T, db *database, open func(context.Context, *database, int) (loop, error)) string {
	t.Helper()
	e, err := open(t.Context(), db, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.enqueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.turn(t.Context(), 1); err != nil {
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

// pgDump writes the rows. Of what differs by nature it says only whether it is
// there.
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
	minted := regexp.MustCompile(`^(id|run_id|claim_id|token|life|version|\w+_at|stale_after)$`)
	var text strings.Builder
	var name string
	var value *string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		switch {
		case value == nil:
			text.WriteString(name + "=NULL ")
		case minted.MatchString(name):
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

// A subject that leaves jobs unfinished gets no figure.
func TestACrewOnPostgresThatLeavesJobsIsRefused(t *testing.T) {
	b := postgresBench(t)
	for _, a := range pgApplicants() {
		t.Run(a.name, func(t *testing.T) {
			c, err := a.open(t.Context(), newTestDatabase(t, b, a.name))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.fill(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			if c.close(t.Context(), 3) == nil {
				t.Error("nothing was run, and nobody minded")
			}
		})
	}
}

// What takes an hour is run only when it is asked for by its name.
func TestChurnIsAskedFor(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	b := postgresBench(t)
	b.pick, b.runs, b.churn = regexp.MustCompile("postgres/churn"), 1, 2*time.Second
	if err := b.measure(pgBenchmarks()); err != nil {
		t.Fatal(err)
	}
	for _, tail := range []string{"", "/table", "/indexes", "/rows", "/dead", "/autovacuums"} {
		if b.report.row(pgChurnCase+tail, pgChurnMarks[2]) == nil {
			t.Errorf("%s left no row", pgChurnCase+tail)
		}
	}
	b.pick = regexp.MustCompile("postgres/chu.n")
	if err := b.measure(pgBenchmarks()); err == nil {
		t.Error("it was run without being named")
	}
}

// The server's work is counted as its own, wherever it was done.
func TestTheProcessorTimeOfTheServerIsSeen(t *testing.T) {
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
