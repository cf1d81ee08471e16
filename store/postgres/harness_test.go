package postgres

import (
	"log/slog"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/depth"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestMain sets fewer random histories than for the SQLite store, because each costs round trips.
func TestMain(m *testing.M) {
	depth.Checks(2, 10, 100)
	pgtest.Main(m)
}

var quiet = slog.New(slog.DiscardHandler)

// openTest opens a store in a database of its own.
func openTest(t testing.TB, config Config) *Store {
	t.Helper()
	return openAt(t, pgtest.Shared(t).URL(newDatabase(t)), config)
}

// openAt opens a store at a URL, until the test ends.
func openAt(t testing.TB, url string, config Config) *Store {
	t.Helper()
	s, err := OpenWith(url, config)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// newDatabase creates a database with an empty store: a copy of a migrated template.
func newDatabase(t testing.TB) string {
	t.Helper()
	server := pgtest.Shared(t)
	template := server.Template(t, "migrated", func(url string) error {
		s, err := OpenWith(url, Config{Poll: true, Logger: quiet})
		if err != nil {
			return err
		}
		return s.Close()
	})
	return server.NewDatabase(t, template)
}

// urlOf returns the URL of a store.
func urlOf(s *Store) string { return s.pool.Config().ConnString() }

// rows executes statements on a new connection and returns their rows. Table names are qualified as
// in the store.
func rows(t testing.TB, s *Store, sql string) [][]string {
	t.Helper()
	return pgtest.Query(t, urlOf(s), s.dialect.qualify(sql))
}

// done applies a command that must succeed, at the time of PostgreSQL's clock.
func done[R rota.Reply](t testing.TB, s rota.Store, c rota.Command) (reply R) {
	t.Helper()
	results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{c}})
	must(t, err)
	if results[0].Err != nil {
		t.Fatalf("%s was refused: %v", c.Verb(), results[0].Err)
	}
	return results[0].Reply.(R)
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// storeTime returns the time of the store's clock.
func storeTime(t *testing.T, s *Store) time.Time {
	t.Helper()
	due, err := s.NextDue(t.Context())
	must(t, err)
	return due.Now
}
