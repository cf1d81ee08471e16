package main

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/action/sandbox"
	"github.com/rotajobs/rota/node"
)

// startExecServer starts a server that runs programs with the section. It skips the test where the machine cannot isolate them.
func startExecServer(t *testing.T, section string) *testServer {
	t.Helper()
	if _, err := sandbox.Probe(sandbox.Full); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("skipped:", err)
	}
	file := filepath.Join(t.TempDir(), "rota.yaml")
	if err := os.WriteFile(file, []byte("exec:\n  "+section+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return startServer(t, "--config", file)
}

func ownName(t *testing.T) string {
	t.Helper()
	own, err := user.Current()
	if err != nil {
		t.Skip("skipped:", err)
	}
	return own.Username
}

// TestCrontabRunsTheSameDay imports a crontab, and a line of it runs at its minute.
func TestCrontabRunsTheSameDay(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it waits for the next minute")
	}
	s := startExecServer(t, "allow: [/bin/sh]")
	own := ownName(t)
	file := filepath.Join(t.TempDir(), "crontab")
	text := "# m h dom mon dow user command\nMAILTO=ops@example.com\n" +
		"* * * * * " + own + " echo \"runs as $(id -un) in $LOGNAME with $SHELL\" | tr a-z A-Z; echo '{\"rows\": 3}'\n" +
		"30 2 * * * " + own + " /usr/local/bin/backup --all\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := s.must("import crontab " + file + " --system --tz UTC --apply")
	for _, want := range []string{"new exec", "/bin/sh -c", "rota webhook add URL --event job.dead", "the commands run twice"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "PAUSED") || strings.Contains(out, "paused") {
		t.Errorf("a schedule is paused:\n%s", out)
	}
	if got := s.must("type show exec"); !regexp.MustCompile(`handled by +server`).MatchString(got) {
		t.Error(got)
	}
	want := strings.ToUpper("runs as " + own + " in " + own + " with /bin/sh")
	deadline := time.Now().Add(2 * time.Minute)
	for ; ; time.Sleep(time.Second) {
		jobs := s.must("job list --type exec --state completed -o json")
		if id := idShape.FindString(jobs); id != "" {
			if log := s.must("job logs " + id); !strings.Contains(log, want) {
				t.Errorf("the log is %q", log)
			}
			if job := s.must("job show " + id); !strings.Contains(job, `{"rows":3}`) || !regexp.MustCompile(`exit code +0`).MatchString(job) {
				t.Error(job)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no job has completed:\n%s\n%s", s.must("job list -o yaml"), s.errs)
		}
	}
}

// TestImportRefusesWhatTheServerWouldRefuse covers lines of another user on a server without root, and variables of the loader.
func TestImportRefusesWhatTheServerWouldRefuse(t *testing.T) {
	s := startExecServer(t, "allow: [/bin/sh]")
	file := filepath.Join(t.TempDir(), "crontab")
	text := "0 1 * * * nobody true\nLD_PRELOAD=/tmp/x.so\n0 2 * * * " + ownName(t) + " true\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code := s.run("import crontab " + file + " --system --tz UTC --apply")
	if code != exitNotClean || !strings.Contains(out, "line 3: refused: no job can set LD_PRELOAD of line 2") {
		t.Errorf("%d\n%s", code, out)
	}
	if other := strings.Contains(out, "line 1: refused: cron runs the command as nobody, but this server runs programs as"); other == (os.Geteuid() == 0) {
		t.Errorf("a line of another user is refused: %v\n%s", other, out)
	}
}

// TestSetupProposesASectionThatRunsTheCrontab starts a server with the proposed section.
func TestSetupProposesASectionThatRunsTheCrontab(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crontab")
	if err := os.WriteFile(file, []byte("TARGET=web1\n0 1 * * * /usr/bin/env > /opt/out/log\n0 2 * * * curl -s https://example.org\n@reboot x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code := (&testServer{t: t}).run("exec setup --from-crontab " + file)
	for _, want := range []string{
		"exec:\n", "  allow: ['/bin/sh']\n", "  write: ['/opt/out']\n", "  env: ['TARGET']\n", "need a network: curl, https://\n  network: true\n", "(without 1 line that cannot",
	} {
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("%d: no %q in\n%s", code, want, out)
		}
	}
	config := filepath.Join(t.TempDir(), "rota.yaml")
	if err := os.WriteFile(config, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Load(config, func(string) string { return "" }); err != nil {
		t.Error(err)
	}
}

// TestCreateJobAsExec runs a job that an SQL statement created, and creates it again from its export.
func TestCreateJobAsExec(t *testing.T) {
	s := startExecServer(t, "allow: [/bin/echo, /usr/bin/echo]")
	file := filepath.Join(t.TempDir(), "create.sql")
	text := "CREATE JOB hello SCHEDULE CRON '30 2 * * *' AS EXEC '/bin/echo --all ''a  b'' it\\''s \"x y\"';"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := s.must("sql -f " + file); strings.Contains(out, "NOTICE") {
		t.Error(out)
	}
	echoes := func() {
		t.Helper()
		s.must("sql -c 'EXECUTE JOB hello'")
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
			if id := idShape.FindString(s.must("job list --type exec --state completed -o json")); id != "" {
				if log := s.must("job logs " + id); !strings.Contains(log, "--all a  b it's x y\n") {
					t.Errorf("the log is %q", log)
				}
				return
			}
			if time.Now().After(deadline) {
				t.Fatal(s.must("job list -o yaml"))
			}
		}
	}
	echoes()
	export := s.must("export -o sql")
	if err := os.WriteFile(file, []byte(export), 0o600); err != nil {
		t.Fatal(err)
	}
	before := s.must("template show hello -o json")
	s.must("sql -c 'DROP JOB hello'")
	s.must("sql -f " + file)
	fields := regexp.MustCompile(`"args": \[[^]]*\]`)
	if after := s.must("template show hello -o json"); fields.FindString(after) == "" || fields.FindString(after) != fields.FindString(before) {
		t.Errorf("%s\n%s\n%s", before, export, after)
	}
	echoes()
}
