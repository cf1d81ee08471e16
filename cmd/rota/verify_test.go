package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	engine "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TestVerifyTranscript replays the transcript in a directory with valid and invalid stores.
func TestVerifyTranscript(t *testing.T) {
	file, err := filepath.Abs("testdata/verify/verify.transcript")
	if err != nil {
		t.Fatal(err)
	}
	verifyFixture(t)
	before := fileNames(t)
	replay(t, file, regenerateTranscript)
	if after := fileNames(t); after != before {
		t.Errorf("verify created files; before: %s, after: %s", before, after)
	}
}

// TestVerifyReferencePage replays the page and compares its list with the checks.
func TestVerifyReferencePage(t *testing.T) {
	file, err := filepath.Abs("../../docs/reference/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	verifyFixture(t)
	replay(t, file, func(page string) string {
		prose, _, _ := strings.Cut(regeneratePage(page), "| check | promise |")
		prose += "| check | promise |\n|---|---|\n"
		for _, c := range rota.Checks {
			prose += "| `" + c.Name + "` | " + c.Promise + " |\n"
		}
		return prose
	})
}

// TestVerifyExitCodesOfProcess runs the program on a store with violations and on one that another process uses.
func TestVerifyExitCodesOfProcess(t *testing.T) {
	verifyFixture(t)
	out, errs, code := runProcess(t, "verify", "--store", "sqlite:broken.db", "-o", "json")
	var view verifyView
	if err := json.Unmarshal(out, &view); err != nil || code != exitNotClean || view.Clean || len(view.Violations) != 2 {
		t.Errorf("exit %d, %v, %+v, %s", code, err, view, errs)
	}
	held, err := sqlite.Open("healthy.db")
	if err != nil {
		t.Fatal(err)
	}
	_, errs, code = runProcess(t, "verify", "--store", "sqlite:healthy.db")
	if code != exitUnavailable || !strings.Contains(errs, "held by process "+strconv.Itoa(os.Getpid())) || !strings.Contains(errs, "hint: stop that process") {
		t.Errorf("a held store exits with %d: %s", code, errs)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	out, errs, code = runProcess(t, "verify", "--store", "sqlite:healthy.db")
	if code != exitDone || !strings.HasPrefix(string(out), "clean: ") || errs != "" {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

func runProcess(t *testing.T, args ...string) (out []byte, errs string, code int) {
	t.Helper()
	process := exec.Command(os.Args[0], args...)
	process.Env = append(os.Environ(), "ROTA_TEST_PROGRAM=1")
	out, err := process.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return out, string(exit.Stderr), exit.ExitCode()
	case err != nil:
		t.Fatal(err)
	}
	return out, "", exitDone
}

// verifyFixture changes to a new directory with valid and invalid stores, whose ids and times are fixed.
func verifyFixture(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	makeStore(t, "healthy.db")
	makeStore(t, "broken.db")
	start := readSQL(t, "broken.db", `SELECT sql FROM sqlite_schema WHERE name = 'rota_jobs_start'`)
	runSQL(t, "broken.db",
		`DROP TRIGGER rota_jobs_start`, `UPDATE rota_jobs SET token = NULL, runner = NULL, life = NULL, heartbeat_at = NULL,
	stale_after = NULL WHERE id = x'01926a5e7c3b7f3a8d2e000000000001'`, start,
		`DELETE FROM rota_keys`)
	runSQL(t, "foreign.db", `CREATE TABLE users (name TEXT)`)
	if err := errors.Join(os.WriteFile("notes.txt", []byte(strings.Repeat("buy milk\n", 100)), 0o600), os.Mkdir("folder", 0o700)); err != nil {
		t.Fatal(err)
	}
}

func makeStore(t *testing.T, path string) {
	t.Helper()
	s, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	results, err := s.Apply(t.Context(), rota.Batch{Now: testNow, Commands: []rota.Command{
		&rota.Enqueue{Meta: rota.Meta{ID: fixed(8)}, Jobs: []rota.NewJob{
			{ID: fixed(1), Type: "report.build"}, {ID: fixed(2), Type: "mail.send", UniqueKey: "welcome-7"}, {ID: fixed(3), Type: "mail.send"},
		}},
		&rota.Claim{Meta: rota.Meta{ID: fixed(9)}, Worker: "w1", Types: []string{"report.build"}, Limit: 1, Lease: time.Minute, Seed: rota.Token{1}},
		&rota.Cancel{Meta: rota.Meta{ID: fixed(10)}, JobID: fixed(3)},
	}})
	for _, r := range results {
		if r.Err != nil {
			err = r.Err
		}
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

func fixed(n byte) rota.ID {
	return rota.ID{0x01, 0x92, 0x6a, 0x5e, 0x7c, 0x3b, 0x7f, 0x3a, 0x8d, 0x2e, 15: n}
}

func runSQL(t *testing.T, path string, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		readSQL(t, path, sql)
	}
}

// readSQL runs a statement and returns the last value of its first column.
func readSQL(t *testing.T, path, sql string) (value string) {
	t.Helper()
	conn, err := engine.OpenConn(path, engine.OpenReadWrite|engine.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{ResultFunc: func(s *engine.Stmt) error {
		value = s.ColumnText(0)
		return nil
	}})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// fileNames returns the names of the files in the working directory.
func fileNames(t *testing.T) (names string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names += e.Name() + " "
	}
	return names
}
