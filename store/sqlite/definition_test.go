package sqlite

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/rotajobs/rota"
)

// TestMigrationAddsDefinitionsOfOlderSchedules migrates a file with schedules from before
// definition ids existed.
func TestMigrationAddsDefinitionsOfOlderSchedules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rota.db")
	conn := rawConn(t, path)
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	execute(t, conn, sqlMetaTable)
	for i, step := range steps[:5] {
		must(t, migrateOne(conn, step, i+1))
	}
	must(t, putMeta(conn, metaClean, "1"))
	for _, name := range []string{"nightly", "zürich"} {
		execute(t, conn, `INSERT INTO rota_schedules (name, template, anchor, version, created_at, updated_at, spec)
		 VALUES ('`+name+`', 'digest', 8, randomblob(16), 8, 8, '{"template":"digest","every":"1h"}')`)
	}
	must(t, conn.Close())
	s, err := OpenWith(path, Config{Logger: quiet})
	must(t, err)
	defer s.Close()
	for _, name := range []string{"nightly", "zürich"} {
		got, err := s.Definition(t.Context(), rota.DefinitionID(name))
		if err != nil || got != name {
			t.Errorf("%s is %q: %v", name, got, err)
		}
	}
	_, err = s.Definition(t.Context(), rota.DefinitionID("weekly"))
	checkError(t, err, rota.NotFound, "no definition has the id", "rota schedule list")
}
