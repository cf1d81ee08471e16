package session_test

import (
	"os"
	"testing"

	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.Close()
	os.Exit(code)
}

// TestTranscriptsOnPostgres runs the same scripts on a PostgreSQL store.
func TestTranscriptsOnPostgres(t *testing.T) {
	if *update {
		t.Skip("the golden files are written from the SQLite store")
	}
	cluster := pgtest.Shared(t)
	for _, name := range []string{"examples", "transactions", "queries", "semantics", "wrong"} {
		t.Run(name, func(t *testing.T) {
			script, err := os.ReadFile("testdata/" + name + ".sql")
			if err != nil {
				t.Fatal(err)
			}
			c := &clock{now: began}
			store, err := postgres.OpenWith(cluster.URL(cluster.NewDatabase(t, "")), postgres.Config{Clock: c.Now})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			golden(t, name+".out", newFixtureOn(t, c, store).play(string(script)))
		})
	}
}
