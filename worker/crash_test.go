//go:build unix

package worker_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/worker"
	"github.com/rotajobs/rota/worker/workertest"
)

// TestServersAreKilledUnderTheirWorkers: jobs flow while the server is killed and
// started again, four times. The leases outlast it, so every job that was
// acknowledged runs once, and once only: nothing is lost with a claim whose answer
// was lost, and nothing done twice.
func TestServersAreKilledUnderTheirWorkers(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	for i := range 2 {
		hire(t, s.Relay().URL(), s.Token(), here(s).registry(), worker.Config{
			Name: fmt.Sprint("w-", i), Workers: 4, Lease: time.Minute, Timeout: 2 * time.Second,
		}).ready()
	}
	const count, kills = 400, 4
	jobs := make([]httpapi.Job, count)
	var flow sync.WaitGroup
	for from := range 4 {
		flow.Go(func() {
			for i := from; i < count; i += 4 {
				jobs[i] = s.Enqueue("task", workertest.Object{"mark": fmt.Sprint("m-", i), "do": "nap", "for": fmt.Sprint(rand.IntN(20), "ms")}, nil)
			}
		})
	}
	for n := range kills {
		s.Until("more is done", func() bool { return ends(here(s).lines(t, "")) >= (n+1)*count/(kills+2) })
		s.Restart()
	}
	flow.Wait()
	for _, job := range jobs {
		if e := s.Ended(job); e.State != "completed" || len(e.Attempts) != 1 {
			t.Errorf("job %s is %s after %d attempts: %s %s", job.ID, e.State, len(e.Attempts), e.ErrorCode, e.Error)
		}
	}
	did := map[string]int{}
	for _, one := range here(s).lines(t, "") {
		did[one.word+" "+one.mark]++
	}
	for i := range count {
		if mark := fmt.Sprint("m-", i); did["start "+mark] != 1 || did["end "+mark] != 1 {
			t.Errorf("%s was begun %d times and done %d times", mark, did["start "+mark], did["end "+mark])
		}
	}
	s.Sound()
}

func ends(lines []line) (n int) {
	for _, one := range lines {
		if one.word == "end" {
			n++
		}
	}
	return n
}

// TestAKilledWorker: its lease runs out, another takes the retry, and what the
// dead one could prove is worth nothing.
func TestAKilledWorker(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	victim := elsewhere(s, s.Relay().URL(), "victim")
	s.Until("the type is declared", func() bool { status, _ := s.Send("GET", "/types/task", nil); return status == http.StatusOK })
	job := s.Enqueue("task", workertest.Object{"mark": "k", "do": "wait", "until": s.Path("go")}, nil)
	begun := here(s).has(t, "start", "k")
	victim.Kill()
	hire(t, s.Relay().URL(), s.Token(), here(s).registry(), worker.Config{Name: "heir"}).ready()
	touch(t, s.Path("go"))
	e := s.Ended(job)
	retried(t, e, "victim", "heir")

	finish := lateFinish(s, job, begun)
	if finish != "lease_lost" {
		t.Errorf("what the dead worker says is answered %s", finish)
	}
	if now := s.Execution(job.ID); now.State != "completed" || now.Attempts[0].Run.Error != e.Attempts[0].Run.Error || string(now.Attempts[0].Run.Result) != "" && string(now.Attempts[0].Run.Result) != "null" {
		t.Errorf("and it changed %+v", now.Attempts[0].Run)
	}
	s.Sound()
}

// retried holds an execution to two attempts: one that was given up, and one that
// completed elsewhere.
func retried(t *testing.T, e httpapi.ExecutionDetail, first, second string) {
	t.Helper()
	if len(e.Attempts) != 2 || e.State != "completed" {
		t.Fatalf("it is %s after %d attempts: %s", e.State, len(e.Attempts), e.Error)
	}
	lost, done := e.Attempts[0].Run, e.Attempts[1].Run
	if lost.Status != "FAILED" || lost.ErrorCode != rota.CodeLeaseExpired || string(lost.Runner) != first {
		t.Errorf("the first attempt ended %s %s at %s", lost.Status, lost.ErrorCode, lost.Runner)
	}
	if done.Status != "COMPLETED" || string(done.Runner) != second || string(done.Result) != `"done by `+second+`"` {
		t.Errorf("the second attempt ended %s at %s with %s", done.Status, done.Runner, done.Result)
	}
}

// lateFinish says for a run, with the proof that it was given, that it completed.
func lateFinish(s *workertest.Site, job httpapi.Job, of line) (code string) {
	s.Helper()
	var answer struct {
		Items []struct{ Code string }
	}
	s.Must("POST", "/finish", workertest.Object{"items": []workertest.Object{{
		"job_id": job.ID, "run_id": of.run, "lease_token": of.token, "outcome": "completed", "result": "too late",
	}}}, &answer)
	return answer.Items[0].Code
}

// TestAFrozenWorker is stopped beyond its lease, as a machine that sleeps. When it
// comes to, one handler finds its context ended, and the end of another, which
// heard nothing, is dropped.
func TestAFrozenWorker(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	sleeper := elsewhere(s, s.Relay().URL(), "sleeper")
	s.Until("the type is declared", func() bool { status, _ := s.Send("GET", "/types/task", nil); return status == http.StatusOK })
	heeds := s.Enqueue("task", workertest.Object{"mark": "heeds", "do": "wait", "until": s.Path("go")}, nil)
	deaf := s.Enqueue("task", workertest.Object{"mark": "deaf", "do": "deaf", "until": s.Path("go")}, nil)
	here(s).has(t, "start", "heeds")
	proof := here(s).has(t, "start", "deaf")
	sleeper.Signal(syscall.SIGSTOP)
	for _, job := range []httpapi.Job{heeds, deaf} {
		s.Until("its lease has run out", func() bool { return s.Job(job.ID).State == "failed" })
	}
	heir := hire(t, s.Relay().URL(), s.Token(), here(s).registry(), worker.Config{Name: "heir"}).ready()
	s.Until("the heir has begun", func() bool { return len(here(s).lines(t, "")) == 4 })

	sleeper.Signal(syscall.SIGCONT)
	if told := here(s).has(t, "error", "heeds"); told.worker != "sleeper" || told.more != "the lease of the run was lost" {
		t.Errorf("the handler of %s was told %q", told.worker, told.more)
	}
	touch(t, s.Path("go"))
	for _, job := range []httpapi.Job{heeds, deaf} {
		retried(t, s.Ended(job), "sleeper", "heir")
	}
	s.Until("the deaf one has ended", func() bool { return ends(here(s).lines(t, "deaf")) == 2 })
	if code := lateFinish(s, deaf, proof); code != "lease_lost" {
		t.Errorf("what it says too late is answered %s", code)
	}
	retried(t, s.Execution(deaf.ID), "sleeper", "heir")
	sleeper.Stop()
	if !strings.Contains(sleeper.Said(), "lease is lost") {
		t.Errorf("it says nothing of what it lost:\n%s", sleeper.Said())
	}
	heir.stop()
	s.Sound()
}

// TestAWorkerThatIsCutOff: nothing passes, and nobody is told. The handler
// completes meanwhile; what it says when the network is whole again changes
// nothing, and the retry stands.
func TestAWorkerThatIsCutOff(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	way := s.Relay()
	island := hire(t, way.URL(), s.Token(), here(s).registry(), worker.Config{Name: "island", Workers: 2, Lease: 4 * time.Second, Timeout: time.Second}).ready()
	told := s.Enqueue("task", workertest.Object{"mark": "told", "do": "wait", "until": s.Path("never")}, workertest.Object{"max_retries": 0})
	ends := s.Enqueue("task", workertest.Object{"mark": "ends", "do": "wait", "until": s.Path("go")}, nil)
	here(s).has(t, "start", "told")
	here(s).has(t, "start", "ends")
	way.Hold()
	for _, job := range []httpapi.Job{told, ends} {
		s.Until("its lease has run out", func() bool { return s.Job(job.ID).State == "failed" })
	}
	touch(t, s.Path("go"))
	here(s).has(t, "end", "ends")
	hire(t, s.Relay().URL(), s.Token(), here(s).registry(), worker.Config{Name: "heir"}).ready()
	retried(t, s.Ended(ends), "island", "heir")

	way.Heal()
	if found := here(s).has(t, "error", "told"); found.more != "the lease of the run was lost" {
		t.Errorf("the handler was told %q", found.more)
	}
	s.Until("its end is dropped", func() bool { return strings.Contains(island.said.String(), "its outcome is dropped") })
	retried(t, s.Execution(ends.ID), "island", "heir")
	after := s.Ended(s.Enqueue("task", workertest.Object{"mark": "after"}, nil))
	if after.State != "completed" {
		t.Errorf("afterwards a job is %s", after.State)
	}
	s.Sound()
}

// TestConnectionsBreak: whatever is under way when they do, every job runs once.
func TestConnectionsBreak(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	way := s.Relay()
	hire(t, way.URL(), s.Token(), here(s).registry(), worker.Config{Workers: 4, Lease: time.Minute, Timeout: 2 * time.Second}).ready()
	var jobs []httpapi.Job
	for i := range 200 {
		jobs = append(jobs, s.Enqueue("task", workertest.Object{"mark": fmt.Sprint("m-", i), "do": "nap", "for": "3ms"}, nil))
		if i%10 == 5 {
			way.Cut()
		}
	}
	for _, job := range jobs {
		if e := s.Ended(job); e.State != "completed" || len(e.Attempts) != 1 {
			t.Errorf("job %s is %s after %d attempts: %s", job.ID, e.State, len(e.Attempts), e.Error)
		}
	}
	if n := len(here(s).lines(t, "")); n != 2*len(jobs) {
		t.Errorf("the ledger has %d lines of %d jobs", n, len(jobs))
	}
}

// TestWorkersComeAndGo while jobs flow. What one has taken in its last moment it
// runs to its end: no job waits for the end of a lease that nobody keeps.
func TestWorkersComeAndGo(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	reg := here(s).registry
	first := hire(t, s.Relay().URL(), s.Token(), reg(), worker.Config{}).ready()
	var jobs []httpapi.Job
	for i := range 150 {
		jobs = append(jobs, s.Enqueue("task", workertest.Object{"mark": fmt.Sprint("m-", i), "do": "nap", "for": "10ms"}, nil))
		if i%10 == 9 {
			next := hire(t, s.Relay().URL(), s.Token(), reg(), worker.Config{Workers: 2, Lease: time.Hour}).ready()
			first.stop()
			if err := first.ended(); err != nil {
				t.Errorf("told to stop, it ends with %v", err)
			}
			first = next
		}
	}
	for _, job := range jobs {
		if e := s.Ended(job); e.State != "completed" || len(e.Attempts) != 1 {
			t.Errorf("job %s is %s after %d attempts: %s", job.ID, e.State, len(e.Attempts), e.Error)
		}
	}
}

// lasts waits for so long, and says how much of that was lost to this process and to
// the server on a machine that is busy.
func lasts(s *workertest.Site, d time.Duration) (lost time.Duration) {
	s.Helper()
	const every, usual = 20 * time.Millisecond, 30 * time.Millisecond
	last := time.Now()
	for end := last.Add(d); last.Before(end); {
		time.Sleep(every)
		s.Send("GET", "/types/task", nil)
		now := time.Now()
		lost += max(0, now.Sub(last)-every-usual)
		last = now
	}
	return lost
}

// TestAStopIsAwaited: what runs goes on to its end, which is recorded.
func TestAStopIsAwaited(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	var job httpapi.Job
	for _, lease := range []time.Duration{2 * time.Second, 8 * time.Second, 32 * time.Second} { // a busy machine loses the short ones
		mark := "s-" + lease.String()
		w := hire(t, s.Relay().URL(), s.Token(), here(s).registry(), worker.Config{Lease: lease}).ready()
		job = s.Enqueue("task", workertest.Object{"mark": mark, "do": "wait", "until": s.Path("go-" + mark)}, nil)
		here(s).has(t, "start", mark)
		w.stop()
		lost := lasts(s, lease+lease/4) // more than a lease, which has to be kept meanwhile
		touch(t, s.Path("go-"+mark))
		if err := w.ended(); err != nil {
			t.Errorf("it ends with %v", err)
		}
		e := s.Execution(job.ID)
		if e.State == "completed" && len(e.Attempts) == 1 {
			break
		}
		if lost < lease/4 || lease == 32*time.Second {
			t.Fatalf("the job is %s after %d attempts", e.State, len(e.Attempts))
		}
		t.Logf("with a lease of %s the job is %s after %d attempts, on a machine that was late by %s", lease, e.State, len(e.Attempts), lost)
	}

	cut := hire(t, s.Relay().URL(), s.Token(), here(s).registry(), worker.Config{}).ready()
	job = s.Enqueue("task", workertest.Object{"mark": "cut", "do": "nap", "for": "1h"}, nil)
	here(s).has(t, "start", "cut")
	cut.stop()
	cut.Cut()
	if err := cut.ended(); err != nil {
		t.Errorf("cut off, it ends with %v", err)
	}
	if run := s.Job(job.ID).Run; run.Status != "FAILED" || run.ErrorCode != rota.CodeShutdown {
		t.Errorf("the job that was cut off is %s, %s", run.Status, run.ErrorCode)
	}
}
