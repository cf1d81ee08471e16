package sqlite

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TestMigrationGivesDefinitionsToAdmin migrates a file with definitions and jobs from before owners
// existed. What exists belongs to admin, and jobs that have not ended run with its rights.
func TestMigrationGivesDefinitionsToAdmin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rota.db")
	conn := rawConn(t, path)
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	owners := slices.IndexFunc(steps, func(name string) bool { return strings.HasSuffix(name, "_owners.sql") })
	execute(t, conn, sqlMetaTable)
	must(t, registerFunctions(conn))
	for i, step := range steps[:owners] {
		must(t, migrateOne(conn, step, i+1))
	}
	must(t, putMeta(conn, metaClean, "1"))
	ids := map[string]rota.ID{"queued": rota.NewID(), "running": rota.NewID(), "cancelled": rota.NewID()}
	run := func(sql string) {
		t.Helper()
		must(t, sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{Named: namedIn(sql, ids)}))
	}
	run(`INSERT INTO rota_templates (name, type, version, created_by, created_at, updated_at, spec)
	 VALUES ('digest', 'web', randomblob(16), 'ada', 7, 8, '{"type":"web","policy":{}}')`)
	run(`INSERT INTO rota_schedules (name, template, anchor, version, created_at, updated_at, spec)
	 VALUES ('nightly', 'digest', 8, randomblob(16), 8, 9, '{"template":"digest","every":3600000000000,"policy":{},"catch_up":"last","overlap":"allow","on_completion":"preserve"}')`)
	for name := range ids {
		run(insertJobSQL("INSERT", map[string]string{"id": ":" + name, "created_by": "'ada'", "template": "'digest'"}))
	}
	run(`UPDATE rota_jobs SET status = 'RUNNING', started_at = 8, run_id = randomblob(16), token = randomblob(16), runner = 'node', heartbeat_at = 8, stale_after = 9 WHERE id = :running`)
	run(`UPDATE rota_jobs SET status = 'CANCELLED', finished_at = 9, sequel = 'none' WHERE id = :cancelled`)
	must(t, conn.Close())

	s, err := OpenWith(path, Config{Logger: quiet})
	must(t, err)
	defer s.Close()
	verifyClean(t, s)
	template, err := s.Template(t.Context(), "digest")
	must(t, err)
	if template.Owner != rota.AdminUser || template.Since.UnixMicro() != 7 {
		t.Errorf("the template belongs to %q since %s", template.Owner, template.Since)
	}
	schedule, err := s.Schedule(t.Context(), "nightly")
	must(t, err)
	if schedule.Owner != rota.AdminUser || schedule.Since.UnixMicro() != 8 {
		t.Errorf("the schedule belongs to %q since %s", schedule.Owner, schedule.Since)
	}
	for name, want := range map[string]string{"queued": rota.AdminUser, "running": rota.AdminUser, "cancelled": ""} {
		j, err := s.Job(t.Context(), ids[name])
		must(t, err)
		if j.Owner != want {
			t.Errorf("the owner of the %s job is %q, want %q", name, j.Owner, want)
		}
	}
}
