package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ownersServer starts a server with the users own and ada.
func ownersServer(t *testing.T, args ...string) *testServer {
	t.Helper()
	s := startServer(t, args...)
	for _, user := range []string{"own", "ada-x"} {
		s.must(`sql -c 'CREATE USER "` + user + `"'`)
	}
	return s
}

// owners lists the owners of all templates and schedules.
func (s *testServer) owners() string {
	s.t.Helper()
	var lines []string
	for _, kind := range []string{"template", "schedule"} {
		var page struct {
			Items []struct{ Name, Owner string }
		}
		if err := json.Unmarshal([]byte(s.must(kind+" list -o json")), &page); err != nil {
			s.t.Fatal(err)
		}
		for _, v := range page.Items {
			lines = append(lines, kind+" "+v.Name+" "+v.Owner)
		}
	}
	return strings.Join(lines, "\n")
}

// TestExportMovesOwners moves definitions of users as YAML, JSON and SQL to servers of both kinds of stores. A job that is
// moved by admin must not run with the rights of admin.
func TestExportMovesOwners(t *testing.T) {
	here := ownersServer(t)
	for _, line := range []string{
		"schedule create tj --type noop --cron '0 3 * * *'", "schedule create plain --type noop --every 1h --starts 2098-01-01T00:00:00Z",
		"schedule create other --type noop --cron '0 4 * * *' --depends-on tj",
		"template edit tj --owner own", "schedule edit tj --owner own",
		"template edit other --owner ada-x", "schedule edit other --owner ada-x",
	} {
		here.must(line)
	}
	if shown := here.must("schedule show tj") + here.must("template show other"); !strings.Contains(shown, "owner") || !strings.Contains(shown, "ada-x") {
		t.Errorf("show does not print the owner:\n%s", shown)
	}
	want := here.owners()
	if !strings.Contains(want, "template tj own") || !strings.Contains(want, "schedule other ada-x") || !strings.Contains(want, "template plain admin") {
		t.Fatal(want)
	}
	dir := t.TempDir()
	for _, format := range []string{"yaml", "json", "sql"} {
		here.must("export -o " + format + " " + filepath.Join(dir, "all."+format))
	}
	for name, args := range map[string][]string{"sqlite": nil, "postgres": {"--store", emptyDatabase(t)}} {
		t.Run(name, func(t *testing.T) {
			there := ownersServer(t, args...)
			for _, way := range []string{"import " + filepath.Join(dir, "all.yaml"), "import " + filepath.Join(dir, "all.json"), "sql -f " + filepath.Join(dir, "all.sql"), "psql"} {
				if way == "psql" {
					there.psql(filepath.Join(dir, "all.sql"))
				} else {
					there.must(way)
				}
				if got := there.owners(); got != want {
					t.Errorf("after %s\n%s\nwant\n%s", way, got, want)
				}
				if copied := there.must("export"); copied != here.must("export") {
					t.Errorf("after %s: %s", way, firstDifference(here.must("export"), copied))
				}
				for _, job := range []string{"other", "tj", "plain"} {
					there.must("sql -c 'DROP JOB " + job + "'")
				}
			}
		})
	}
}

// TestImportOfUnknownOwner: nothing is created, in any format, and the messages say what to do.
func TestImportOfUnknownOwner(t *testing.T) {
	here, there := ownersServer(t), startServer(t)
	here.must("schedule create tj --type noop --cron '0 3 * * *'")
	here.must("template edit tj --owner own")
	here.must("schedule edit tj --owner own")
	dir := t.TempDir()
	document, script := filepath.Join(dir, "all.yaml"), filepath.Join(dir, "all.sql")
	here.must("export " + document)
	here.must("export -o sql " + script)
	_, errs, code := there.run("import " + document)
	if code != exitUsage || !strings.Contains(errs, "templates.tj.owner: there is no user own") || !strings.Contains(errs, "rota user create own") || !strings.Contains(errs, "--owner USER") {
		t.Errorf("the import exits with %d: %s", code, errs)
	}
	if _, errs, code := there.run("sql -f " + script); code == exitDone || !strings.Contains(errs, "own") {
		t.Errorf("the SQL exits with %d: %s", code, errs)
	}
	if got := there.owners(); got != "" {
		t.Errorf("a refused import created\n%s", got)
	}
	there.must("sql -c 'CREATE USER bob'")
	if out := there.must("import --dry-run --owner bob " + document); !strings.Contains(out, "template tj, schedule tj: owner: bob (there is no user own)") {
		t.Error(out)
	}
	there.must("import --owner bob " + document)
	if got := there.owners(); got != "template tj bob\nschedule tj bob" {
		t.Error(got)
	}
}

// TestImportWithoutOwners imports a document that names none, and says who owns what it creates.
func TestImportWithoutOwners(t *testing.T) {
	s := startServer(t)
	file := filepath.Join(t.TempDir(), "old.yaml")
	if err := os.WriteFile(file, []byte("templates: {a: {type: noop}, b: {type: noop}, c: {type: noop}, d: {type: noop}, e: {type: noop}, f: {type: noop}, g: {type: noop}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"import --dry-run ", "import "} {
		if out := s.must(line + file); !strings.Contains(out, "template a, template b, template c, template d, template e, 2 more: owner: admin (not in the document)\n") {
			t.Errorf("%s prints %s", line, out)
		}
	}
}

// TestCrontabImportKeepsOwners changes the times of a line whose definitions belong to a user.
func TestCrontabImportKeepsOwners(t *testing.T) {
	s := ownersServer(t)
	apply := func(times string) {
		if _, errs, code := s.runWith("import crontab - --tz UTC --type noop --apply", terminal{}, map[string]string{"STDIN": times + " report\n"}); code != exitDone {
			t.Fatal(errs)
		}
	}
	apply("0 3 * * *")
	s.must("template edit report --owner own")
	s.must("schedule edit report --owner ada-x")
	s.must("grant EXECUTE_JOB --job report --to ada-x") // or the schedule could not be changed
	apply("0 4 * * *")
	if got := s.owners(); got != "template report own\nschedule report ada-x" || !strings.Contains(s.must("schedule show report"), "0 4 * * *") {
		t.Error(got)
	}
}

// TestExportAsSQLOfTwoOwners: SQL gives a job and its template one owner, that with whose rights the job runs.
func TestExportAsSQLOfTwoOwners(t *testing.T) {
	s := ownersServer(t)
	s.must("schedule create mixed --type noop --cron '0 3 * * *'")
	s.must("schedule edit mixed --owner own")
	text := s.must("export -o sql")
	if !strings.Contains(text, "\n-- the job belongs to own, and its template to admin; ") || strings.Contains(text, "OWNER TO") {
		t.Error(text)
	}
	s.must("template edit mixed --owner ada-x")
	if text = s.must("export -o sql"); !strings.Contains(text, "\nBEGIN;\nCREATE OR ALTER JOB mixed\n") || !strings.Contains(text, "\nALTER JOB mixed OWNER TO \"ada-x\";\nCOMMIT;\n") {
		t.Error(text)
	}
}
