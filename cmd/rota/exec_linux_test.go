package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
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

// TestRemoteWorkerRunsPrograms: the server leaves exec jobs to a worker in another process, and checks the rights of their users.
func TestRemoteWorkerRunsPrograms(t *testing.T) {
	s := startExecServer(t, "remote: true")
	if got := s.must("type show exec"); !regexp.MustCompile(`handled by +nothing`).MatchString(got) {
		t.Error(got)
	}
	s.must("user create runner --no-password")
	s.must("user create ada --no-password")
	token := strings.TrimSpace(s.must("token create --user runner --scope worker --type exec --expires 1d"))
	config := filepath.Join(t.TempDir(), "worker.yaml")
	if err := os.WriteFile(config, []byte("exec:\n  allow: [/bin/sh]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	worker := exec.Command(os.Args[0], "worker", "--types", "exec", "--config", config, "--url", strings.TrimSpace(serverURL(t, s)))
	worker.Env = []string{"ROTA_TEST_PROGRAM=1", "ROTA_TOKEN=" + token, "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	worker.Dir, worker.Stderr = t.TempDir(), &errs
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = worker.Process.Signal(syscall.SIGTERM)
		if err := worker.Wait(); err != nil {
			t.Errorf("the worker ended with %v:\n%s", err, &errs)
		}
		if files, err := os.ReadDir(worker.Dir); err != nil || len(files) > 0 {
			t.Errorf("the worker left files: %v %v", files, err)
		}
	})
	ended := func(state string) string {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if id := idShape.FindString(s.must("job list --type exec --state " + state + " -o json")); id != "" {
				return id
			}
			if time.Now().After(deadline) {
				t.Fatalf("no job is %s:\n%s\n%s", state, &errs, s.must("job list -o yaml"))
			}
		}
	}
	s.must(`job create exec --params '{"command": "/bin/sh", "args": ["-c", "echo from the worker"]}' --retries 0`)
	if log := s.must("job logs " + ended("completed")); log != "from the worker\n" {
		t.Errorf("the log is %q", log)
	}
	// The right is revoked while the job waits.
	s.must("grant EXECUTE_EXTERNAL_JOB,CREATE_JOB --to ada")
	s.must("type pause exec")
	ada := strings.TrimSpace(s.must("token create --user ada --scope write --expires 1d"))
	create := `job create exec --params '{"command": "/bin/sh"}' --retries 0`
	if out, errs, code := s.runWith(create, terminal{}, map[string]string{"ROTA_TOKEN": ada}); code != exitDone {
		t.Fatal(out, errs)
	}
	s.must("revoke EXECUTE_EXTERNAL_JOB --from ada")
	if out, errs, code := s.runWith(create, terminal{}, map[string]string{"ROTA_TOKEN": ada}); code != exitDenied {
		t.Errorf("a job of a user without the right is created: %d %s%s", code, out, errs)
	}
	s.must("type resume exec")
	if got := s.must("job show " + ended("failed")); !strings.Contains(got, "EXECUTE EXTERNAL JOB") {
		t.Error(got)
	}
}

func serverURL(t *testing.T, s *testServer) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.data, "rota.addr"))
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(string(text))
}
