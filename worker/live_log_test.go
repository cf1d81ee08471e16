//go:build unix

package worker_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/worker"
	"github.com/rotajobs/rota/worker/workertest"
)

// wantTalk checks that a log has every line of the handler once, in order.
func wantTalk(t *testing.T, log string, run *api.Run) {
	t.Helper()
	var want strings.Builder
	var last int
	_, _ = fmt.Sscan(string(run.Result), &last)
	for n := range last + 1 {
		fmt.Fprintf(&want, "line %d ä\n", n)
	}
	want.WriteString("last line\n")
	if log != want.String() {
		t.Errorf("after %d lines the log is %q", last, log)
	}
}

// The log of a run is readable while the run continues, and complete when it has ended.
func TestLogIsReadableWhileRunContinues(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{}).awaitReady()
	job := s.Enqueue("task", workertest.Object{"mark": "m", "do": "talk", "until": s.Path("go")}, nil)
	ledgerOf(s).awaitLine(t, "start", "m")
	began := time.Now()
	s.Eventually("the log has lines", func() bool { return strings.Contains(s.LogOf(job.ID), "line 3 ä\n") })
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the first lines appear after %v", took)
	}
	time.Sleep(1500 * time.Millisecond) // more parts
	touch(t, s.Path("go"))
	e := s.AwaitEnd(job)
	wantTalk(t, s.LogOf(job.ID), e.Attempts[0].Run)
}

// A server that is killed between two parts, and connections that break, double and lose nothing.
func TestLogSurvivesKilledServerAndBrokenConnections(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	way := s.NewProxy()
	startWorker(t, way.URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Lease: time.Minute, Timeout: 2 * time.Second}).awaitReady()
	job := s.Enqueue("task", workertest.Object{"mark": "m", "do": "talk", "until": s.Path("go")}, nil)
	ledgerOf(s).awaitLine(t, "start", "m")
	s.Eventually("the log has lines", func() bool { return strings.Contains(s.LogOf(job.ID), "line 3 ä\n") })
	for range 10 {
		time.Sleep(230 * time.Millisecond)
		way.Cut()
	}
	s.Restart()
	before := len(s.LogOf(job.ID))
	s.Eventually("the log grows after the restart", func() bool { return len(s.LogOf(job.ID)) > before })
	touch(t, s.Path("go"))
	e := s.AwaitEnd(job)
	if len(e.Attempts) != 1 {
		t.Fatalf("%d attempts", len(e.Attempts))
	}
	wantTalk(t, s.LogOf(job.ID), e.Attempts[0].Run)
}

// A log may be as long as that of a run in the server. Beyond the limit it ends with one notice.
func TestLongLogIsKeptUpToServerLimit(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	reg := engine.NewRegistry()
	const count = 140_000 // of 100 bytes
	engine.Handle(reg, func(ctx context.Context, _ task) error {
		for n := range count {
			fmt.Fprintf(engine.Output(ctx), "line %094d\n", n)
		}
		return nil
	})
	startWorker(t, s.NewProxy().URL(), s.Token(), reg, worker.Config{}).awaitReady()
	job := s.Enqueue("task", workertest.Object{"mark": "m"}, nil)
	s.AwaitEnd(job)
	log := s.LogOf(job.ID)
	for n, line := range strings.Split(log, "\n") {
		if strings.HasPrefix(line, "[rota: the log is full at 10MiB") {
			if n != 10<<20/100 {
				t.Errorf("the notice is line %d", n)
			}
			if strings.Count(log, "[rota:") != 1 || !strings.HasSuffix(log, line+"\n") {
				t.Errorf("it does not end there: %q", log[len(log)-300:])
			}
			return
		}
		if want := fmt.Sprintf("line %094d", n); line != want {
			t.Fatalf("line %d is %q", n, line)
		}
	}
	t.Error("there is no notice")
}
