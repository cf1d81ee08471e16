//go:build unix

package worker_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/worker"
	"github.com/rotajobs/rota/worker/workertest"
)

// What a remote handler reports is stored as if it had run in the server.
func TestRemoteRunRecordsResultLogAndFailures(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	w := startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{}).awaitReady()

	shown := s.AwaitEnd(s.Enqueue("task", workertest.Object{"mark": "show", "do": "show"}, nil)).Attempts[0]
	run := shown.Run
	if shown.State != "completed" || *run.RowsAffected != 7 || *run.ExitCode != 3 || len(run.Artifacts) != 1 || run.Artifacts[0] != "out/report.pdf" ||
		string(run.Runner) != w.Name() || string(run.Progress) != `{"percent":50}` {
		t.Errorf("the run is stored as %+v", run)
	}
	if want := `{"key":"` + shown.ExecutionID.String() + `"}`; string(run.Result) != want {
		t.Errorf("its result is %s, want %s", run.Result, want)
	}
	if log := s.LogOf(shown.ID); !strings.Contains(log, `msg="a line"`) || !strings.HasSuffix(log, "printed ✓\n") {
		t.Errorf("its log reads %q", log)
	}

	failed := s.AwaitEnd(s.Enqueue("task", workertest.Object{"mark": "fail", "do": "fail"}, workertest.Object{"max_retries": 1}))
	if len(failed.Attempts) != 2 || failed.State != "dead" || failed.Error != "it went wrong" {
		t.Errorf("a failure is %s after %d attempts: %s", failed.State, len(failed.Attempts), failed.Error)
	}
	died := s.AwaitEnd(s.Enqueue("task", workertest.Object{"mark": "die", "do": "die"}, nil))
	if len(died.Attempts) != 1 || died.State != "dead" {
		t.Errorf("a permanent failure is %s after %d attempts", died.State, len(died.Attempts))
	}
	panicked := s.AwaitEnd(s.Enqueue("task", workertest.Object{"mark": "panic", "do": "panic"}, workertest.Object{"max_retries": 0}))
	if panicked.ErrorCode != "panic" || !strings.Contains(string(panicked.Error), "at the disco") || !strings.Contains(s.LogOf(panicked.LastJobID), "main_test.go") {
		t.Errorf("a panic is %s: %s", panicked.ErrorCode, panicked.Error)
	}
	later := s.Enqueue("task", workertest.Object{"mark": "later", "do": "later"}, nil)
	s.Eventually("the retry is due in an hour", func() bool {
		e := s.Execution(later.ExecutionID)
		return e.State == "failed" && time.Until(e.NextRetryAt.Time) > 50*time.Minute
	})
}

// Types have the schema of the Go type and the options. A second, equal declaration changes
// nothing.
func TestWorkerDeclaresTypesAndLimits(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	s.Must("PUT", "/types/other", workertest.Object{}, nil)
	s.Must("PUT", "/limits", workertest.Object{"global": 50, "types": workertest.Object{"other": workertest.Object{"rate": "100/1m"}}, "keys": workertest.Object{"k": 2}}, nil)
	declare := func() (typ api.Type, limits string) {
		reg := engine.NewRegistry()
		engine.Handle(reg, func(context.Context, task) error { return nil },
			engine.WithTimeout(90*time.Second), engine.WithRetries(7), engine.WithConcurrency(3), engine.WithDescription("for a test"))
		w := startWorker(t, s.NewProxy().URL(), s.Token(), reg, worker.Config{}).awaitReady()
		w.stop()
		if err := w.awaitEnd(); err != nil {
			t.Errorf("stopped, it ends with %v", err)
		}
		s.Must("GET", "/types/task", nil, &typ)
		var all json.RawMessage
		s.Must("GET", "/limits", nil, &all)
		return typ, string(all)
	}
	typ, limits := declare()
	if typ.Description != "for a test" || *typ.MaxRetries != 7 || time.Duration(*typ.Timeout) != 90*time.Second || !strings.Contains(string(typ.Schema), `"mark"`) {
		t.Errorf("the type is %+v, %s", typ, typ.Schema)
	}
	for _, want := range []string{`"global":50`, `"other":{"concurrency":0,"rate":"100/1m"}`, `"task":{"concurrency":3,"rate":null}`, `"k":2`} {
		if !strings.Contains(limits, want) {
			t.Errorf("the limits are %s, want %s in it", limits, want)
		}
	}
	if again, same := declare(); again.Version != typ.Version || same != limits {
		t.Errorf("declared again, the type is %+v and the limits are %s", again, same)
	}
}

// A handler has the trace of the request that enqueued its job.
func TestTraceReachesHandler(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	traces := make(chan string, 1)
	reg := engine.NewRegistry()
	reg.Func("reports/traced", rota.TypeSpec{}, func(_ context.Context, job *rota.Job) error {
		traces <- job.Trace
		return nil
	})
	startWorker(t, s.NewProxy().URL(), s.Token(), reg, worker.Config{}).awaitReady()
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	s.Header.Set("Traceparent", parent)
	s.AwaitEnd(s.Enqueue("reports/traced", workertest.Object{}, nil))
	if got := <-traces; got != parent {
		t.Errorf("the trace is %q, want %q", got, parent)
	}
}

// The schema may be newer than the job.
func TestInvalidPayloadIsNotHandedOut(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	s.Must("PUT", "/types/task", workertest.Object{}, nil)
	bad := s.Enqueue("task", workertest.Object{"mark": 7}, nil)
	good := s.Enqueue("task", workertest.Object{"mark": "good"}, nil)
	startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{}).awaitReady()
	if e := s.AwaitEnd(good); e.State != "completed" {
		t.Errorf("the next job is %s: %s", e.State, e.Error)
	}
	e := s.AwaitEnd(bad)
	if e.State != "dead" || e.ErrorCode != "payload" || len(e.Attempts) != 1 || !strings.Contains(string(e.Error), "mark") {
		t.Errorf("it is %s after %d attempts, %s: %s", e.State, len(e.Attempts), e.ErrorCode, e.Error)
	}
	if lines := ledgerOf(s).lines(t, ""); len(lines) != 2 {
		t.Errorf("the handlers wrote %v", lines)
	}
	status, text := s.Send(http.MethodPost, "/jobs", workertest.Object{"type": "task", "params": workertest.Object{"mark": ""}})
	if status != http.StatusUnprocessableEntity || !strings.Contains(string(text), "params.mark") {
		t.Errorf("an invalid new job is answered %d %s", status, text)
	}
}

// The worker learns of the cancel with its heartbeat.
func TestCancelReachesHandlerWithHeartbeat(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{Lease: 6 * time.Second}).awaitReady()
	job := s.Enqueue("task", workertest.Object{"mark": "c", "do": "nap", "for": "1h"}, nil)
	ledgerOf(s).awaitLine(t, "start", "c")
	began := time.Now()
	s.Must("POST", "/jobs/"+job.ID.String()+"/cancel", workertest.Object{"reason": "timeout"}, nil) // the reason of a user, not of the server
	e := s.AwaitEnd(job)
	if e.State != "cancelled" || len(e.Attempts) != 1 || e.Attempts[0].Run.CancelReason != "timeout" {
		t.Errorf("it is %s after %d attempts: %+v", e.State, len(e.Attempts), e.Attempts[0].Run)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if found := ledgerOf(s).awaitLine(t, "error", "c"); found.more != "the run was cancelled" {
		t.Errorf("the cause in the handler is %q", found.more)
	}
}

// A run that exceeds its timeout is stopped and retried.
func TestTimedOutRunIsRetried(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	startWorker(t, s.NewProxy().URL(), s.Token(), ledgerOf(s).registry(), worker.Config{}).awaitReady()
	e := s.AwaitEnd(s.Enqueue("task", workertest.Object{"mark": "t", "do": "nap", "for": "1h"}, workertest.Object{"timeout": "1s", "max_retries": 1}))
	if len(e.Attempts) != 2 || e.ErrorCode != rota.CodeTimeout || e.Attempts[0].Run.Status != "CANCELLED" || e.Attempts[0].Run.ErrorCode != rota.CodeTimeout {
		t.Errorf("after %d attempts it is %s, %s", len(e.Attempts), e.State, e.ErrorCode)
	}
}

// The error names the remedy. A token that becomes invalid ends the worker too, and cuts off
// running handlers.
func TestWrongTokenEndsWorker(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	err := startWorker(t, s.NewProxy().URL(), "0123456789abcdef0123456789abcdef", ledgerOf(s).registry(), worker.Config{}).awaitEnd()
	if rota.CodeOf(err) != rota.Denied || !strings.Contains(err.Error(), "the token is wrong") || !strings.Contains(err.Error(), "admin.token") {
		t.Errorf("it ends with %v", err)
	}

	other := workertest.New(t) // with a token of its own
	way := workertest.NewProxy(t)
	way.SetTarget(s.Address())
	w := startWorker(t, way.URL(), s.Token(), ledgerOf(s).registry(), worker.Config{}).awaitReady()
	s.Enqueue("task", workertest.Object{"mark": "cut", "do": "nap", "for": "1h"}, nil)
	ledgerOf(s).awaitLine(t, "start", "cut")
	way.SetTarget(other.Address())
	way.Cut()
	began := time.Now()
	if err := w.awaitEnd(); rota.CodeOf(err) != rota.Denied {
		t.Errorf("when its token becomes invalid, it ends with %v", err)
	}
	if took := time.Since(began); took > rota.DefaultLease {
		t.Errorf("it took %v to end: by then the server has given its jobs to others", took)
	}
	ledgerOf(s).awaitLine(t, "error", "cut")
}

// The worker retries until the server has started.
func TestWorkerWaitsForServerToStart(t *testing.T) {
	t.Parallel()
	s := workertest.NewStopped(t)
	const token = "0123456789abcdef0123456789abcdef"
	s.SetToken(token)
	url := s.NewProxy().URL()
	w := startWorker(t, url, token, ledgerOf(s).registry(), worker.Config{})
	workertest.Eventually(t, "it has logged the outage", func() bool { return strings.Contains(w.log.String(), "does not answer") })
	s.Restart()
	w.awaitReady()
	if e := s.AwaitEnd(s.Enqueue("task", workertest.Object{"mark": "first"}, nil)); e.State != "completed" {
		t.Errorf("a job is %s", e.State)
	}
	if n := strings.Count(w.log.String(), "does not answer"); n > 2 {
		t.Errorf("the outage is logged %d times", n)
	}
	workertest.Eventually(t, "it has logged its start", func() bool {
		return strings.Contains(w.log.String(), "msg=working for="+url) && strings.Contains(w.log.String(), "types=[task] slots=")
	})
}
