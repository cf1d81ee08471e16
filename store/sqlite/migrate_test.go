package sqlite

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite/sqlitex"
)

// createVersionOne creates a file with the first schema version and a job in each state.
func createVersionOne(t *testing.T) (path string, jobs map[string]rota.ID) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "rota.db")
	conn := rawConn(t, path)
	defer conn.Close()
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	execute(t, conn, sqlMetaTable)
	must(t, migrateOne(conn, steps[0], 1))
	must(t, putMeta(conn, metaClean, "1"))
	jobs = map[string]rota.ID{}
	for _, name := range []string{"queued", "delayed", "long", "running", "failed", "retry", "dead", "cancelled"} {
		jobs[name] = rota.NewID()
	}
	run := func(sql string) {
		t.Helper()
		if err := sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{Named: namedIn(sql, jobs)}); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	insert := func(id string, values map[string]string) {
		t.Helper()
		if values == nil {
			values = map[string]string{}
		}
		values["id"], values["created_by"] = ":"+id, "'ada'"
		run(insertJobSQL("INSERT", values))
	}
	insert("queued", map[string]string{"unique_key": "'k'"})
	run(`INSERT INTO rota_keys (type, key, execution_id) VALUES ('web', 'k', :queued)`)
	insert("delayed", map[string]string{"run_at": "99", "hold": "1", "queued_at": "NULL", "name": "'nightly'", "plan_time": "99"})
	insert("long", map[string]string{"params": "NULL"})
	run(`INSERT INTO rota_params VALUES (:long, '` + string(longParams) + `')`)
	for _, name := range []string{"running", "failed", "dead"} {
		insert(name, map[string]string{"max_attempts": "2", "scope_kind": "'shard'", "scope_id": "'7'"})
		run(`UPDATE rota_jobs SET status = 'RUNNING', started_at = 8, run_id = randomblob(16) WHERE id = :` + name)
		run(`INSERT INTO rota_runs (job_id, token, runner, started_at, heartbeat_at, stale_after) VALUES (:` + name + `, randomblob(16), 'node', 8, 8, 9)`)
	}
	for _, name := range []string{"failed", "dead"} {
		run(`UPDATE rota_runs SET outcome = 'FAILED', finished_at = 9, error = 'no' WHERE job_id = :` + name)
	}
	insert("retry", map[string]string{
		"retry_of": ":failed", "execution_id": ":failed", "attempt": "2", "max_attempts": "2", "scope_kind": "'shard'", "scope_id": "'7'",
	})
	run(`UPDATE rota_jobs SET finished_at = 9, sequel = 'retry' WHERE id = :failed`)
	run(`UPDATE rota_jobs SET finished_at = 9, sequel = 'dead' WHERE id = :dead`)
	insert("cancelled", nil)
	run(`UPDATE rota_jobs SET status = 'CANCELLED', finished_at = 9, sequel = 'none' WHERE id = :cancelled`)
	run(`INSERT INTO rota_audit (id, at, actor, act, job_id, detail) VALUES (randomblob(16), 9, 'ada', 'JOB_CANCELLED', :cancelled, 'no')`)
	return path, jobs
}

// TestOpenMigratesOlderFile migrates a file of schema version 1. No row is lost, and new commands
// work on the old rows.
func TestOpenMigratesOlderFile(t *testing.T) {
	path, jobs := createVersionOne(t)
	conn := rawConn(t, path)
	before := strings.Split(strings.TrimSpace(tables(t, conn)), "\n")
	must(t, conn.Close())
	_, err := OpenWith(path, Config{ReadOnly: true})
	checkError(t, err, rota.Conflict, "older version of Rota", "migrates it")

	s, err := OpenWith(path, Config{Logger: quiet})
	must(t, err)
	verifyClean(t, s)
	conn = rawConn(t, path)
	after := tables(t, conn)
	for _, row := range before {
		if !strings.Contains(after, row) && !strings.HasPrefix(row, "rota_meta") && !strings.HasPrefix(row, "rota_runs") {
			t.Errorf("lost %s in:\n%s", row, after)
		}
	}
	for name, id := range jobs {
		j, err := s.Job(t.Context(), id)
		must(t, err)
		if j.Template+j.Schedule+j.ConcurrencyKey != "" || !j.GroupID.IsZero() || !j.RedriveOf.IsZero() || !j.CountsAt.IsZero() {
			t.Errorf("%s has relations: %+v", name, j)
		}
	}
	for name, want := range map[string]string{"running": "node  - -", "failed": "node FAILED no 9", "dead": "node FAILED no 9"} {
		j, err := s.Job(t.Context(), jobs[name])
		must(t, err)
		end := "-"
		if !j.Run.FinishedAt.IsZero() {
			end = strconv.FormatInt(j.Run.FinishedAt.UnixMicro(), 10)
		}
		got := strings.Join([]string{j.Run.Runner, string(j.Run.Outcome), cmp.Or(j.Run.Error, "-"), end}, " ")
		if got != want || j.Run.StartedAt.UnixMicro() != 8 || j.Run.StaleAfter.UnixMicro() != 9 {
			t.Errorf("the run of %s is %q: %+v", name, got, j.Run)
		}
	}
	dead, err := s.Jobs(t.Context(), rota.JobQuery{Dead: true})
	must(t, err)
	if len(dead) != 1 || dead[0].ID != jobs["dead"] {
		t.Errorf("the dead letters are %v", dead)
	}
	cancelled := jobs["cancelled"]
	page, err := s.Audit(t.Context(), rota.AuditQuery{Subject: "job " + cancelled.String(), Acts: []string{rota.AuditJobCancelled}})
	must(t, err)
	if e := page.Entries; len(e) != 1 || e[0].JobID != cancelled || e[0].ExecutionID != cancelled || e[0].Actor != "ada" {
		t.Errorf("the audit is %+v", e)
	}
	c := claim(10)
	c.Types = []string{"web"}
	if claimed := apply(t, s, at(time.Second, c))[0].Reply.(*rota.Claimed).Jobs; len(claimed) != 3 {
		t.Errorf("%d of 3 jobs were claimed", len(claimed))
	}
	verifyClean(t, s)
	must(t, s.Close())
}

// TestFailedMigrationChangesNothing lets the second migration fail near its end.
func TestFailedMigrationChangesNothing(t *testing.T) {
	path, _ := createVersionOne(t)
	conn := rawConn(t, path)
	execute(t, conn, `CREATE TABLE rota_intents (mine TEXT)`) // makes the second migration fail near its end
	before := tables(t, conn)
	if s, err := Open(path); err == nil {
		_ = s.Close()
		t.Fatal("Open succeeded")
	}
	if after := tables(t, conn); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}
