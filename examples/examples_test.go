//go:build unix

// Package examples_test runs every example against a real server, and injects
// failures.
package examples_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/store/sqlite"
	_ "github.com/rotajobs/rota/worker" // makes the test cache depend on the package that the examples use
	"github.com/rotajobs/rota/worker/workertest"
)

func TestMain(m *testing.M) { workertest.Main(m, nil) }

// build builds an example in Go, without debug symbols: it links in half the time.
func build(t *testing.T, name string) string {
	t.Helper()
	if _, err := os.ReadFile(name + "/main.go"); err != nil { // makes the test cache depend on the file
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, "./"+name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// awaitType waits until a worker has declared a type.
func awaitType(s *workertest.Cluster, typ string) {
	s.Helper()
	s.Eventually(typ+" is declared", func() bool { status, _ := s.Send("GET", "/types/"+typ, nil); return status == 200 })
}

func TestWorkerGoRunsJobsAndStopsCleanly(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	program := build(t, "worker-go")
	w := workertest.Start(t, exec.Command(program), "ROTA_URL="+s.NewProxy().URL(), "ROTA_TOKEN="+s.Token())
	awaitType(s, "checksum")
	done := s.AwaitEnd(s.Enqueue("checksum", workertest.Object{"text": "hello"}, nil)).Attempts[0]
	if want := `{"sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}`; string(done.Run.Result) != want {
		t.Errorf("the job is %s with result %s, want %s", done.State, done.Run.Result, want)
	}
	if log := s.LogOf(done.ID); !strings.Contains(log, "hashing") {
		t.Errorf("the log of the run is %q", log)
	}
	if status, text := s.Send("POST", "/jobs", workertest.Object{"type": "checksum", "params": workertest.Object{"text": ""}}); status != 422 || !strings.Contains(string(text), "params.text") {
		t.Errorf("a job without text is answered with %d %s", status, text)
	}
	// The job takes a second on an idle machine, and less than the drain time of the worker on a busy one.
	long := s.Enqueue("checksum", workertest.Object{"text": "x", "rounds": 5_000_000}, nil)
	s.Eventually("the job has started", func() bool { return s.Job(long.ID).State != "queued" })
	w.Stop()
	if e := s.Execution(long.ID); e.State != "completed" || len(e.Attempts) != 1 {
		t.Errorf("the job that ran at the stop is %s after %d attempts", e.State, len(e.Attempts))
	}
	if said := w.Output(); strings.Count(said, "outcome=completed") != 2 {
		t.Errorf("the worker logged %s", said)
	}

	wrongToken := exec.Command(program)
	wrongToken.Env = []string{"ROTA_URL=" + s.NewProxy().URL(), "ROTA_TOKEN=0123456789abcdef"}
	if out, err := wrongToken.CombinedOutput(); err == nil || !strings.Contains(string(out), "the token is wrong") {
		t.Errorf("with a wrong token the worker exits with %v and prints %s", err, out)
	}
}

func TestEmbeddedContinuesAfterKill(t *testing.T) {
	t.Parallel()
	program, file := build(t, "embedded"), filepath.Join(t.TempDir(), "reminders.db")
	first := workertest.Start(t, exec.Command(program, "-file", file))
	first.AwaitLine("welcome (attempt 1)")
	first.AwaitLine("stretch your legs (attempt 1)")
	first.Kill()
	second := workertest.Start(t, exec.Command(program, "-file", file))
	second.AwaitLine("stretch your legs")
	second.Stop()
	if strings.Contains(second.Output(), "welcome") {
		t.Errorf("the unique job ran twice:\n%s", second.Output())
	}
	store, err := sqlite.OpenWith(file, sqlite.Config{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for v, err := range store.Verify(t.Context()) {
		t.Errorf("the store breaks %s: %s %v", v.Check, v.Detail, err)
	}
	if _, err := store.Schedule(t.Context(), "stretch"); err != nil {
		t.Error(err)
	}
}

// The command line works with the queue of the program as with a server.
func TestEmbeddedServesCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, rota := filepath.Join(dir, "data"), filepath.Join(dir, "rota")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", rota, "../cmd/rota").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program := workertest.Start(t, exec.Command(build(t, "embedded"), "-file", filepath.Join(dir, "reminders.db"), "-data", data))
	program.AwaitLine("welcome (attempt 1)")
	for _, row := range []struct {
		args  []string
		exit  int
		shows string
	}{
		{[]string{"job", "list"}, 0, "reminder"},
		{[]string{"schedule", "list"}, 0, "stretch"},
		{[]string{"job", "create", "reminder", "--params", `{"text": "drink some water"}`}, 0, "queued"},
		{[]string{"job", "create", "reminder", "--params", `{"text": ""}`}, 2, "params.text"},
		{[]string{"direct", "reminder", "--params", `{"text": "now"}`}, 0, "completed"},
		{[]string{"sql", "SELECT count(*) FROM sys.jobs"}, 0, "1"},
		{[]string{"verify"}, 0, ""},
	} {
		command := exec.Command(rota, append(row.args, "--data", data)...)
		command.Dir, command.Env = dir, []string{"HOME=" + dir}
		out, _ := command.CombinedOutput()
		if command.ProcessState.ExitCode() != row.exit || !strings.Contains(string(out), row.shows) {
			t.Errorf("rota %s exits with %d and prints\n%s", strings.Join(row.args, " "), command.ProcessState.ExitCode(), out)
		}
	}
	program.AwaitLine("drink some water (attempt 1)")
	program.Stop()
	if _, err := os.Stat(filepath.Join(data, "rota.addr")); !os.IsNotExist(err) {
		t.Errorf("the address file stays: %v", err)
	}
}

// interpreter returns the path of python3. Without it the test is skipped, or fails in CI.
func interpreter(s testing.TB) string {
	s.Helper()
	program, err := exec.LookPath("python3")
	if err != nil {
		const missing = "\n*** python3 IS NOT INSTALLED: the worker in Python was NOT tested ***\n"
		fmt.Fprint(os.Stderr, missing)
		if os.Getenv("CI") != "" {
			s.Fatal(missing)
		}
		s.Skip(missing)
	}
	return program
}

// startPython starts the Python worker with a lease in seconds and an additional handler,
// which writes a ledger and, with the param until, waits for a file. The edits are pairs of old and
// new text of the worker.
func startPython(s *workertest.Cluster, name string, lease int, edits ...string) *workertest.Process {
	s.Helper()
	program := interpreter(s)
	text, err := os.ReadFile("worker-python/worker.py")
	if err != nil {
		s.Fatal(err)
	}
	source := strings.Replace(string(text), "TYPES = {", `
def ledger(params, stop):
    def note(word):
        with open(os.environ["LEDGER"], "a") as file: file.write(f"{word} {params['mark']} {NAME}\n")
    note("start")
    if "wrong" in params: stop.progress = {"not", "JSON"}
    if "ignore" in params:
        while not stop.wait(60): pass
        note("stopped:" + stop.why)
        stop.clear()
        while not os.path.exists(params["ignore"]): time.sleep(0.01)
    while "until" in params and not os.path.exists(params["until"]):
        if stop.wait(0.01):
            note("stopped:" + stop.why)
            raise InterruptedError(stop.why)
    if "print" in params: print(params["print"], 7, sep="|")
    if "raise" in params: raise RuntimeError(params["raise"])
    time.sleep(random.random() / 50)
    note("end")
    return {"huge": "x" * 70_000} if "huge" in params else {"by": NAME, "invalid": {1}} if "invalid" in params else NAME

NAME = os.environ["NAME"]
TYPES = {"ledger": (ledger, {"type": "object", "required": ["mark"]}),`, 1)
	source = strings.NewReplacer(edits...).Replace(source)
	copied := s.Path(name + ".py")
	if err := os.WriteFile(copied, []byte(source), 0o600); err != nil {
		s.Fatal(err)
	}
	p := workertest.Start(s.TB, exec.Command(program, copied), "ROTA_URL="+s.NewProxy().URL()+"/", "ROTA_TOKEN="+s.Token(), fmt.Sprint("ROTA_LEASE=", lease), "NAME="+name, "LEDGER="+s.Path("ledger"))
	awaitType(s, "nap") // the last type that the worker declares
	return p
}

// countLines counts the lines of the ledger with a prefix.
func countLines(s *workertest.Cluster, begin string) (n int) {
	text, _ := os.ReadFile(s.Path("ledger"))
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, begin) {
			n++
		}
	}
	return n
}

func TestWorkerPythonRunsFailsAndCancelsJobs(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	w := startPython(s, "py-1", 3)
	if line := w.AwaitLine("worker py-1 runs "); !strings.HasPrefix(line, "ledger, wordcount, nap of http://") || !strings.HasSuffix(line, " in 4 slots") {
		t.Errorf("the worker prints at its start: %s", line)
	}
	done := s.AwaitEnd(s.Enqueue("wordcount", workertest.Object{"text": "three ω words"}, nil)).Attempts[0]
	if string(done.Run.Result) != `{"words":3}` && string(done.Run.Result) != `{"words": 3}` || done.Run.Runner != "py-1" {
		t.Errorf("the job is %s on %s with result %s", done.State, done.Run.Runner, done.Run.Result)
	}
	if status, text := s.Send("POST", "/jobs", workertest.Object{"type": "wordcount", "params": workertest.Object{"text": 7}}); status != 422 || !strings.Contains(string(text), "params.text") {
		t.Errorf("a number as text is answered with %d %s", status, text)
	}
	for _, row := range []struct {
		typ      string
		params   workertest.Object
		attempts int
		says     string
	}{
		{"wordcount", workertest.Object{"text": " "}, 1, "Permanent('text contains no words')"},
		{"ledger", workertest.Object{"mark": "r", "raise": "out of luck"}, 2, "Traceback"},
		{"ledger", workertest.Object{"mark": "h", "huge": true}, 2, "result"},
		{"ledger", workertest.Object{"mark": "s", "invalid": true}, 2, "TypeError"},
	} {
		e := s.AwaitEnd(s.Enqueue(row.typ, row.params, workertest.Object{"max_retries": 1}))
		if e.State != "dead" || len(e.Attempts) != row.attempts || !strings.Contains(string(e.Error), row.says) {
			t.Errorf("%v is %s after %d attempts: %s", row.params, e.State, len(e.Attempts), e.Error)
		}
		if log := s.LogOf(e.Attempts[0].ID); !strings.HasPrefix(log, "Traceback") {
			t.Errorf("the log of %v is %q", row.params, log)
		}
	}

	cancelled := s.Enqueue("ledger", workertest.Object{"mark": "c", "until": s.Path("never")}, nil)
	s.Eventually("the job runs", func() bool { return countLines(s, "start c ") == 1 })
	s.Must("POST", "/jobs/"+cancelled.ID.String()+"/cancel", workertest.Object{"reason": "no longer wanted"}, nil)
	if e := s.AwaitEnd(cancelled); e.State != "cancelled" || countLines(s, "stopped:no longer wanted c ") != 1 {
		t.Errorf("the cancelled job is %s", e.State)
	}
	late := s.AwaitEnd(s.Enqueue("ledger", workertest.Object{"mark": "t", "until": s.Path("never")}, workertest.Object{"timeout": "1s", "max_retries": 0}))
	if late.ErrorCode != rota.CodeTimeout || late.Attempts[0].Run.Status != "CANCELLED" {
		t.Errorf("the job that timed out is %s, %s", late.State, late.ErrorCode)
	}

	last := s.Enqueue("ledger", workertest.Object{"mark": "last", "until": s.Path("go")}, nil)
	s.Eventually("the job runs", func() bool { return countLines(s, "start last ") == 1 })
	w.Signal(syscall.SIGTERM)
	time.Sleep(3500 * time.Millisecond) // longer than the lease, which the worker must extend
	touch(t, s.Path("go"))
	w.Stop()
	if e := s.Execution(last.ID); e.State != "completed" || len(e.Attempts) != 1 {
		t.Errorf("the job that ran at the stop is %s after %d attempts", e.State, len(e.Attempts))
	}
}

// The output of each handler is the log of its run, also if several run at once, and its progress is
// sent with the heartbeat.
func TestWorkerPythonSendsLogAndProgress(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	w := startPython(s, "py-1", 3)
	type run struct {
		text string
		job  api.Job
	}
	var runs []run
	for _, text := range []string{"one", "twö", "three"} {
		runs = append(runs, run{text, s.Enqueue("ledger", workertest.Object{"mark": text, "print": text, "until": s.Path("go")}, nil)})
	}
	s.Eventually("all jobs run", func() bool { return countLines(s, "start ") == len(runs) })
	touch(t, s.Path("go"))
	for _, r := range runs {
		if e := s.AwaitEnd(r.job); e.State != "completed" || s.LogOf(r.job.ID) != r.text+"|7\n" {
			t.Errorf("the job that prints %s is %s with the log %q", r.text, e.State, s.LogOf(r.job.ID))
		}
	}
	failed := s.AwaitEnd(s.Enqueue("ledger", workertest.Object{"mark": "f", "print": "before", "raise": "no luck"}, workertest.Object{"max_retries": 0}))
	if log := s.LogOf(failed.Attempts[0].ID); !strings.HasPrefix(log, "before|7\nTraceback") || !strings.HasSuffix(log, "RuntimeError: no luck\n") {
		t.Errorf("the log of the failure is %q", log)
	}
	napping := s.Enqueue("nap", workertest.Object{"seconds": 600}, nil)
	s.Eventually("the progress is shown", func() bool {
		run := s.Job(napping.ID).Run
		return run != nil && strings.ReplaceAll(string(run.Progress), " ", "") == `{"percent":0}`
	})
	wrong := s.Enqueue("ledger", workertest.Object{"mark": "w", "wrong": true, "until": s.Path("go on")}, nil)
	s.Eventually("a lease has passed", func() bool { return strings.Count(w.Output(), "progress is not sent: ") > 4 })
	touch(t, s.Path("go on"))
	if e := s.AwaitEnd(wrong); e.State != "completed" || len(e.Attempts) != 1 {
		t.Errorf("the job with a wrong progress is %s after %d attempts", e.State, len(e.Attempts))
	}
	if said := w.Output(); strings.Contains(said, "|7") {
		t.Errorf("the worker prints what handlers print:\n%s", said)
	}
}

// The worker stops a job at its deadline by itself, here without a heartbeat, and whatever its clock
// says. If the handler does not stop, the server ends the run.
func TestWorkerPythonHonoursDeadline(t *testing.T) {
	t.Parallel()
	s := workertest.New(t, "ROTA_CANCEL_GRACE=4s")
	startPython(s, "py-1", 60, "time.sleep(min(int(LEASE) / 3, 3))", "time.sleep(3600)", "time.time_ns()", "(time.time_ns() + 10**16)")
	late := s.AwaitEnd(s.Enqueue("ledger", workertest.Object{"mark": "t", "until": s.Path("never")}, workertest.Object{"timeout": "700ms", "max_retries": 0}))
	run := late.Attempts[0].Run
	if late.State != "dead" || late.Attempts[0].State != "failed" || run.Status != "CANCELLED" || run.ErrorCode != rota.CodeTimeout ||
		!strings.HasPrefix(string(run.Error), "InterruptedError('timeout')") || countLines(s, "stopped:timeout t ") != 1 {
		t.Errorf("the job that timed out is %s: %+v", late.State, run)
	}
	if took := run.FinishedAt.Sub(run.StartedAt.Time); took < 700*time.Millisecond {
		t.Errorf("it was stopped after %v", took)
	}

	ignores := s.AwaitEnd(s.Enqueue("ledger", workertest.Object{"mark": "i", "ignore": s.Path("end")}, workertest.Object{"timeout": "700ms", "max_retries": 0}))
	run = ignores.Attempts[0].Run
	if ignores.State != "dead" || run.ErrorCode != rota.CodeTimeout || run.Error != "timed out after 700ms; worker py-1 did not stop within 4s" {
		t.Errorf("the job that ignores its deadline is %s: %+v", ignores.State, run)
	}
	touch(t, s.Path("end"))
	if next := s.AwaitEnd(s.Enqueue("wordcount", workertest.Object{"text": "next"}, nil)); next.State != "completed" {
		t.Errorf("the next job is %s", next.State)
	}
	s.Verify()
}

// A server that stops answers the requests that wait. The worker reports the outage once, although it
// notices it with four requests, some of them before others are answered.
func TestWorkerPythonReportsOutageOnce(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	w := startPython(s, "py-1", 30, `os.environ.get("ROTA_URL", "http://127.0.0.1:7420").rstrip("/")`, `"http://`+s.Address()+`"`)
	w.AwaitLine("worker py-1 runs ")
	s.AwaitEnd(s.Enqueue("wordcount", workertest.Object{"text": "one"}, nil)) // the worker claims
	s.Stop()
	s.Eventually("the worker notices", func() bool { return strings.Contains(w.Output(), " does not answer, retrying: ") })
	w.Stop()
	if said := w.Output(); strings.Count(said, " does not answer, retrying: ") != 1 || strings.Contains(said, " answers again") {
		t.Errorf("the worker printed:\n%s", said)
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A token of scope worker may not declare types. Both workers run with it once an administrator has declared them, and
// otherwise say what to do.
func TestWorkersRunWithWorkerToken(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	token, url := s.WorkerToken("mailer"), s.NewProxy().URL()
	python, program := interpreter(s), build(t, "worker-go")
	for _, row := range []struct {
		command     []string
		typ, others string
		params      workertest.Object
	}{
		{[]string{program}, "checksum", "", workertest.Object{"text": "hello"}},
		{[]string{python, "worker-python/worker.py"}, "wordcount", "nap", workertest.Object{"text": "two words"}},
	} {
		env := []string{"ROTA_URL=" + url, "ROTA_TOKEN=" + token}
		first := exec.Command(row.command[0], row.command[1:]...)
		first.Env = env
		out, err := first.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "there is no type "+row.typ) ||
			!strings.Contains(string(out), "an administrator declares ") || !strings.Contains(string(out), "rota type put "+row.typ+", or PUT /types/"+row.typ) || strings.Contains(string(out), "scope write") {
			t.Errorf("%v without the type exits with %v and prints %s", row.command, err, out)
		}
		for _, typ := range strings.Fields(row.typ + " " + row.others) {
			s.Must("PUT", "/types/"+typ, workertest.Object{"max_retries": 1}, nil)
		}
		w := workertest.Start(t, exec.Command(row.command[0], row.command[1:]...), env...)
		e := s.AwaitEnd(s.Enqueue(row.typ, row.params, nil))
		if e.State != "completed" {
			t.Errorf("the job of %v is %s: %s", row.command, e.State, e.Error)
		}
		w.Stop()
		if n := strings.Count(w.Output(), "may not declare types"); row.others == "" && n != 1 {
			t.Errorf("the worker logs %d times that it may not declare types:\n%s", n, w.Output())
		}
		var typ api.Type
		if s.Must("GET", "/types/"+row.typ, nil, &typ); typ.Schema != nil && string(typ.Schema) != "null" {
			t.Errorf("the declaration of the administrator was replaced by %s", typ.Schema)
		}
	}
	s.Verify()
}

// The server is killed several times. Every acknowledged job runs exactly once.
func TestWorkerPythonRunsJobsOnceAcrossServerRestarts(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	w := startPython(s, "py-1", 60)
	const count, kills = 120, 3
	enqueued := make(chan []string)
	go func() {
		var ids []string
		for i := range count {
			ids = append(ids, s.Enqueue("ledger", workertest.Object{"mark": fmt.Sprint("m-", i)}, nil).ID.String())
		}
		enqueued <- ids
	}()
	for n := range kills {
		s.Eventually("more jobs are completed", func() bool { return countLines(s, "end ") >= (n+1)*count/(kills+2) })
		s.Restart()
	}
	for i, id := range <-enqueued {
		parsed, _ := rota.ParseID(id)
		e := s.AwaitEnd(s.JobOf(parsed))
		if e.State != "completed" || len(e.Attempts) != 1 {
			t.Errorf("job %d is %s after %d attempts: %s %s", i, e.State, len(e.Attempts), e.ErrorCode, e.Error)
		}
		if mark := fmt.Sprintf(" m-%d ", i); countLines(s, "start"+mark) != 1 || countLines(s, "end"+mark) != 1 {
			t.Errorf("job %d was started %d times and completed %d times", i, countLines(s, "start"+mark), countLines(s, "end"+mark))
		}
	}
	w.Stop()
	s.Verify()
	if outages := strings.Count(w.Output(), " does not answer, retrying: "); outages < kills || outages != strings.Count(w.Output(), " answers again") {
		t.Errorf("after %d outages the worker printed\n%s", kills, w.Output())
	}
}

// The worker reports an invalid setting at once and without a traceback.
func TestWorkerPythonReportsInvalidSettings(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	url := "ROTA_URL=" + s.NewProxy().URL()
	for _, row := range []struct{ url, lease, says string }{
		{"ROTA_URL=127.0.0.1:7533", "ROTA_LEASE=30", "ROTA_URL=127.0.0.1:7533: write http://HOST:PORT\n"},
		{url, "ROTA_LEASE=30s", "ROTA_LEASE=30s: write a number of seconds, without a unit\n"},
		{url, "ROTA_LEASE=30", "PUT /types/wordcount: 401 "},
	} {
		worker := exec.Command(interpreter(s), "worker-python/worker.py")
		worker.Env = []string{row.url, row.lease, "ROTA_TOKEN=0123456789abcdef"}
		if out, err := worker.CombinedOutput(); err == nil || !strings.HasPrefix(string(out), row.says) {
			t.Errorf("with %s and %s the worker exits with %v and prints %s", row.url, row.lease, err, out)
		}
	}
}

// Another worker runs the jobs of a killed or frozen worker. Late reports of the frozen worker
// change nothing.
func TestWorkerPythonKilledOrFrozenLosesItsJobs(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	killed, frozen := startPython(s, "killed", 2), startPython(s, "frozen", 2)
	var jobs []rota.ID
	for i := range 8 { // four for each
		jobs = append(jobs, s.Enqueue("ledger", workertest.Object{"mark": fmt.Sprint("m-", i), "until": s.Path("go")}, nil).ID.ID)
	}
	s.Eventually("all jobs run", func() bool { return countLines(s, "start ") == len(jobs) })
	killed.Kill()
	frozen.Signal(syscall.SIGSTOP)
	for _, id := range jobs {
		s.Eventually("its lease has expired", func() bool { return s.JobOf(id).State == "failed" })
	}
	successor := startPython(s, "successor", 30)
	s.Eventually("the successor runs four jobs", func() bool { return countLines(s, "start ") == len(jobs)+4 })
	frozen.Signal(syscall.SIGCONT)
	s.Eventually("the frozen worker stops its jobs", func() bool { return countLines(s, "stopped:lease_lost ") == 4 })
	touch(t, s.Path("go"))
	for _, id := range jobs {
		e := s.AwaitEnd(s.JobOf(id))
		if len(e.Attempts) != 2 || e.State != "completed" || e.Attempts[0].Run.ErrorCode != rota.CodeLeaseExpired {
			t.Errorf("job %s is %s after %d attempts: %s", id, e.State, len(e.Attempts), e.Attempts[0].Run.ErrorCode)
		}
	}
	successor.Stop()
	frozen.Stop()
	s.Verify()
}

// Users copy the examples, so each one is short and has a README.
func TestExamplesAreShortAndHaveReadme(t *testing.T) {
	for file, limit := range map[string]int{"worker-python/worker.py": 120, "worker-go/main.go": 79, "embedded/main.go": 80} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > limit {
			t.Errorf("%s has %d lines, want at most %d", file, n, limit)
		}
		if page, err := os.ReadFile(filepath.Join(filepath.Dir(file), "README.md")); err != nil || !strings.Contains(string(page), filepath.Base(file)) {
			t.Errorf("%s has no README that names it: %v", file, err)
		}
	}
}
