package action

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/action/sandbox"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
)

// memoryLogs keeps the logs of runs.
type memoryLogs struct {
	mu   sync.Mutex
	text map[rota.ID]*strings.Builder
}

func (l *memoryLogs) Open(job *rota.Job) (engine.LogFile, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text[job.ID] == nil {
		l.text[job.ID] = &strings.Builder{}
	}
	return &memoryLog{l, job.ID}, nil
}

func (l *memoryLogs) of(id rota.ID) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text[id] == nil {
		return ""
	}
	return l.text[id].String()
}

type memoryLog struct {
	logs *memoryLogs
	id   rota.ID
}

func (f *memoryLog) Write(text []byte) (int, error) {
	f.logs.mu.Lock()
	defer f.logs.mu.Unlock()
	return f.logs.text[f.id].Write(text)
}
func (f *memoryLog) Close() error { return nil }
func (f *memoryLog) Path() string { return "" }

// commandEnv is an engine that runs programs.
type commandEnv struct {
	*testEnv
	logs *memoryLogs
}

// grace is short, so that the tests need not wait for programs that ignore SIGTERM.
const grace = 2 * time.Second

// newCommandEnv runs programs with the isolation. It skips the test where the system lacks a part of it.
func newCommandEnv(t *testing.T, config CommandConfig) *commandEnv {
	t.Helper()
	if _, err := sandbox.Probe(config.Isolation); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("skipped:", err)
	}
	config.CancelGrace = grace
	commands, _, err := OpenCommands(config)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	e := &commandEnv{&testEnv{T: t, store: store, client: rota.New(store), log: &logBuffer{}}, &memoryLogs{text: map[rota.ID]*strings.Builder{}}}
	reg := engine.NewRegistry()
	Register(reg, Config{Commands: commands})
	e.run(reg, engine.Config{Workers: 4, Logs: e.logs, CancelGrace: grace})
	return e
}

// start enqueues a program without retries.
func (e *commandEnv) start(p Exec, timeout time.Duration) rota.ID {
	e.Helper()
	job := rota.NewJob{Type: "exec", Params: rota.EncodeSpec(p), MaxRetries: new(0)}
	if timeout > 0 {
		job.Timeout = &timeout
	}
	return e.enqueue(job)
}

func (e *commandEnv) exec(p Exec) *rota.Job {
	e.Helper()
	return e.waitEnded(e.start(p, 0))
}

func shell(script string) Exec { return Exec{Command: "/bin/sh", Args: []string{"-c", script}} }

// eachCommandIsolation runs a test with each isolation.
func eachCommandIsolation(t *testing.T, test func(*testing.T, CommandConfig)) {
	for _, isolation := range []sandbox.Isolation{sandbox.Full, sandbox.Landlock, sandbox.None} {
		t.Run(string(isolation), func(t *testing.T) {
			test(t, CommandConfig{CommandRules: CommandRules{Isolation: isolation, Allow: []string{"/bin"}}})
		})
	}
}

func TestCommandCompletesWithOutputAndResult(t *testing.T) {
	eachCommandIsolation(t, func(t *testing.T, config CommandConfig) {
		e := newCommandEnv(t, config)
		for _, c := range []struct {
			p                   Exec
			code, log, result   string
			exitCode, errorCode any
		}{
			{p: Exec{Command: "/bin/true"}},
			{p: Exec{Command: "true"}},
			{p: shell(`echo out; echo err >&2; echo '{"rows": 7}'`), log: "out\n", result: `{"rows":7}`},
			{p: shell(`echo err >&2`), log: "err\n"},
			{p: shell(`echo '[1]'; echo '{"rows": 7} '; echo`), result: `{"rows":7}`},
			{p: shell(`echo '{"rows": 7}'; echo done`), log: "done\n"},
			{p: shell(`echo '{"last": 1}'; echo '"fd"' >&$ROTA_RESULT_FD`), result: `"fd"`},
			{p: Exec{Command: "/bin/cat", Stdin: "from stdin\n"}, log: "from stdin\n"},
			{p: Exec{Command: "/bin/echo", Args: []string{"a  b", "$HOME", "*"}}, log: "a  b $HOME *\n"},
			{p: Exec{Command: "/bin/pwd", Dir: "/usr"}, log: "/usr\n"},
			{p: shell(`test -d "$TMPDIR" && echo x > "$TMPDIR/x" && cat "$TMPDIR/x"`), log: "x\n"},
			{p: Exec{Command: "/bin/sh", Args: []string{"-c", `echo "$TZ $SHELL $LANG"`}, Env: map[string]string{"TZ": "Asia/Tokyo"}}, log: "Asia/Tokyo /bin/sh C.UTF-8\n"},
		} {
			job := e.exec(c.p)
			if job.Run.Outcome != rota.OutcomeCompleted || job.Run.ExitCode == nil || *job.Run.ExitCode != 0 {
				t.Fatalf("%+v: %s %s %s", c.p, job.Run.Outcome, job.Run.ErrorCode, job.Run.Error)
			}
			if got := string(job.Run.Result); got != c.result {
				t.Errorf("%+v: result %s", c.p, got)
			}
			if !strings.Contains(e.logs.of(job.ID), c.log) {
				t.Errorf("%+v: log %q", c.p, e.logs.of(job.ID))
			}
		}
	})
}

func TestCommandFailsWithCode(t *testing.T) {
	e := newCommandEnv(t, CommandConfig{CommandRules: CommandRules{Allow: []string{"/bin", "/usr/bin"}}})
	for _, c := range []struct {
		p         Exec
		code, why string
		exit      int
	}{
		{shell("exit 3"), codeExit, "exit code 3", 3},
		{shell("kill -9 $$"), codeSignal, "signal 9", -1},
		{Exec{Command: "/bin/no-such-program"}, codeNotFound, "does not exist", 0},
		{Exec{Command: "no-such-program"}, codeNotFound, "not found in PATH", 0},
		{Exec{Command: "/sbin/init"}, codeRefusedExec, "not in allow", 0},
		{Exec{Command: "bin/true"}, codeRefusedExec, "absolute", 0},
		{Exec{Command: "/bin/true", Env: map[string]string{"LD_PRELOAD": "/tmp/x.so"}}, codeRefusedExec, "LD_PRELOAD", 0},
		{Exec{Command: "/bin/true", Env: map[string]string{"PYTHONPATH": "/tmp"}}, codeRefusedExec, "PYTHONPATH", 0},
		{Exec{Command: "/bin/true", Env: map[string]string{"A=B": "c"}}, codeParams, "A=B", 0},
		{Exec{Command: "/bin/true", User: "no-such-account"}, codeRefusedExec, "no-such-account", 0},
		{Exec{Command: "/bin/true", Dir: "relative"}, codeParams, "absolute", 0},
		{Exec{Command: "/bin/true", Dir: "/no/such/directory"}, codeStart, "/no/such/directory", 0},
	} {
		job := e.exec(c.p)
		if job.Run.Outcome != rota.OutcomeFailed || job.Run.ErrorCode != c.code || !strings.Contains(job.Run.Error, c.why) {
			t.Errorf("%+v: %s %q %s", c.p, job.Run.Outcome, job.Run.ErrorCode, job.Run.Error)
		}
		if c.exit != 0 && (job.Run.ExitCode == nil || *job.Run.ExitCode != c.exit) {
			t.Errorf("%+v: exit code %v", c.p, job.Run.ExitCode)
		}
	}
}

func TestCommandEnvironmentHasNothingOfServer(t *testing.T) {
	t.Setenv("ROTA_ADMIN_TOKEN", "the token of the server")
	t.Setenv("SECRET_OF_SERVER", "hunter2")
	e := newCommandEnv(t, CommandConfig{CommandRules: CommandRules{Allow: []string{"/usr/bin/env", "/bin/env"}, Env: []string{"TARGET", "FIXED=1"}}})
	job := e.exec(Exec{Command: "env", Env: map[string]string{"TARGET": "web1", "PATH": "/bin"}})
	var names []string
	for line := range strings.Lines(e.logs.of(job.ID)) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	want := "FIXED HOME LANG LOGNAME PATH SHELL TARGET TMPDIR ROTA_RESULT_FD"
	if os.Getenv("TZ") != "" {
		want = "FIXED HOME LANG LOGNAME PATH SHELL TARGET TMPDIR TZ ROTA_RESULT_FD"
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s\n%s", got, e.logs.of(job.ID))
	}
	if job := e.exec(Exec{Command: "env", Env: map[string]string{"FIXED": "2"}}); job.Run.ErrorCode != codeRefusedExec {
		t.Errorf("%s: %s", job.Run.ErrorCode, job.Run.Error)
	}
}

// stubborn ignores SIGTERM, and starts a process in a session of a session. Both write their process number and the mark.
func stubborn(mark string) Exec {
	return shell(`trap "" TERM; setsid sh -c 'setsid sleep 987` + mark + ` & sleep 987` + mark + `' & sleep 987` + mark)
}

// marked returns the processes of the machine that have an argument.
func marked(t *testing.T, mark string) (pids []int) {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(text), "sleep\x00") && strings.Contains(string(text), mark) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestNothingSurvivesTimeoutOrCancel(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("skipped:", err)
	}
	eachCommandIsolation(t, func(t *testing.T, config CommandConfig) {
		e := newCommandEnv(t, config)
		for i, end := range []string{"timeout", "cancel"} {
			mark := fmt.Sprintf("%d%d", os.Getpid(), i)
			timeout := time.Duration(0)
			if end == "timeout" {
				timeout = 3 * time.Second
			}
			id := e.start(stubborn(mark), timeout)
			for deadline := time.Now().Add(waitMax); len(marked(t, mark)) < 3; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("the program did not start: %s", e.log)
				}
			}
			if end == "cancel" {
				if _, err := e.client.Cancel(context.Background(), id, ""); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			job := e.waitEnded(id)
			if job.Run.Outcome != rota.OutcomeCancelled || job.Run.ExitCode == nil {
				t.Errorf("%s: %+v", end, job.Run)
			}
			if left := marked(t, mark); len(left) > 0 {
				t.Errorf("%s: processes %v survived", end, left)
			}
			t.Logf("%s: ended %v after that", end, time.Since(began).Round(time.Millisecond))
		}
	})
}

func TestProgramThatEndsBySIGTERMIsNotCompleted(t *testing.T) {
	e := newCommandEnv(t, CommandConfig{CommandRules: CommandRules{Allow: []string{"/bin"}}})
	job := e.waitEnded(e.start(shell(`trap 'echo stopping; exit 0' TERM; while :; do sleep 0.05; done`), 2*time.Second))
	if job.Run.Outcome != rota.OutcomeCancelled || job.Run.ErrorCode != rota.CodeTimeout || *cmp.Or(job.Run.ExitCode, new(9)) != 0 || !strings.Contains(e.logs.of(job.ID), "stopping") {
		t.Errorf("%+v %s", job.Run, e.logs.of(job.ID))
	}
}

func TestOutputFloodIsCappedAndDelaysNoOtherJob(t *testing.T) {
	const limit = 100 << 10
	e := newCommandEnv(t, CommandConfig{CommandRules: CommandRules{Allow: []string{"/bin"}, Output: limit}})
	flood := e.start(shell(`while :; do cat /bin/sh; done`), 5*time.Second)
	for i := range 5 {
		if job := e.exec(Exec{Command: "/bin/echo", Args: []string{strconv.Itoa(i)}}); job.Run.Outcome != rota.OutcomeCompleted {
			t.Errorf("%+v", job.Run)
		}
	}
	e.waitEnded(flood)
	text := e.logs.of(flood)
	if len(text) < limit || len(text) > limit+200 || !strings.Contains(text, "longer than 102400 bytes") {
		t.Errorf("%d bytes: %q", len(text), text[max(0, len(text)-100):])
	}
}

func TestTemporaryDirectoryIsRemoved(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	e := newCommandEnv(t, CommandConfig{CommandRules: CommandRules{Allow: []string{"/bin"}, Isolation: sandbox.None}})
	job := e.exec(shell(`echo x > $TMPDIR/file; chmod 500 $TMPDIR; echo $TMPDIR`))
	if !strings.HasPrefix(e.logs.of(job.ID), temporary) {
		t.Errorf("TMPDIR is %s", e.logs.of(job.ID))
	}
	if left, err := filepath.Glob(filepath.Join(temporary, "*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func TestCommandRunsAsConfiguredUser(t *testing.T) {
	config := CommandConfig{CommandRules: CommandRules{Allow: []string{"/usr/bin/id", "/bin/id"}, Users: []string{"nobody", "daemon"}}}
	if os.Geteuid() != 0 {
		commands := &Commands{config: config.withDefaults()}
		if _, _, err := commands.policy(&Exec{User: "root"}, CommandRules{}); err == nil || !strings.Contains(err.Error(), "runs as root") {
			t.Error(err)
		}
		t.Skip("skipped: the rest needs root")
	}
	e := newCommandEnv(t, config)
	for asked, want := range map[string]string{"": "nobody", "daemon": "daemon", "root": ""} {
		job := e.exec(Exec{Command: "id", Args: []string{"-un"}, User: asked})
		if got := strings.TrimSpace(e.logs.of(job.ID)); got != want || (want == "") != (job.Run.ErrorCode == codeRefusedExec) {
			t.Errorf("%q: %q, %s", asked, got, job.Run.Error)
		}
	}
}

func TestRulesOfJobsAndRolesAreStricter(t *testing.T) {
	dir := t.TempDir()
	section := CommandRules{
		Allow: []string{"/bin", "/usr/bin"}, Read: []string{"/usr", "/bin", "/lib*"}, Write: []string{dir}, Env: []string{"A", "B", "C=1"},
		Users: []string{"nobody", "daemon"}, Network: new(true), Memory: 1000, Processes: 10, Isolation: sandbox.Landlock,
	}
	for field, looser := range map[string]CommandRules{
		"allow": {Allow: []string{"/sbin"}}, "read": {Read: []string{"/"}}, "write": {Write: []string{"/etc"}}, "env": {Env: []string{"D"}},
		"user": {Users: []string{"root"}}, "memory": {Memory: 1001}, "processes": {Processes: 11}, "isolation": {Isolation: sandbox.None},
		"output": {Output: 11 << 20},
	} {
		var refusal *rota.Error
		err := CommandConfig{CommandRules: section, Jobs: map[string]CommandRules{"x": looser}}.Check()
		if !errors.As(err, &refusal) || refusal.Field != "exec.jobs.x."+field {
			t.Errorf("%s: %v", field, err)
		}
	}
	config := CommandConfig{
		CommandRules: section,
		Jobs:         map[string]CommandRules{"backup": {Allow: []string{"/bin/true", "/usr/bin/false"}, Env: []string{"A"}, Memory: 500}},
		Roles:        map[string]CommandRules{"interns": {Allow: []string{"/bin"}, Network: new(false), Isolation: sandbox.Full, Write: []string{dir + "/sub"}, Users: []string{"daemon"}}},
	}
	if err := config.Check(); err != nil {
		t.Fatal(err)
	}
	rules, err := config.rulesOf([]string{"backup"}, []string{"ada", "interns"})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(rules)
	want := `{"Allow":["/bin/true"],"Read":["/usr","/bin","/lib*"],"Write":["` + dir + `/sub"],"Dir":"","Env":["C=1","A"],"Users":["daemon"],` +
		`"Network":false,"Memory":500,"CPU":0,"Processes":10,"Output":0,"Isolation":"full"}`
	if sorted := strings.Replace(string(got), `["A","C=1"]`, `["C=1","A"]`, 1); sorted != want {
		t.Errorf("%s\n%s", got, want)
	}
	if err := os.Symlink("/etc", dir+"/sub"); err != nil {
		t.Fatal(err)
	}
	if _, err := config.rulesOf(nil, []string{"interns"}); err == nil || !strings.Contains(err.Error(), "leads to /etc") {
		t.Errorf("a link out of the section: %v", err)
	}
}

func TestServerFilesAreHidden(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "master.key")
	if err := os.WriteFile(secret, []byte("the key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for isolation, readable := range map[sandbox.Isolation]bool{sandbox.Full: false, sandbox.Landlock: false, sandbox.None: true} {
		t.Run(string(isolation), func(t *testing.T) {
			e := newCommandEnv(t, CommandConfig{Hidden: []string{secret}, CommandRules: CommandRules{
				Allow: []string{"/bin"}, Read: append(sandbox.DefaultRead(), dir), Isolation: isolation,
			}})
			job := e.exec(Exec{Command: "/bin/cat", Args: []string{secret}})
			if got := strings.Contains(e.logs.of(job.ID), "the key"); got != readable {
				t.Errorf("the program read the key: %v", got)
			}
		})
	}
}

// TestCommandNeedsRightWhenItRuns: the right is granted and revoked between the creation of a job and its run.
func TestCommandNeedsRightWhenItRuns(t *testing.T) {
	commands, _, err := OpenCommands(CommandConfig{
		CommandRules: CommandRules{Allow: []string{"/bin"}, Isolation: sandbox.None, Output: 100},
		Roles:        map[string]CommandRules{"interns": {Allow: []string{"/bin/true"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &usersEnv{}
	w.testEnv = newTestEnv(t, func(reg *engine.Registry, store rota.Store) {
		w.faults = &faultyStore{Store: store}
		w.directory = access.NewDirectory(w.faults, nil)
		t.Cleanup(w.directory.Close)
		Register(reg, Config{Access: w.directory, Commands: commands})
	})
	w.principal(rota.KindRole, "interns")
	w.principal(rota.KindUser, "ada")
	w.principal(rota.KindUser, "ben", "interns")
	run := func(user string, p Exec) *rota.Job {
		return w.waitEnded(w.enqueueAs(user, rota.NewJob{Type: "exec", Params: rota.EncodeSpec(p), MaxRetries: new(0)}))
	}
	program := Exec{Command: "/bin/true"}
	w.checkFailed(run("ada", program), codeDenied, "EXECUTE EXTERNAL JOB", "GRANT EXECUTE EXTERNAL JOB TO ada")
	external := []rota.Privilege{rota.ExecuteExternalJob}
	w.must(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{"ada", "ben"}, Privileges: external})
	for _, user := range []string{"ada", "ben", "admin"} {
		if job := run(user, program); job.Run.Outcome != rota.OutcomeCompleted {
			t.Errorf("%s: %s %s", user, job.Run.ErrorCode, job.Run.Error)
		}
	}
	w.checkFailed(run("ben", Exec{Command: "/bin/echo"}), codeRefusedExec, "not in allow")
	held := w.enqueueAs("ada", rota.NewJob{Type: "exec", Params: rota.EncodeSpec(program), MaxRetries: new(0), RunAt: time.Now().Add(24 * time.Hour)})
	w.must(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{"ada"}, Privileges: external, Revoke: true})
	w.checkFailed(w.release(held), codeDenied, "EXECUTE EXTERNAL JOB")
	w.checkFailed(run("nobody-of-this-name", program), codeDenied)
}
