package postgres

import (
	"io/fs"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestMigrationFillsDefinitionIDs checks that schedules from before the definitions table are found
// by their ids.
func TestMigrationFillsDefinitionIDs(t *testing.T) {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	conn, err := pgconn.Connect(t.Context(), url)
	must(t, err)
	m := &migration{t.Context(), conn, &dialect{schema: `"rota"`}}
	for n := range 3 {
		_, err := m.step(steps[:n+1])
		must(t, err)
	}
	must(t, conn.Close(t.Context()))
	for _, name := range []string{"nightly", "zürich"} {
		pgtest.Query(t, url, `INSERT INTO rota.schedules (name, template, anchor, version, created_at, updated_at, spec)
		 VALUES ('`+name+`', 'digest', 8, gen_random_uuid(), 8, 8, '{"template":"digest","every":"1h"}')`)
	}
	s := openAt(t, url, Config{Poll: true, Logger: quiet})
	for _, name := range []string{"nightly", "zürich"} {
		got, err := s.Definition(t.Context(), rota.DefinitionID(name))
		if err != nil || got != name {
			t.Errorf("the definition of %s is %q: %v", name, got, err)
		}
	}
	if _, err = s.Definition(t.Context(), rota.DefinitionID("weekly")); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("unknown definition: %v", err)
	}
}
