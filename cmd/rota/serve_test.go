package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	zombie "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// startJob creates a job and waits until it runs.
func (s *testServer) startJob(line string) rota.ID {
	s.t.Helper()
	var job struct {
		ID    rota.ID
		State string
	}
	decode := func(text string) {
		if err := json.Unmarshal([]byte(text), &struct {
			ID    *rota.ID `json:"id"`
			State *string  `json:"state"`
		}{&job.ID, &job.State}); err != nil {
			s.t.Fatal(err, text)
		}
	}
	decode(s.must("job create " + line + " -o json"))
	for late := time.Now().Add(20 * time.Second); job.State != "running"; {
		if time.Now().After(late) {
			s.t.Fatalf("job %s is %s", job.ID, job.State)
		}
		decode(s.must("job show " + job.ID.String() + " -o json"))
	}
	return job.ID
}

// signal sends signals to the server, one after the other.
func (s *testServer) signal(signals ...os.Signal) {
	s.t.Helper()
	for _, one := range signals {
		if err := s.process.Process.Signal(one); err != nil {
			s.t.Fatal(err)
		}
	}
}

// exit waits for the end of the server and returns its exit code.
func (s *testServer) exit() int {
	s.t.Helper()
	late := time.AfterFunc(25*time.Second, func() { _ = s.process.Process.Kill() })
	defer late.Stop()
	var exit *exec.ExitError
	if err := s.process.Wait(); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return s.process.ProcessState.ExitCode()
}

// attempts reads the attempts of an execution from the store after the server has ended.
func (s *testServer) attempts(id rota.ID) []*rota.Job {
	s.t.Helper()
	store, err := sqlite.OpenWith(filepath.Join(s.data, "rota.db"), sqlite.Config{ReadOnly: true})
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	for v, err := range store.Verify(s.t.Context()) {
		s.t.Errorf("the store breaks %s: %s %v", v.Check, v.Detail, err)
	}
	attempts, err := store.Execution(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return attempts
}

func TestServeFirstSignalLetsJobsFinish(t *testing.T) {
	s := startServer(t)
	id := s.startJob("sleep -p for=500ms")
	s.signal(syscall.SIGTERM)
	if code := s.exit(); code != exitDone {
		t.Errorf("the server exits with %d:\n%s", code, s.errs)
	}
	if got := s.attempts(id)[0].State(); got != rota.StateCompleted {
		t.Errorf("the job that ran is %s", got)
	}
	if _, err := os.Stat(filepath.Join(s.data, "rota.addr")); err == nil {
		t.Error("rota.addr was not removed")
	}
}

func TestServeSecondSignalCancelsJobs(t *testing.T) {
	s := startServer(t)
	id := s.startJob("sleep -p for=1h")
	s.signal(syscall.SIGTERM, syscall.SIGINT)
	if code := s.exit(); code != exitDone {
		t.Errorf("the server exits with %d:\n%s", code, s.errs)
	}
	attempts := s.attempts(id)
	if len(attempts) != 2 || attempts[0].Run.ErrorCode != rota.CodeShutdown || attempts[1].State() != rota.StateQueued {
		t.Errorf("%d attempts, the first ended with %q; want it cancelled, and its retry queued for the next start", len(attempts), attempts[0].Run.ErrorCode)
	}
}

// TestServeThirdSignalExitsAtOnce locks the store, so that the server cannot record the end of the run and only the
// third signal ends it.
func TestServeThirdSignalExitsAtOnce(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("under nohup the server ignores SIGHUP, the third signal of this test")
	}
	s := startServer(t)
	id := s.startJob("sleep -p for=1h")
	conn, err := zombie.OpenConn(filepath.Join(s.data, "rota.db"), zombie.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if code := s.exit(); code != exitFailed {
		t.Errorf("the server exits with %d:\n%s", code, s.errs)
	}
	if err := sqlitex.ExecuteTransient(conn, "ROLLBACK", nil); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if got := s.attempts(id)[0].State(); got != rota.StateRunning {
		t.Errorf("the job is %s, although the store was locked", got)
	}
}

func TestServeRecoversAfterKill(t *testing.T) {
	s := startServer(t)
	id := s.startJob("sleep -p for=1h --backoff 1h")
	waits := s.must("job create noop --delay 1h")
	token, err := os.ReadFile(filepath.Join(s.data, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.process.Wait()
	if _, err := os.Stat(filepath.Join(s.data, "rota.addr")); err != nil {
		t.Error("rota.addr is missing after a kill:", err)
	}

	s.start()
	if again, err := os.ReadFile(filepath.Join(s.data, "admin.token")); err != nil || string(again) != string(token) {
		t.Errorf("the token changed: %v", err)
	}
	s.signal(syscall.SIGTERM)
	if code := s.exit(); code != exitDone {
		t.Fatalf("the server exits with %d:\n%s", code, s.errs)
	}
	attempts := s.attempts(id)
	if len(attempts) != 2 || attempts[0].State() != rota.StateFailed || attempts[1].State() != rota.StateScheduled {
		t.Errorf("%d attempts, the first %s; want it failed, and a retry scheduled", len(attempts), attempts[0].State())
	}
	if !strings.Contains(s.errs.String(), "not closed cleanly") {
		t.Errorf("the log does not mention the unclean end:\n%s\n%s", waits, s.errs)
	}
}

// serveOutput starts a server, reads its output up to a line with the prefix last, and stops it.
func serveOutput(t *testing.T, last string, args ...string) (out, errs string) {
	t.Helper()
	process := exec.Command(os.Args[0], append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	process.Env, process.Dir = []string{"ROTA_TEST_PROGRAM=1"}, t.TempDir()
	var log strings.Builder
	process.Stderr = &log
	pipe, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(20*time.Second, func() { _ = process.Process.Kill() })
	defer late.Stop()
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		out += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), last) {
			break
		}
	}
	_ = process.Process.Signal(os.Interrupt)
	if err := process.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, out, &log)
	}
	return out, log.String()
}

func TestServePrintsAddressesButNotToken(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	out, errs := serveOutput(t, "Stop", "--data", data)
	token, err := os.ReadFile(filepath.Join(data, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"is ready", "http://127.0.0.1:", data, filepath.Join(data, "admin.token"), "rota --data " + data + " job create", "Ctrl-C"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out+errs, strings.TrimSpace(string(token))) {
		t.Error("the token is printed")
	}
	if strings.Contains(out, "level=") || !strings.Contains(errs, "level=INFO msg=ready") {
		t.Errorf("the log is not on standard error alone:\n%s\n---\n%s", out, errs)
	}
}

func TestServeJSONOutput(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	out, errs := serveOutput(t, "}", "--data", data, "-o", "json", "--log-format", "json")
	var view serveView
	if err := json.Unmarshal([]byte(out), &view); err != nil || view.Data != data || !strings.HasPrefix(view.HTTP, "http://127.0.0.1:") {
		t.Errorf("%v\n%s", err, out)
	}
	for line := range strings.Lines(errs) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

// TestServeStartErrors checks the exit code and the message of each reason that prevents a start.
func TestServeStartErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, text := range map[string]string{
		"typo.yaml": "# mine\nwrokers: 4\n", "bad.yaml": "http: 127.0.0.1:0\nlease: soon\n", "garbage.db": strings.Repeat("no database ", 500),
		"file": "", "short/admin.token": "abc\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held := startServer(t)
	for _, row := range []struct {
		line string
		code int
		want []string
	}{
		{"serve extra", exitUsage, []string{"serve got 1 argument too many", "rota serve --help"}},
		{"serve --wrokers 4", exitUsage, []string{"unknown flag", "--help"}},
		{"serve --workers 0", exitUsage, []string{"rota: --workers: 0 is out of range", "hint: write a whole number from 1 to 10000"}},
		{"serve --http nowhere", exitUsage, []string{"--http", "HOST:PORT"}},
		{"serve --store dynamodb://table?pool=1s", exitUsage, []string{`unknown parameter "pool"`}},
		{"serve --store postgres:h/db", exitUsage, []string{"two slashes"}},
		{"serve --store postgres://u:hidden@127.0.0.1:1/db", exitUnavailable, []string{"127.0.0.1"}},
		{"serve --config typo.yaml", exitUsage, []string{"typo.yaml:2", "wrokers", "did you mean workers?"}},
		{"serve --config bad.yaml", exitUsage, []string{"bad.yaml:2: lease", "not a duration"}},
		{"serve --config missing.yaml", exitUsage, []string{"missing.yaml", "cannot be read"}},
		{"serve --token x", exitUsage, []string{"admin.token"}},
		{"serve --url x", exitUsage, []string{"--http"}},
		{"serve --http 127.0.0.1:0 --data short", exitUsage, []string{"short/admin.token", "3 characters"}},
		{"serve --http " + taken.Addr().String(), exitUnavailable, []string{taken.Addr().String(), "another program", "--http"}},
		{"serve --http 127.0.0.1:0 --data file", exitUnavailable, []string{"file", "not a directory", "--data"}},
		{"serve --http 127.0.0.1:0 --data " + held.data, exitUnavailable, []string{"held by", fmt.Sprint(held.process.Process.Pid)}},
		{"serve --http 127.0.0.1:0 --store sqlite:garbage.db", exitFailed, []string{"not an SQLite database"}},
	} {
		_, errs, code := runLine(row.line)
		if code != row.code {
			t.Errorf("rota %s exits with %d, want %d: %s", row.line, code, row.code, errs)
		}
		for _, want := range row.want {
			if !strings.Contains(errs, want) {
				t.Errorf("rota %s does not print %q: %s", row.line, want, errs)
			}
		}
		if strings.Contains(errs, "pw@") {
			t.Errorf("rota %s prints the password", row.line)
		}
	}
}
