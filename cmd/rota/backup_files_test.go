package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
	"github.com/rotajobs/rota/store/sqlite"
	zombie "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// sqlJob runs a statement in a target and returns the id of the job.
func (s *testServer) sqlJob(statement string) string {
	s.t.Helper()
	params, err := json.Marshal(map[string]string{"statement": statement})
	if err != nil {
		s.t.Fatal(err)
	}
	return idShape.FindString(s.must("job create sql --wait --params '" + string(params) + "'"))
}

// backedUpServer returns the data directory of a stopped server, with a run that has a log and a row in main.db, and a backup of it.
func backedUpServer(t *testing.T) (s *testServer, id, file string) {
	t.Helper()
	s = startServer(t)
	s.sqlJob("CREATE TABLE visits (n INTEGER)")
	s.sqlJob("INSERT INTO visits (n) VALUES (42)")
	out, _, _ := s.run("job create fail --retries 0 --wait")
	id = idShape.FindString(out)
	if err := os.WriteFile(filepath.Join(s.data, "notes.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if log := s.must("job logs " + id); log == "" {
		t.Fatal("the run has no log")
	}
	file = filepath.Join(t.TempDir(), "rota.db")
	out = s.must("backup " + file)
	for _, want := range []string{
		"wrote " + file, "included: run logs, ", "included: target main (main.db), 1 file", "left out: admin.token and admin.scram: ", "left out: notes.txt: Rota does not use it",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, unwanted := range []string{"left out: rota.db", "left out: main.db", "left out: logs"} {
		if strings.Contains(out, unwanted) {
			t.Errorf("%q in\n%s", unwanted, out)
		}
	}
	s.must("verify --store sqlite:" + file)
	s.stop()
	return s, id, file
}

// TestRestoreOfLogsAndTargets restores a backup into an empty directory and over an existing one.
func TestRestoreOfLogsAndTargets(t *testing.T) {
	s, id, file := backedUpServer(t)
	was := s.data
	s.data = filepath.Join(t.TempDir(), "other")
	obstacle := filepath.Join(s.data, "logs")
	if err := errors.Join(os.Mkdir(s.data, 0o700), os.WriteFile(obstacle, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := s.run("restore " + file); code != exitFailed || !strings.Contains(errs, "run the same command again") {
		t.Errorf("a restore that cannot write logs exits with %d: %s%s", code, out, errs)
	}
	if _, err := sqlite.Open(filepath.Join(s.data, "rota.db")); err == nil || !strings.Contains(err.Error(), "is not complete") {
		t.Errorf("a store whose files are missing was opened: %v", err)
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	out := s.must("restore " + file) // completes it
	if left, _ := filepath.Glob(filepath.Join(s.data, "*.before-*")); len(left) > 0 {
		t.Errorf("files remain: %s", left)
	}
	for _, want := range []string{"restored: run logs, ", "restored: target main (main.db), 1 file", "left out: admin.token and admin.scram: "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	s.start()
	if log := s.must("job logs " + id); log == "" {
		t.Error("the log was not restored")
	}
	shown := s.must("job show " + s.sqlJob("SELECT n FROM visits") + " -o json")
	if !strings.Contains(shown, "42") {
		t.Errorf("the row of main.db was not restored: %s", shown)
	}
	s.must("verify")
	s.stop()

	s.data = was
	if err := errors.Join(os.Remove(filepath.Join(was, "rota.db")), os.WriteFile(filepath.Join(was, "main.db"), []byte("other"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := s.run("restore " + file); code != exitFailed || !strings.Contains(errs, "main.db already exists") {
		t.Errorf("restore over a target exits with %d: %s%s", code, out, errs)
	}
	var view restoreView
	if err := json.Unmarshal([]byte(s.must("restore "+file+" --force -o json")), &view); err != nil || len(view.AsideFiles) != 1 || len(view.Restored) != 2 {
		t.Errorf("restored %+v, %v", view, err)
	}
}

// TestRestoreOfStoreWithoutFiles restores a file that an earlier version wrote: it has only the store.
func TestRestoreOfStoreWithoutFiles(t *testing.T) {
	verifyFixture(t)
	out, errs, code := runLine("restore healthy.db --data data")
	if code != exitDone || !strings.Contains(out, "left out: run logs, targets and other files of the data directory: the backup contains only the store") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// emptyDatabase returns the URL of a database without a schema.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	server := pgtest.Shared(t)
	return server.URL(server.NewDatabase(t, ""))
}

// TestRestoreIntoPostgres restores a backup into PostgreSQL, where a server continues with it. Then the store is copied back.
func TestRestoreIntoPostgres(t *testing.T) {
	s, id, file := backedUpServer(t)
	url := emptyDatabase(t)
	s.data = filepath.Join(t.TempDir(), "other")
	main := filepath.Join(s.data, "main.db")
	if out, errs, code := s.run("restore " + file + " --store postgres://127.0.0.1:1/rota"); code != exitUnavailable {
		t.Errorf("a restore into a database that does not answer exits with %d: %s%s", code, out, errs)
	}
	if _, err := os.Stat(main); err == nil {
		t.Error("a restore that failed left main.db")
	}
	obstacle := filepath.Join(s.data, "logs")
	if err := os.WriteFile(obstacle, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := s.run("restore " + file + " --store " + url); code == exitDone {
		t.Errorf("a restore that cannot write logs exits with %d: %s%s", code, out, errs)
	}
	if _, err := postgres.OpenWith(url, postgres.Config{Poll: true}); err == nil || !strings.Contains(err.Error(), "is not complete") {
		t.Errorf("a store whose files are missing was opened: %v", err)
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "moved.db")
	if err := os.Rename(file, moved); err != nil {
		t.Fatal(err)
	}
	file = moved
	if out, errs, code := s.run("restore " + file + " --store " + url); code != exitFailed || !strings.Contains(errs, "--restart") {
		t.Errorf("a restore of another backup exits with %d: %s%s", code, out, errs)
	}
	out := s.must("restore " + file + " --restart --store " + url)
	if _, err := os.Stat(main); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out, "restored postgres://") || strings.Contains(out, url) && strings.Contains(url, "@") {
		t.Errorf("restore: %s", out)
	}
	if _, err := os.Stat(filepath.Join(s.data, "rota.db")); err == nil {
		t.Error("the store was restored into the data directory too")
	}
	if out, errs, code := s.run("restore " + file + " --force --store " + url); code != exitFailed || !strings.Contains(errs, "is not empty") {
		t.Errorf("a second restore exits with %d: %s%s", code, out, errs)
	}
	s.start("--store", url)
	s.must("job show " + id)
	if out, errs, code := s.run("backup " + filepath.Join(t.TempDir(), "pg.db")); code != exitUnavailable || !strings.Contains(errs, "rota copy --from") {
		t.Errorf("a backup of PostgreSQL exits with %d: %s%s", code, out, errs)
	}
	back := filepath.Join(t.TempDir(), "back.db")
	if out, errs, code := s.run("copy --from " + url + " --to sqlite:" + back); code != exitUnavailable || !strings.Contains(errs, "stop every server") {
		t.Errorf("copy of a running store exits with %d: %s%s", code, out, errs)
	}
	s.stop()
	s.must("copy --from " + url + " --to sqlite:" + back + " --history")
	s.must("verify --store sqlite:" + back)
	if _, err := postgres.OpenWith(url, postgres.Config{Poll: true}); err == nil {
		t.Error("the moved store was opened")
	}
	s.start("--store", url, "--allow-moved")
	s.must("job show " + id)
}

// A backup that someone has changed must not replace files of Rota, or write through links.
func TestRestoreRefusesForeignFiles(t *testing.T) {
	s, _, file := backedUpServer(t)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"admin.token", "rota.yaml", "rota.db", "rota.db-wal", "main.db-journal", "logs/a.log", "master.key", "Rota.DB", ".restore-1/a.db", "notes.txt"} {
		changed := filepath.Join(t.TempDir(), "changed.db")
		conn := copyAndOpen(t, file, changed)
		content := any("a token of an attacker")
		if strings.HasSuffix(strings.ToLower(name), ".db") {
			content = "SQLite format 3\x00 and more"
		}
		check(sqlitex.Execute(conn, `UPDATE rota_backup_files SET path = ?, content = CAST(? AS BLOB) WHERE path = 'main.db'`,
			&sqlitex.ExecOptions{Args: []any{name, content}}))
		check(conn.Close())
		s.data = filepath.Join(t.TempDir(), "other")
		if out, errs, code := s.run("restore " + changed); code != exitFailed || !strings.Contains(errs, name) {
			t.Errorf("restore of %s exits with %d: %s%s", name, code, out, errs)
		}
		if left, _ := filepath.Glob(filepath.Join(s.data, "*")); slices.ContainsFunc(left, func(path string) bool { return filepath.Ext(path) != ".lock" }) {
			t.Errorf("after %s there are %s", name, left)
		}
	}
	s.data = filepath.Join(t.TempDir(), "other")
	elsewhere := t.TempDir()
	check(errors.Join(os.MkdirAll(s.data, 0o700), os.Symlink(elsewhere, filepath.Join(s.data, "logs"))))
	if out, errs, code := s.run("restore " + file); code != exitFailed || !strings.Contains(errs, "symbolic link") {
		t.Errorf("restore through a link exits with %d: %s%s", code, out, errs)
	}
	if written, _ := filepath.Glob(filepath.Join(elsewhere, "*")); len(written) > 0 {
		t.Errorf("the restore wrote %s through a link", written)
	}
}

// copyAndOpen copies a database and opens the copy.
func copyAndOpen(t *testing.T, from, to string) *zombie.Conn {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	var conn *zombie.Conn
	if err == nil {
		conn, err = zombie.OpenConn(to, zombie.OpenReadWrite)
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
