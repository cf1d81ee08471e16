package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
)

// hostile are texts that a careless writer of SQL breaks.
var hostile = []string{
	"it's; DROP JOB a; --", "-- comment\n/* open", "*/ ; \\i file \\q", "line 1\nline 2\r\n\n\ttab ", "'';''\"", "$$ $x$ :name {y} %s",
	"äöü 日本語 🚀 \u200b\ufeff end", strings.Repeat("long '", 5_000), `{"json": "in text"}`, `\'\\`,
}

// hostileDocument has a job for each hostile text and each kind of schedule and action that SQL expresses.
func hostileDocument() []byte {
	templates, schedules := map[string]any{}, map[string]any{}
	add := func(name, kind string, params, schedule map[string]any) {
		templates[name] = map[string]any{"type": kind, "state": "ACTIVE", "default_params": params}
		schedule["template"] = name
		if schedule["state"] == nil {
			schedule["state"] = "ENABLED"
		}
		schedules[name] = schedule
	}
	for i, text := range hostile {
		name := string(rune('a'+i)) + "-Job.#1"
		add(name, "sql", map[string]any{"statement": "SELECT 1 -- " + text, "target": "main", "run_as": "etl"}, map[string]any{
			"cron": "*/5 9-17 * * MON-FRI", "timezone": "America/New_York", "description": text[:min(len(text), 4_000)], "param_overrides": map[string]any{},
		})
		add(name+".noop", "noop", nil, map[string]any{
			"every": "1h30m", "starts_at": "2027-01-01T00:00:00Z", "ends_at": "2099-01-01T00:00:00.000001Z", "timezone": "Asia/Tokyo", "description": text[:min(len(text), 4_000)],
			"param_overrides": map[string]any{text: text, "n": json.Number("12345678901234567890"), "list": []any{text, nil, true, map[string]any{text: 1}}},
		})
		add(name+".call", "call", map[string]any{"procedure": "sums.Daily-x", "args": []any{text, nil, true, json.Number("-1.50")}, "target": "main"}, map[string]any{
			"at": "2098-06-01T12:00:00Z", "timezone": "Europe/Berlin", "on_completion": "drop", "depends_on": []string{name, name + ".noop"},
		})
	}
	add("zz", "exec", map[string]any{"command": "/bin/true 'x'"}, map[string]any{"every": "30s", "state": "DISABLED", "catch_up": "none", "overlap": "cancel", "priority": -3})
	add("aa", "noop", nil, map[string]any{"every": "48h", "state": "PAUSED", "depends_on": []string{"zz"}, "max_retries": 0, "backoff": "90s", "timeout": "0s", "catch_up": "all", "overlap": "skip"})
	add("select", "noop", nil, map[string]any{"cron": "@daily", "class": "LEADER_ONLY", "partition": map[string]any{"strategy": "DYNAMIC", "expression": "a'b = ')'"}})
	return rota.EncodeSpec(map[string]any{"version": 1, "templates": templates, "schedules": schedules})
}

// anchors differ, because an interval without a start counts from the creation of its job.
var (
	anchors  = regexp.MustCompile(`(?m)^ *"anchor": .*\n`)
	countsOf = regexp.MustCompile(`, counted from [^;]*;`)
)

// TestExportAsSQLRoundTrips exports hostile definitions as SQL, runs the file on new servers with rota sql and with psql, and
// compares what these export.
func TestExportAsSQLRoundTrips(t *testing.T) {
	dir := t.TempDir()
	document, script := filepath.Join(dir, "all.json"), filepath.Join(dir, "jobs.sql")
	if err := os.WriteFile(document, hostileDocument(), 0o600); err != nil {
		t.Fatal(err)
	}
	first := startServer(t)
	first.must("import " + document)
	want := anchors.ReplaceAllString(first.must("export -o json"), "")
	first.must("export -o sql " + script)

	exported := func(s *testServer) string { return anchors.ReplaceAllString(s.must("export -o json"), "") }
	second := startServer(t)
	second.must("sql -f " + script)
	if got := exported(second); got != want {
		t.Errorf("after rota sql: %s", firstDifference(want, got))
	}
	second.must("sql -f " + script) // a file that stopped at an error is run again as a whole
	if got := exported(second); got != want {
		t.Errorf("after the file was run again: %s", firstDifference(want, got))
	}
	statements := func(export string) string { return countsOf.ReplaceAllString(export, "") }
	if was, again := statements(readFileText(t, script)), statements(second.must("export -o sql")); again != was {
		t.Errorf("the second export: %s", firstDifference(was, again))
	}
	third := startServer(t)
	third.psql(script)
	if got := exported(third); got != want {
		t.Errorf("after psql: %s", firstDifference(want, got))
	}
}

func readFileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// psql runs a file on the SQL port and stops at the first error.
func (s *testServer) psql(file string) {
	s.t.Helper()
	var addresses struct{ SQL string }
	if err := json.Unmarshal([]byte(readFileText(s.t, filepath.Join(s.data, "rota.addr"))), &addresses); err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, "postgres://admin@"+addresses.SQL+"/rota")
	cmd.Env = append(os.Environ(), "PGPASSWORD="+strings.TrimSpace(readFileText(s.t, filepath.Join(s.data, "admin.token"))))
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("psql: %v\n%s", err, out)
	}
}

// TestExportAsSQLRoundsUpToSeconds exports durations with fractions of a second.
func TestExportAsSQLRoundsUpToSeconds(t *testing.T) {
	s := startServer(t)
	s.must("schedule create short --type noop --every 500ms --timeout 1ms --backoff 999ms --starts 2098-01-01T00:00:00Z")
	s.must("schedule create long --type noop --every 1500ms --timeout 90.1s --backoff 0s --starts 2098-01-01T00:00:00Z")
	text := s.must("export -o sql")
	for _, want := range []string{
		"\n-- rounded up, since a clause has whole seconds: EVERY from 500ms, RETRY_BACKOFF from 999ms, TIMEOUT from 1ms\nCREATE OR ALTER JOB short\n",
		"\n  SCHEDULE = EVERY 1 SECOND STARTS", "\n  RETRY_BACKOFF = 1 SECOND\n", "\n  TIMEOUT = 1 SECOND\n",
		"\n-- rounded up, since a clause has whole seconds: EVERY from 1.5s, TIMEOUT from 1m30.1s\nCREATE OR ALTER JOB long\n",
		"\n  SCHEDULE = EVERY 2 SECONDS STARTS", "\n  RETRY_BACKOFF = 0 SECONDS\n", "\n  TIMEOUT = 91 SECONDS\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// TestExportAsSQLDescribesIntervalsAsShowDoes compares the words of both.
func TestExportAsSQLDescribesIntervalsAsShowDoes(t *testing.T) {
	s := startServer(t)
	s.must("schedule create tick --type noop --every 5m")
	var tick struct{ Describe string }
	if err := json.Unmarshal([]byte(s.must("schedule show tick -o json")), &tick); err != nil {
		t.Fatal(err)
	}
	if text, want := s.must("export -o sql"), "\n-- the job runs "+tick.Describe+"; a job that this statement creates counts from its creation\n"; !strings.Contains(text, want) {
		t.Errorf("%q is missing in\n%s", want, text)
	}
}

// TestExportAsSQLCommentsWhatSQLCannotExpress writes a document with everything that CREATE JOB has no clause for.
func TestExportAsSQLCommentsWhatSQLCannotExpress(t *testing.T) {
	const document = `{"version": 1,
		"types": {"mail.send": {"paused": false}},
		"templates": {
			"digest": {"type": "mail.send", "state": "ACTIVE", "max_retries": 5, "jitter": 0.5, "webhooks": [{"url": "https://x.example"}], "concurrency_key": "k"},
			"idle": {"type": "noop", "state": "ACTIVE"},
			"deep": {"type": "a.b.c.d", "state": "ACTIVE"},
			"later": {"type": "call", "state": "ACTIVE", "default_params": {"procedure": "p", "args": [[1], {"a": 2}]}},
			"once": {"type": "noop", "state": "ARCHIVED"}},
		"schedules": {
			"a-digest": {"template": "digest", "state": "ENABLED", "cron": "0 5 * * *", "depends_on": ["once", "z-digest"], "scopes": [{"kind": "user", "id": "7"}]},
			"z-digest": {"template": "digest", "state": "ENABLED", "every": "1500ms", "anchor": "2026-01-01T00:00:00Z"},
			"deep": {"template": "deep", "state": "ENABLED", "cron": "0 5 * * *"},
			"later": {"template": "later", "state": "PAUSED", "cron": "0 5 * * *"},
			"ended": {"template": "once", "state": "DISABLED", "every": "1h", "starts_at": "2020-01-01T00:00:00Z", "ends_at": "2020-01-02T00:00:00Z"},
			"once": {"template": "once", "state": "DISABLED", "at": "2020-01-01T00:00:00Z", "description": "two\nlines"}},
		"limits": {"global": 5}, "webhooks": [{"url": "https://y.example"}]}`
	text, err := toSQL(json.RawMessage(document), time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n-- types left out, since no statement declares them: mail.send\n",
		"\n-- template idle is left out: no job uses it\n",
		"\n-- template digest: 2 jobs use it; this file gives each of them a template of its own\n",
		"\n-- the limits are left out: no statement sets them\n",
		"\n-- the webhooks of the server (1) are left out: no statement adds webhooks\n",
		"\n-- DEPENDS ON leaves out once, because this file does not create it\n",
		"\n-- the job uses template digest; the statement creates a template for this job alone\n",
		"\n-- left out, since no clause sets it: scopes (1), webhooks (1), jitter 0.5, concurrency_key \"k\"\n",
		"\n-- settings of the template, written as clauses of the job: MAX_RETRIES\n",
		"\n-- the template of the job is archived; the statement creates an active one\n",
		"\n-- job once is left out: its only fire time has passed\n-- CREATE OR ALTER JOB once\n",
		"\n-- job ended is left out: its last fire time has passed\n-- CREATE OR ALTER JOB ended\n",
		"\n-- job deep is left out: SQL cannot express it: the name of the procedure has more than three parts",
		"\n  WITH PARAMS '{\"args\":[[1],{\"a\":2}]}'\n  PAUSED\n  AS CALL p();\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	sources, err := ddl.Split(string(text))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range sources {
		statement, err := ddl.Parse(one.Text)
		if err != nil {
			t.Fatalf("%s: %v", one.Text, err)
		}
		names = append(names, statement.(*ddl.CreateJob).Name)
	}
	if got := strings.Join(names, " "); got != "z-digest a-digest later" {
		t.Errorf("the statements create %s; each job must come after those that it depends on", got)
	}
}

func TestExportAsSQLRefusesSecrets(t *testing.T) {
	s := startServer(t)
	if _, errs, code := s.run("export -o sql --secrets"); code != exitUsage || !strings.Contains(errs, "remove --secrets") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, errs, code := s.run("export -o xml"); code != exitUsage || !strings.Contains(errs, "yaml, json or sql") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, _, code := s.run("job list -o sql"); code != exitUsage {
		t.Errorf("rota job list -o sql exits with %d", code)
	}
}
