package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (s *testServer) scheduleStates() map[string]string {
	s.t.Helper()
	var list struct {
		Items []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(s.must("schedule list -o json")), &list); err != nil {
		s.t.Fatal(err)
	}
	found := map[string]string{}
	for _, item := range list.Items {
		found[item.Name] = item.State
	}
	return found
}

// importer returns a function that imports a text as a file, always of the same path, on a machine.
func (s *testServer) importer() func(host, flags, text string) (out string, code int) {
	file := filepath.Join(s.t.TempDir(), "crontab")
	return func(host, flags, text string) (string, int) {
		s.t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
		out, errs, code := s.runWith("import crontab "+file+" --tz UTC --enable "+flags, terminal{}, map[string]string{"HOST": host})
		return out + errs, code
	}
}

// TestImportOnAnotherMachineIsAnotherSource: the same path on two machines is two crontabs. Neither import names, changes or
// disables the schedules of the other one.
func TestImportOnAnotherMachineIsAnotherSource(t *testing.T) {
	s := startServer(t)
	load := s.importer()
	load("web1", "--apply", "0 1 * * * backup\n0 2 * * * report\n")
	out, code := load("web2", "--apply --prune", "0 5 * * * backup\n0 6 * * * sync\n")
	if code != exitDone || strings.Contains(out, "removed") || !strings.Contains(out, "2 lines: 2 new, 0 changed") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	out, _ = load("web1", "--apply --prune", "0 1 * * * backup\n")
	got := s.scheduleStates()
	if len(got) != 4 || got["report"] != "DISABLED" || got["sync"] != "ENABLED" || got["backup"] != "ENABLED" || !strings.Contains(out, "1 unchanged") {
		t.Errorf("states %v after\n%s", got, out)
	}
	if out, _ = load("web2", "--apply", "0 5 * * * backup\n0 6 * * * sync\n"); !strings.Contains(out, "2 unchanged") {
		t.Errorf("a second import on web2:\n%s", out)
	}
	if out, code = load("web1", "--prune --source web2:/etc/crontab", ""); code != exitDone || strings.Contains(out, "removed") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// TestImportDoesNotPruneRecordsWithoutMachine: an earlier version recorded only the path, which may be that of another
// machine. A line with the same command takes the definition over; the others stay.
func TestImportDoesNotPruneRecordsWithoutMachine(t *testing.T) {
	s := startServer(t)
	file := filepath.Join(t.TempDir(), "crontab")
	if err := os.WriteFile(file, []byte("0 1 * * * backup\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"backup", "other"} {
		s.must("template create " + name + " --type exec --description 'from crontab " + file + `' --params '{"command": "/bin/sh", "args": ["-c", "` + name + `"]}'`)
		s.must("schedule create " + name + " --template " + name + " --cron '0 1 * * *'")
	}
	out := s.must("import crontab " + file + " --tz UTC --apply --prune")
	if got := s.scheduleStates(); len(got) != 2 || got["backup"] != "ENABLED" || got["other"] != "ENABLED" || strings.Contains(out, "removed") {
		t.Errorf("states %v after\n%s", got, out)
	}
	if got := s.must("template show backup"); !strings.Contains(got, "from crontab web1:"+file) {
		t.Errorf("the import does not record the machine:\n%s", got)
	}
}

// TestPruneWithoutMachineNameNeedsSource: without a name of the machine the path alone says nothing.
func TestPruneWithoutMachineNameNeedsSource(t *testing.T) {
	o := crontabOptions{prune: true}
	if err := o.check("", "/etc/crontab"); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "--source") {
		t.Error(err)
	}
	if err := o.check("web1", "/etc/crontab"); err != nil {
		t.Error(err)
	}
}

// TestImportReportsNoRemovalForRefusedLines: a line that is refused is not a line that is gone.
func TestImportReportsNoRemovalForRefusedLines(t *testing.T) {
	s := startServer(t)
	load := s.importer()
	load("web1", "--apply", "0 1 * * * backup\n0 2 * * * report\n")
	for _, flags := range []string{"--apply", "--apply --prune", "--apply --skip-refused"} {
		out, _ := load("web1", flags, "0 1 x * * backup\n0 2 * * * report\n")
		if strings.Contains(out, "removed") || !strings.Contains(out, "1 schedule of an earlier import is without a line: backup. The line is gone or refused") ||
			s.scheduleStates()["backup"] != "ENABLED" {
			t.Errorf("%s:\n%s", flags, out)
		}
	}
	if out, _ := load("web1", "--apply --prune", "0 2 * * * report\n"); !strings.Contains(out, "1 removed") {
		t.Errorf("the line is gone:\n%s", out)
	}
}

// TestEditedDescriptionKeepsTheSource: the source is in two descriptions; a user who edits one of them does not hide a
// removed line, and the edit stays. A schedule that a user created for an imported template is not a line.
func TestEditedDescriptionKeepsTheSource(t *testing.T) {
	s := startServer(t)
	load := s.importer()
	const three = "0 1 * * * backup\n0 2 * * * report\n0 3 * * * sync\n"
	load("web1", "--apply", three)
	s.must("template edit backup --description mine")
	s.must("schedule edit report --description mine")
	s.must("schedule create weekly --template sync --cron '0 4 * * 0'")
	if out, _ := load("web1", "--apply", three); !strings.Contains(out, "3 unchanged") {
		t.Errorf("an edit changes the import:\n%s", out)
	}
	out, _ := load("web1", "--apply --prune", "0 3 * * * sync\n")
	got := s.scheduleStates()
	if !strings.Contains(out, "2 removed") || got["backup"] != "DISABLED" || got["report"] != "DISABLED" || got["sync"] != "ENABLED" || got["weekly"] != "ENABLED" {
		t.Errorf("states %v after\n%s", got, out)
	}
	if !strings.Contains(s.must("template show backup"), "mine") || !strings.Contains(s.must("schedule show report"), "mine") {
		t.Error("the import changed a description that a user wrote")
	}
}
