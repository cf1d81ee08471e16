package postgres

import (
	"io/fs"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestMigrationWaitsForTransactionsWithoutDeadlock checks that each migration can wait for a
// transaction of a process that still runs, which has changed jobs and writes to the audit next.
func TestMigrationWaitsForTransactionsWithoutDeadlock(t *testing.T) {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	migrating, err := pgconn.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = migrating.Close(t.Context()) }()
	working, err := pgconn.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = working.Close(t.Context()) }()
	work := func(sql string) {
		t.Helper()
		if _, err := working.Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Errorf("the transaction fails: %v", err)
		}
	}
	m := &migration{t.Context(), migrating, &dialect{schema: `"rota"`}}
	for n := range steps {
		if n < 12 { // migrations before the audit
			_, err := m.step(steps[:n+1])
			must(t, err)
			continue
		}
		work("BEGIN; UPDATE rota.jobs SET position = 1 WHERE false")
		migrated := make(chan error, 1)
		go func() {
			_, err := m.step(steps[:n+1])
			migrated <- err
		}()
		for blocked := false; !blocked && len(migrated) == 0; time.Sleep(10 * time.Millisecond) {
			waits := pgtest.Query(t, url, "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'relation' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
			blocked = len(waits) > 0
		}
		work("INSERT INTO rota.audit (id, at, act) VALUES (gen_random_uuid(), 0, 'JOB_CANCELLED'); COMMIT")
		if err := <-migrated; err != nil {
			t.Errorf("migration %s: %v", steps[n], err)
		}
	}
}
