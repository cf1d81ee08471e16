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
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/worker"
	"github.com/rotajobs/rota/worker/workertest"
)

// Jobs are enqueued and run while the server is killed and restarted four times. The leases
// outlast it, so every acknowledged job runs exactly once: no job is lost with the lost
// answer to a claim, and none runs twice.
func TestServerKilledWhileWorkersRunLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	for i := range 2 {
		startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{
			Name: fmt.Sprint("w-", i), Workers: 4, Lease: time.Minute, Timeout: 2 * time.Second,
		}).awaitReady()
	}
	const count, kills = 400, 4
	jobs := make([]api.Job, count)
	var flow sync.WaitGroup
	for from := range 4 {
		flow.Go(func() {
			for i := from; i < count; i += 4 {
				jobs[i] = s.Enqueue("task", workertest.Object{"mark": fmt.Sprint("m-", i), "do": "nap", "for": fmt.Sprint(rand.IntN(20), "ms")}, nil)
			}
		})
	}
	for n := range kills {
		s.Eventually("more runs have ended", func() bool { return countEnds(ledgerOf(s).lines(t, "")) >= (n+1)*count/(kills+2) })
		s.Restart()
	}
	flow.Wait()
	for _, job := range jobs {
		if e := s.AwaitEnd(job); e.State != "completed" || len(e.Attempts) != 1 {
			t.Errorf("job %s is %s after %d attempts: %s %s", job.ID, e.State, len(e.Attempts), e.ErrorCode, e.Error)
		}
	}
	did := map[string]int{}
	for _, one := range ledgerOf(s).lines(t, "") {
		did[one.event+" "+one.mark]++
	}
	for i := range count {
		if mark := fmt.Sprint("m-", i); did["start "+mark] != 1 || did["end "+mark] != 1 {
			t.Errorf("%s was started %d times and ended %d times", mark, did["start "+mark], did["end "+mark])
		}
	}
	s.Verify()
}

func countEnds(lines []line) (n int) {
	for _, one := range lines {
		if one.event == "end" {
			n++
		}
	}
	return n
}

// The lease of the killed worker expires, another worker runs the retry, and the lease token
// of the killed one is no longer valid.
func TestKilledWorkerIsRetriedByAnother(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	victim := startWorkerProcess(s, s.NewProxy().URL(), "victim")
	s.Eventually("the type is declared", func() bool { status, _ := s.Send("GET", "/types/task", nil); return status == http.StatusOK })
	job := s.Enqueue("task", workertest.Object{"mark": "k", "do": "wait", "until": s.Path("go")}, nil)
	begun := ledgerOf(s).awaitLine(t, "start", "k")
	victim.Kill()
	startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Name: "heir"}).awaitReady()
	touch(t, s.Path("go"))
	e := s.AwaitEnd(job)
	checkRetried(t, e, "victim", "heir")

	finish := lateFinish(s, job, begun)
	if finish != "lease_lost" {
		t.Errorf("the finish of the dead worker is answered %s", finish)
	}
	if now := s.Execution(job.ID); now.State != "completed" || now.Attempts[0].Run.Error != e.Attempts[0].Run.Error || string(now.Attempts[0].Run.Result) != "" && string(now.Attempts[0].Run.Result) != "null" {
		t.Errorf("it changed %+v", now.Attempts[0].Run)
	}
	s.Verify()
}

// checkRetried checks that an execution has two attempts: one whose lease expired, and one
// that completed on another worker.
func checkRetried(t *testing.T, e api.ExecutionDetail, first, second string) {
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

// lateFinish records a run as completed with its old lease token.
func lateFinish(s *workertest.Cluster, job api.Job, of line) (code string) {
	s.Helper()
	var answer struct {
		Items []struct{ Code string }
	}
	s.Must("POST", "/finish", workertest.Object{"items": []workertest.Object{{
		"job_id": job.ID, "run_id": of.run, "lease_token": of.token, "outcome": "completed", "result": "too late",
	}}}, &answer)
	return answer.Items[0].Code
}

// The worker is suspended beyond its lease, like a machine that sleeps. When it continues,
// the context of one handler ends, and the end of the other, which ignores its context, is
// dropped.
func TestSuspendedWorkerCannotRecordAfterLease(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	sleeper := startWorkerProcess(s, s.NewProxy().URL(), "sleeper")
	s.Eventually("the type is declared", func() bool { status, _ := s.Send("GET", "/types/task", nil); return status == http.StatusOK })
	heeds := s.Enqueue("task", workertest.Object{"mark": "heeds", "do": "wait", "until": s.Path("go")}, nil)
	deaf := s.Enqueue("task", workertest.Object{"mark": "deaf", "do": "deaf", "until": s.Path("go")}, nil)
	ledgerOf(s).awaitLine(t, "start", "heeds")
	proof := ledgerOf(s).awaitLine(t, "start", "deaf")
	sleeper.Signal(syscall.SIGSTOP)
	for _, job := range []api.Job{heeds, deaf} {
		s.Eventually("the lease has expired", func() bool { return s.Job(job.ID).State == "failed" })
	}
	heir := startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Name: "heir"}).awaitReady()
	s.Eventually("the second worker has started both", func() bool { return len(ledgerOf(s).lines(t, "")) == 4 })

	sleeper.Signal(syscall.SIGCONT)
	if line := ledgerOf(s).awaitLine(t, "error", "heeds"); line.worker != "sleeper" || !leaseCause(line.more) {
		t.Errorf("the cause in the handler of %s is %q", line.worker, line.more)
	}
	touch(t, s.Path("go"))
	for _, job := range []api.Job{heeds, deaf} {
		checkRetried(t, s.AwaitEnd(job), "sleeper", "heir")
	}
	s.Eventually("the handler that ignores its context has ended", func() bool { return countEnds(ledgerOf(s).lines(t, "deaf")) == 2 })
	if code := lateFinish(s, deaf, proof); code != "lease_lost" {
		t.Errorf("the late finish is answered %s", code)
	}
	checkRetried(t, s.Execution(deaf.ID), "sleeper", "heir")
	sleeper.Stop()
	if out := sleeper.Output(); !strings.Contains(out, "lease of a run is lost") && !strings.Contains(out, "lease could not be extended in time") {
		t.Errorf("the lost lease is not logged:\n%s", sleeper.Output())
	}
	heir.stop()
	s.Verify()
}

// leaseCause reports whether the context of a handler ended because of its lease: the worker may notice first
// that it is over by its own clock, or get an answer that it is lost.
func leaseCause(text string) bool {
	return text == "the lease of the run was lost" || text == "the lease of the run could not be extended in time"
}

// The network passes nothing, without closing connections. The handler ignores its context and completes
// meanwhile; its end, sent when the network works again, changes nothing, and the retry remains.
func TestPartitionedWorkerCannotRecordAfterLease(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	way := s.NewProxy()
	island := startWorker(t, way.URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Name: "island", Workers: 2, Lease: 4 * time.Second, Timeout: time.Second}).awaitReady()
	stopped := s.Enqueue("task", workertest.Object{"mark": "stopped", "do": "wait", "until": s.Path("never")}, workertest.Object{"max_retries": 0})
	ends := s.Enqueue("task", workertest.Object{"mark": "ends", "do": "deaf", "until": s.Path("go")}, nil)
	ledgerOf(s).awaitLine(t, "start", "stopped")
	ledgerOf(s).awaitLine(t, "start", "ends")
	way.Hold()
	if found := ledgerOf(s).awaitLine(t, "error", "stopped"); found.more != "the lease of the run could not be extended in time" {
		t.Errorf("the cause in the handler is %q", found.more)
	}
	for _, job := range []api.Job{stopped, ends} {
		s.Eventually("the lease has expired", func() bool { return s.Job(job.ID).State == "failed" })
	}
	touch(t, s.Path("go"))
	ledgerOf(s).awaitLine(t, "end", "ends")
	startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Name: "heir"}).awaitReady()
	checkRetried(t, s.AwaitEnd(ends), "island", "heir")

	way.Resume()
	s.Eventually("its end is dropped", func() bool { return strings.Contains(island.log.String(), "its outcome is dropped") })
	checkRetried(t, s.Execution(ends.ID), "island", "heir")
	after := s.AwaitEnd(s.Enqueue("task", workertest.Object{"mark": "after"}, nil))
	if after.State != "completed" {
		t.Errorf("afterwards a job is %s", after.State)
	}
	s.Verify()
}

// Every job runs once, whatever is in flight when connections break.
func TestBrokenConnectionsRunEachJobOnce(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	way := s.NewProxy()
	startWorker(t, way.URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Workers: 4, Lease: time.Minute, Timeout: 2 * time.Second}).awaitReady()
	var jobs []api.Job
	for i := range 200 {
		jobs = append(jobs, s.Enqueue("task", workertest.Object{"mark": fmt.Sprint("m-", i), "do": "nap", "for": "3ms"}, nil))
		if i%10 == 5 {
			way.Cut()
		}
	}
	for _, job := range jobs {
		if e := s.AwaitEnd(job); e.State != "completed" || len(e.Attempts) != 1 {
			t.Errorf("job %s is %s after %d attempts: %s", job.ID, e.State, len(e.Attempts), e.Error)
		}
	}
	if n := len(ledgerOf(s).lines(t, "")); n != 2*len(jobs) {
		t.Errorf("the ledger has %d lines of %d jobs", n, len(jobs))
	}
}

// Workers start and stop while jobs are enqueued. A worker runs the jobs of its last claim to
// their end: no job waits until the lease of a stopped worker expires.
func TestStoppingWorkersRunTheirLastClaim(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	reg := ledgerOf(s).registry
	first := startWorker(t, s.NewProxy().URL(), s.Token(), reg(), worker.Config{}).awaitReady()
	var jobs []api.Job
	for i := range 150 {
		jobs = append(jobs, s.Enqueue("task", workertest.Object{"mark": fmt.Sprint("m-", i), "do": "nap", "for": "10ms"}, nil))
		if i%10 == 9 {
			next := startWorker(t, s.NewProxy().URL(), s.Token(), reg(), worker.Config{Workers: 2, Lease: time.Hour}).awaitReady()
			first.stop()
			if err := first.awaitEnd(); err != nil {
				t.Errorf("stopped, it ends with %v", err)
			}
			first = next
		}
	}
	for _, job := range jobs {
		if e := s.AwaitEnd(job); e.State != "completed" || len(e.Attempts) != 1 {
			t.Errorf("job %s is %s after %d attempts: %s", job.ID, e.State, len(e.Attempts), e.Error)
		}
	}
}

// sleepMeasured sleeps, and returns how much time a busy machine took from this process and
// from the server.
func sleepMeasured(s *workertest.Cluster, d time.Duration) (lost time.Duration) {
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

// A stopped worker waits for its handlers, and records their ends.
func TestStopWaitsForRunningHandlers(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	var job api.Job
	for _, lease := range []time.Duration{2 * time.Second, 8 * time.Second, 32 * time.Second} { // a busy machine loses short leases
		mark := "s-" + lease.String()
		w := startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Lease: lease}).awaitReady()
		job = s.Enqueue("task", workertest.Object{"mark": mark, "do": "wait", "until": s.Path("go-" + mark)}, nil)
		ledgerOf(s).awaitLine(t, "start", mark)
		w.stop()
		lost := sleepMeasured(s, lease+lease/4) // longer than the lease, which must be extended meanwhile
		touch(t, s.Path("go-"+mark))
		if err := w.awaitEnd(); err != nil {
			t.Errorf("it ends with %v", err)
		}
		e := s.Execution(job.ID)
		if e.State == "completed" && len(e.Attempts) == 1 {
			break
		}
		if lost < lease/4 || lease == 32*time.Second {
			t.Fatalf("the job is %s after %d attempts", e.State, len(e.Attempts))
		}
		t.Logf("with a lease of %s the job is %s after %d attempts; the machine lost %s", lease, e.State, len(e.Attempts), lost)
	}

	cut := startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{}).awaitReady()
	job = s.Enqueue("task", workertest.Object{"mark": "cut", "do": "nap", "for": "1h"}, nil)
	ledgerOf(s).awaitLine(t, "start", "cut")
	cut.stop()
	cut.Cut()
	if err := cut.awaitEnd(); err != nil {
		t.Errorf("cut off, it ends with %v", err)
	}
	if run := s.Job(job.ID).Run; run.Status != "FAILED" || run.ErrorCode != rota.CodeShutdown {
		t.Errorf("the job that was cut off is %s, %s", run.Status, run.ErrorCode)
	}
}
