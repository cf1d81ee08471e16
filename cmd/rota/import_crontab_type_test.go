package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota/api"
)

// TestImportWithoutTypeKeepsStoredType: an import without --type changes the times of a line and keeps the type that a worker
// runs, with the params of that type. A new line has the type exec and is paused.
func TestImportWithoutTypeKeepsStoredType(t *testing.T) {
	s := startServer(t)
	s.must("type put shell")
	file := filepath.Join(t.TempDir(), "jobs.cron")
	imports := func(text, flags string) string {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return s.must("import crontab " + file + " --tz UTC --apply " + flags)
	}
	imports("0 1 * * * backup --all\n", "--type shell --enable")
	before := s.must("template show backup -o json")
	if out := imports("0 1 * * * backup --all\n", ""); !strings.Contains(out, "1 unchanged") {
		t.Errorf("the same crontab changes something:\n%s", out)
	}
	out := imports("0 2 * * * backup --all\n0 3 * * * report\n", "")
	for _, want := range []string{"1 backup every day at 02:00, UTC", "changed: cron", "new exec, paused", "this server does not run programs until its"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if after := s.must("template show backup -o json"); after != before {
		t.Errorf("the template was\n%s\nand is\n%s", before, after)
	}
	if got := s.scheduleStates(); got["backup"] != "ENABLED" || got["report"] != "PAUSED" {
		t.Errorf("states %v", got)
	}

	// --type changes the type.
	imports("0 2 * * * backup --all\n", "--type exec")
	if got := s.must("template show backup"); !strings.Contains(got, `"args":["-c","backup --all"]`) {
		t.Errorf("--type exec leaves\n%s", got)
	}
	// A user gave the template another type without a command.
	s.must(`template edit backup --type sleep --params '{"for": "1s"}'`)
	out = imports("0 4 * * * backup --all\n", "")
	if got := s.must("template show backup"); !strings.Contains(got, `{"for":"1s"}`) || !strings.Contains(out, "its type sleep and its params are kept") {
		t.Errorf("the template is\n%s\nafter\n%s", got, out)
	}
}

// TestImportNamesLinesThatRunTwice: the report asks to remove the lines of enabled schedules whose type is run, and no others.
func TestImportNamesLinesThatRunTwice(t *testing.T) {
	s := startServer(t)
	s.must("type put shell")
	imports := func(text, flags string) string {
		t.Helper()
		out, errs, code := s.runWith("import crontab - --tz UTC --apply "+flags, terminal{}, map[string]string{"STDIN": text})
		if code != exitDone {
			t.Fatal(errs)
		}
		return out
	}
	const waits = "The schedules are stored. This server does not run jobs of type shell: the jobs of lines 2, 3 wait for a server or worker that does."
	if out := imports("# jobs\n0 1 * * * a\n0 1 * * * b\n", "--type shell --enable"); strings.Contains(out, "twice") || !strings.Contains(out, waits) {
		t.Errorf("without a worker:\n%s", out)
	}
	a := &app{environment: environment{getenv: func(name string) string { return map[string]string{"ROTA_DATA": s.data}[name] }}}
	if _, _, err := fetch[api.Claimed](context.Background(), a, newPost("/claim", map[string]any{"worker": "w", "types": []string{"shell"}, "limit": 1, "wait": "0s"})); err != nil {
		t.Fatal(err)
	}
	s.must("schedule pause b")
	out := imports("0 1 * * * a\n0 1 * * * b\n0 1 * * * c\n0 1 * * * d\n", "--type shell")
	if !strings.HasSuffix(out, "The schedules are stored: remove line 1 from the crontab, or the commands run twice.\n") { // c and d are new and paused
		t.Errorf("with a worker:\n%s", out)
	}
	s.must("schedule resume d")
	out = imports("0 1 * * * a\n0 1 * * * b\n0 1 * * * c\n0 2 * * * d\n", "")
	if !strings.HasSuffix(out, "The schedules are stored: remove lines 1, 4 from the crontab, or the commands run twice.\n") {
		t.Errorf("with a worker and two enabled schedules:\n%s", out)
	}
}
