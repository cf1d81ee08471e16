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
	"slices"
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

// TestLogSaysWhyNoResultIsStored: the run completes without it.
func TestLogSaysWhyNoResultIsStored(t *testing.T) {
	e := newCommandEnv(t, CommandConfig{CommandRules: CommandRules{Isolation: sandbox.None, Allow: []string{"/bin"}}})
	for script, want := range map[string]string{
		`echo hello >&$ROTA_RESULT_FD`:                                     "it is not JSON: byte 1: invalid character 'h'",
		`echo '{"a":' >&$ROTA_RESULT_FD`:                                   "it is not JSON: byte 5: unexpected end",
		`printf '"%070000d"' 1 >&$ROTA_RESULT_FD`:                          "it is longer than 65536 bytes as JSON; write a file",
		`printf '"%020000d"' 1 | tr 0 '<' >&$ROTA_RESULT_FD`:               "it is longer than 65536 bytes as JSON; write a file",
		`printf '"%0200000d"' 1 >&$ROTA_RESULT_FD; echo '{"not": "used"}'`: "it is longer than 65536 bytes as JSON; write a file",
	} {
		job := e.exec(shell(script))
		if log := e.logs.of(job.ID); job.Run.Outcome != rota.OutcomeCompleted || job.Run.Result != nil || !strings.Contains(log, want) || strings.Contains(log, "json:") {
			t.Errorf("%s: %s %s\n%.400s", script, job.Run.Outcome, job.Run.Result, log)
		}
	}
}

// TestFailureNamesDirOutsideRead: the directory exists, but the program does not see it.
func TestFailureNamesDirOutsideRead(t *testing.T) {
	e := newCommandEnv(t, CommandConfig{CommandRules: CommandRules{Isolation: sandbox.Full, Allow: []string{"/bin"}}})
	const why = "neither read nor write of the section exec contains it"
	for dir, want := range map[string]bool{t.TempDir(): true, "/srv/gone": false} {
		job := e.exec(Exec{Command: "/bin/true", Dir: dir})
		if job.Run.ErrorCode != codeStart || strings.Contains(job.Run.Error, why) != want {
			t.Errorf("%s: %s %s", dir, job.Run.ErrorCode, job.Run.Error)
		}
	}
}

// TestMissingReadPathFailsNoRun: a program can read nothing from it anyway.
func TestMissingReadPathFailsNoRun(t *testing.T) {
	eachCommandIsolation(t, func(t *testing.T, config CommandConfig) {
		config.Read = []string{"/usr", "/bin", "/lib*", "/etc", "/srv/gone"}
		config.Jobs = map[string]CommandRules{"nightly": {Read: []string{"/usr", "/bin", "/lib*", "/srv/gone/a"}}}
		if job := newCommandEnv(t, config).exec(shell("true")); job.Run.Outcome != rota.OutcomeCompleted {
			t.Error(job.Run.Outcome, job.Run.Error)
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

// TestCommandFailureNamesTheCause: the program as the job named it, whose section refuses it, and the interpreter of a script.
func TestCommandFailureNamesTheCause(t *testing.T) {
	dir, err := os.MkdirTemp("/opt", "rota-scripts-")
	if err != nil {
		t.Skip("skipped:", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"gone": "#!/no/such/interpreter -x\n", "plain": "echo a\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	e := newCommandEnv(t, CommandConfig{Owner: "the worker w1", CommandRules: CommandRules{Allow: []string{dir}, Read: append(sandbox.DefaultRead(), dir)}})
	for command, want := range map[string]string{
		dir + "/gone": "interpreter /no/such/interpreter, which does not exist", dir + "/plain": "as in #!/bin/sh", "sh": "sh: ", "/bin/sh": "/bin/sh: ",
		"/bin/true": "(the section exec of the worker w1 decides)",
	} {
		job := e.exec(Exec{Command: command})
		if !strings.Contains(job.Run.Error, want) || strings.HasSuffix(want, ": ") && !strings.HasPrefix(job.Run.Error, want) {
			t.Errorf("%s: %s %s", command, job.Run.ErrorCode, job.Run.Error)
		}
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
	flood := e.start(Exec{Command: "/bin/cat", Args: []string{"/dev/zero"}}, 0) // as fast as a pipe takes it
	for deadline := time.Now().Add(waitMax); len(e.logs.of(flood)) < limit; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the flood has not begun: %s", e.log)
		}
	}
	for i := range 20 {
		if job := e.exec(Exec{Command: "/bin/echo", Args: []string{strconv.Itoa(i)}}); job.Run.Outcome != rota.OutcomeCompleted {
			t.Errorf("%+v", job.Run)
		}
	}
	if job, err := e.store.Job(context.Background(), flood); err != nil || job.State() != rota.StateRunning {
		t.Fatalf("the flood does not run any more: %+v, %v", job, err)
	}
	if _, err := e.client.Cancel(context.Background(), flood, ""); err != nil {
		t.Fatal(err)
	}
	e.waitEnded(flood)
	text := e.logs.of(flood)
	if len(text) < limit || len(text) > limit+200 || !strings.Contains(text, "longer than 102400 bytes") {
		t.Errorf("%d bytes: %q", len(text), text[max(0, len(text)-100):])
	}
}

// TestProcessorLimitEndsProgram: without a controller the limit is processors × timeout.
func TestProcessorLimitEndsProgram(t *testing.T) {
	rules := CommandRules{Allow: []string{"/bin"}, CPU: 0.01}
	if warnings, err := sandbox.Probe(sandbox.Full); err == nil && !strings.Contains(strings.Join(warnings, "\n"), "cpu: no cgroup controller") {
		t.Skip("skipped: a cgroup controller slows the program down")
	}
	e := newCommandEnv(t, CommandConfig{CommandRules: rules})
	job := e.waitEnded(e.start(shell(`while :; do :; done`), 50*time.Second))
	if job.Run.ErrorCode != codeLimit || !strings.Contains(job.Run.Error, "limit of cpu") {
		t.Errorf("%s %s", job.Run.ErrorCode, job.Run.Error)
	}
}

// TestWritableProgramIsRefused: a program that another job could have replaced.
func TestWritableProgramIsRefused(t *testing.T) {
	dir, err := os.MkdirTemp("/opt", "rota-exec-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	rules := CommandRules{Allow: []string{dir + "/bin"}, Write: []string{dir}, Isolation: sandbox.Landlock}
	if _, _, err := OpenCommands(CommandConfig{CommandRules: rules}); err == nil || !strings.Contains(err.Error(), "could replace what jobs may name") {
		t.Error(err)
	}
	rules.Isolation = sandbox.None
	if _, _, err := OpenCommands(CommandConfig{CommandRules: rules}); err != nil {
		t.Errorf("without isolation: %v", err)
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
		Users: []string{"nobody", "daemon"}, Network: new(true), Memory: 10 << 20, Processes: 10, Isolation: sandbox.Landlock,
	}
	for field, looser := range map[string]CommandRules{
		"allow": {Allow: []string{"/sbin"}}, "read": {Read: []string{"/"}}, "write": {Write: []string{"/etc"}}, "env": {Env: []string{"D"}},
		"user": {Users: []string{"root"}}, "memory": {Memory: 10<<20 + 1}, "processes": {Processes: 11}, "isolation": {Isolation: sandbox.None},
		"output": {Output: 11 << 20},
	} {
		var refusal *rota.Error
		err := CommandConfig{CommandRules: section, Jobs: map[string]CommandRules{"x": looser}}.Check()
		if !errors.As(err, &refusal) || refusal.Field != "exec.profiles.jobs.x."+field {
			t.Errorf("%s: %v", field, err)
		}
	}
	config := CommandConfig{
		CommandRules: section,
		Jobs:         map[string]CommandRules{"backup": {Allow: []string{"/bin/true", "/usr/bin/false"}, Env: []string{"A"}, Memory: 5 << 20}},
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
		`"Network":false,"Memory":5242880,"CPU":0,"Processes":10,"Output":0,"Isolation":"full"}`
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

// TestProfilesWithoutCommonAccountRunNothing: an empty list of accounts must not mean that of the server, which may be root.
func TestProfilesWithoutCommonAccountRunNothing(t *testing.T) {
	section := CommandRules{Allow: []string{"/usr/bin/id", "/bin/id"}, Users: []string{"nobody", "daemon"}}
	for _, c := range []CommandConfig{
		{CommandRules: CommandRules{Users: []string{}}},
		{CommandRules: section, Jobs: map[string]CommandRules{"x": {Users: []string{}}}},
		{CommandRules: section, Roles: map[string]CommandRules{"x": {Users: []string{}}}},
	} {
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), "names no account") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	c := CommandConfig{
		CommandRules: section,
		Jobs:         map[string]CommandRules{"nightly": {Users: []string{"nobody"}}, "any": {Memory: 1 << 30}},
		Roles:        map[string]CommandRules{"a": {Users: []string{"daemon"}}, "b": {Users: []string{"daemon", "nobody"}}},
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	const want = "exec.profiles.jobs.nightly and exec.profiles.roles.a allow no account together"
	if rules, err := c.rulesOf([]string{"nightly"}, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v: %v", rules.Users, err)
	}
	if rules, err := c.rulesOf([]string{"nightly", "any"}, []string{"b"}); err != nil || !slices.Equal(rules.Users, []string{"nobody"}) {
		t.Errorf("%v: %v", rules.Users, err)
	}
	if account, err := chooseUser("", []string{}); err == nil {
		t.Errorf("an empty list chooses %s", account.name)
	}
	if os.Geteuid() != 0 {
		return
	}
	c.Roles = map[string]CommandRules{"admin": {Users: []string{"daemon"}}} // the tests enqueue as admin
	w := newRightsEnv(t, c)
	_, err := rota.Do[*rota.TemplatePut](t.Context(), w.store, &rota.PutTemplate{
		Meta: rota.NewMeta("admin"), Name: "nightly", Spec: rota.TemplateSpec{Type: "exec", Params: rota.EncodeSpec(Exec{Command: "id", Args: []string{"-un"}})},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.checkFailed(w.waitEnded(w.enqueueAs("admin", rota.NewJob{Template: "nightly", MaxRetries: new(0)})), codeRefusedExec, "allow no account together")
}

// TestProfileKeepsVariablesThatTheSectionSets: also those that every job may set, and those that the section lists twice.
func TestProfileKeepsVariablesThatTheSectionSets(t *testing.T) {
	section := CommandRules{Env: []string{"PATH=/safe", "MODE=ro", "MODE", "A"}}
	for entry, fine := range map[string]bool{"PATH=/evil": false, "MODE=rw": false, "PATH=/safe": true, "A=1": true, "HOME=/srv": true} {
		err := CommandConfig{CommandRules: section, Jobs: map[string]CommandRules{"x": {Env: []string{entry}}}}.Check()
		if (err == nil) != fine || err != nil && !strings.Contains(err.Error(), "exec.profiles.jobs.x.env") {
			t.Errorf("%s: %v", entry, err)
		}
	}
	if err := (CommandConfig{CommandRules: CommandRules{Env: []string{"A=1", "A=2"}}}).Check(); err == nil {
		t.Error("a variable has two values")
	}
	c := CommandConfig{CommandRules: section, Jobs: map[string]CommandRules{"x": {Env: []string{"A=1"}}}, Roles: map[string]CommandRules{"y": {Env: []string{"A=2"}}, "z": {Env: []string{"A=1"}}}}
	if _, err := c.rulesOf([]string{"x"}, []string{"y"}); err == nil || !strings.Contains(err.Error(), "exec.profiles.roles.y sets A") {
		t.Error(err)
	}
	if _, err := c.rulesOf([]string{"x"}, []string{"z"}); err != nil {
		t.Error(err)
	}
}

// TestEmptyListsOfProfilesAllowNothing: in a profile an empty list is not a list that is missing.
func TestEmptyListsOfProfilesAllowNothing(t *testing.T) {
	c := CommandConfig{
		CommandRules: CommandRules{Allow: []string{"/bin"}, Read: []string{"/usr"}, Write: []string{"/srv"}, Env: []string{"A", "B=1"}},
		Jobs:         map[string]CommandRules{"none": {Allow: []string{}, Read: []string{}, Write: []string{}, Env: []string{}}},
		Roles:        map[string]CommandRules{"some": {Allow: []string{"/bin"}, Read: []string{"/usr"}, Write: []string{"/srv"}, Env: []string{"A"}}},
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	rules, err := c.rulesOf([]string{"none"}, []string{"some"})
	if err != nil || rules.Allow == nil || len(rules.Allow) > 0 || rules.Read == nil || len(rules.Read) > 0 || len(rules.Write) > 0 || !slices.Equal(rules.Env, []string{"B=1"}) {
		t.Errorf("%+v %v", rules, err)
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

// newRightsEnv runs programs with the rights of users.
func newRightsEnv(t *testing.T, config CommandConfig) *usersEnv {
	t.Helper()
	commands, _, err := OpenCommands(config)
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
	return w
}

// TestCommandNeedsRightWhenItRuns: the right is granted and revoked between the creation of a job and its run.
func TestCommandNeedsRightWhenItRuns(t *testing.T) {
	w := newRightsEnv(t, CommandConfig{
		CommandRules: CommandRules{Allow: []string{"/bin"}, Isolation: sandbox.None, Output: 100},
		Roles:        map[string]CommandRules{"interns": {Allow: []string{"/bin/true"}}},
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
