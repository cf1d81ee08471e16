package postgres

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestMigrationGivesDefinitionsToAdmin migrates a schema with definitions and jobs from before owners
// existed. What exists belongs to admin, and jobs that have not ended run with its rights.
func TestMigrationGivesDefinitionsToAdmin(t *testing.T) {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	owners := slices.IndexFunc(steps, func(name string) bool { return strings.HasSuffix(name, "_owners.sql") })
	conn, err := pgconn.Connect(t.Context(), url)
	must(t, err)
	m := &migration{t.Context(), conn, &dialect{schema: `"rota"`}}
	for n := range owners {
		_, err := m.step(steps[:n+1])
		must(t, err)
	}
	must(t, conn.Close(t.Context()))
	pgtest.Query(t, url, `INSERT INTO rota.templates (name, type, version, created_by, created_at, updated_at, spec)
	 VALUES ('digest', 'mail', gen_random_uuid(), 'ada', 7, 8, '{"type":"mail","policy":{}}')`)
	pgtest.Query(t, url, `INSERT INTO rota.schedules (name, template, anchor, version, created_at, updated_at, spec)
	 VALUES ('nightly', 'digest', 8, gen_random_uuid(), 8, 9, '{"template":"digest","every":3600000000000,"policy":{},"catch_up":"last","overlap":"allow","on_completion":"preserve"}')`)
	ids := map[string]rota.ID{"queued": rota.NewID(), "running": rota.NewID(), "cancelled": rota.NewID()}
	for _, id := range ids {
		pgtest.Query(t, url, `INSERT INTO rota.jobs (id, type, priority, position, max_attempts, backoff, timeout, created_at, queued_at, created_by, name, template, params)
		 VALUES ('`+id.String()+`', 'mail', 0, 100, 3, 0, 0, 7, 7, 'ada', 'digest', 'digest', '{}')`)
	}
	pgtest.Query(t, url, `UPDATE rota.jobs SET status = 'RUNNING', started_at = 8, run_id = gen_random_uuid(), token = gen_random_uuid(), runner = 'node', heartbeat_at = 8, stale_after = 9
	 WHERE id = '`+ids["running"].String()+`'`)
	pgtest.Query(t, url, `UPDATE rota.jobs SET status = 'CANCELLED', finished_at = 9, sequel = 'none' WHERE id = '`+ids["cancelled"].String()+`'`)

	s := openAt(t, url, Config{Poll: true, Logger: quiet})
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
