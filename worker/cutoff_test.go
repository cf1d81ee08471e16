//go:build unix

package worker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota/worker"
	"github.com/rotajobs/rota/worker/workertest"
)

// A worker that is cut off from the server ends the contexts of its handlers before their leases are over, so that
// a handler has the grace to return before another worker runs the retry.
func TestCutOffWorkerStopsHandlersBeforeRetryRuns(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(*workertest.Proxy){
		"silent": func(way *workertest.Proxy) { way.Hold() },
		"closed": func(way *workertest.Proxy) { way.SetTarget(""); way.Cut() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := workertest.New(t)
			way := s.NewProxy()
			const lease = 6 * time.Second
			startWorker(t, way.URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Name: "cut", Lease: lease, CancelGrace: 2 * time.Second}).awaitReady()
			job := s.Enqueue("task", workertest.Object{"mark": "m", "do": "wait", "until": s.Path("go")}, nil)
			ledgerOf(s).awaitLine(t, "start", "m")
			time.Sleep(lease) // the lease is extended meanwhile
			if n := len(ledgerOf(s).lines(t, "m")); n != 1 {
				t.Fatalf("connected, the handler did not continue: %d lines", n)
			}
			began := time.Now()
			cut(way)
			stopped := ledgerOf(s).awaitLine(t, "error", "m")
			if took := time.Since(began); stopped.more != "the lease of the run could not be extended in time" || took > lease-time.Second {
				t.Errorf("after %v the cause in the handler is %q; the lease is %v", took, stopped.more, lease)
			}
			startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Name: "heir"}).awaitReady()
			touch(t, s.Path("go"))
			checkRetried(t, s.AwaitEnd(job), "cut", "heir")
			var did []string
			for _, one := range ledgerOf(s).lines(t, "m") {
				did = append(did, one.event+" "+one.worker)
			}
			if want := []string{"start cut", "error cut", "start heir", "end heir"}; !slices.Equal(did, want) {
				t.Errorf("the handlers did %q, want %q", did, want)
			}
			s.Verify()
		})
	}
}

// The same if the server is gone: nobody tells the worker that its lease is over.
func TestWorkerOfDeadServerStopsHandlers(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Lease: 3 * time.Second}).awaitReady()
	job := s.Enqueue("task", workertest.Object{"mark": "m", "do": "wait", "until": s.Path("go")}, nil)
	ledgerOf(s).awaitLine(t, "start", "m")
	s.Kill()
	ledgerOf(s).awaitLine(t, "error", "m")
	touch(t, s.Path("go"))
	s.Restart()
	if e := s.AwaitEnd(job); e.State != "completed" || len(e.Attempts) != 2 {
		t.Errorf("after the restart it is %s after %d attempts", e.State, len(e.Attempts))
	}
}

// An outage that is shorter than what the lease leaves costs nothing.
func TestShortOutageKeepsHandlers(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	way := s.NewProxy()
	startWorker(t, way.URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Lease: 18 * time.Second, CancelGrace: 3 * time.Second}).awaitReady()
	job := s.Enqueue("task", workertest.Object{"mark": "m", "do": "wait", "until": s.Path("go")}, nil)
	ledgerOf(s).awaitLine(t, "start", "m")
	way.Hold()
	time.Sleep(5 * time.Second)
	way.Resume()
	time.Sleep(12 * time.Second) // longer than what was left of the lease
	touch(t, s.Path("go"))
	if e := s.AwaitEnd(job); e.State != "completed" || len(e.Attempts) != 1 {
		t.Errorf("it is %s after %d attempts", e.State, len(e.Attempts))
	}
}
