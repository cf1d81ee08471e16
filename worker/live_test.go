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
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/worker"
	"github.com/rotajobs/rota/worker/workertest"
)

// TestRunsShowWhatTheyDid: what a handler says far away is kept as if it had said
// it in the server.
func TestRunsShowWhatTheyDid(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	w := hire(t, s.Relay().URL(), s.Token(), here(s).registry(), worker.Config{}).ready()

	shown := s.Ended(s.Enqueue("task", workertest.Object{"mark": "show", "do": "show"}, nil)).Attempts[0]
	run := shown.Run
	if shown.State != "completed" || *run.RowsAffected != 7 || *run.ExitCode != 3 || len(run.Artifacts) != 1 || run.Artifacts[0] != "out/report.pdf" ||
		string(run.Runner) != w.Name() || string(run.Progress) != `{"percent":50}` {
		t.Errorf("it is kept as %+v", run)
	}
	if want := `{"key":"` + shown.ExecutionID.String() + `"}`; string(run.Result) != want {
		t.Errorf("its result is %s, want %s", run.Result, want)
	}
	if log := s.LogOf(shown.ID); !strings.Contains(log, `msg="a line"`) || !strings.HasSuffix(log, "printed ✓\n") {
		t.Errorf("its log reads %q", log)
	}

	failed := s.Ended(s.Enqueue("task", workertest.Object{"mark": "fail", "do": "fail"}, workertest.Object{"max_retries": 1}))
	if len(failed.Attempts) != 2 || failed.State != "dead" || failed.Error != "it went wrong" {
		t.Errorf("a failure is %s after %d attempts: %s", failed.State, len(failed.Attempts), failed.Error)
	}
	died := s.Ended(s.Enqueue("task", workertest.Object{"mark": "die", "do": "die"}, nil))
	if len(died.Attempts) != 1 || died.State != "dead" {
		t.Errorf("what cannot be helped is %s after %d attempts", died.State, len(died.Attempts))
	}
	panicked := s.Ended(s.Enqueue("task", workertest.Object{"mark": "panic", "do": "panic"}, workertest.Object{"max_retries": 0}))
	if panicked.ErrorCode != "panic" || !strings.Contains(string(panicked.Error), "at the disco") || !strings.Contains(s.LogOf(panicked.LastJobID), "main_test.go") {
		t.Errorf("a panic is %s: %s", panicked.ErrorCode, panicked.Error)
	}
	later := s.Enqueue("task", workertest.Object{"mark": "later", "do": "later"}, nil)
	s.Until("it comes back in an hour", func() bool {
		e := s.Execution(later.ExecutionID)
		return e.State == "failed" && time.Until(e.NextRetryAt.Time) > 50*time.Minute
	})
}

// TestTypesAndLimitsAreDeclared: with the schema of the Go type, and what the
// options say; declared again as they stand nothing changes.
func TestTypesAndLimitsAreDeclared(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	s.Must("PUT", "/types/other", workertest.Object{}, nil)
	s.Must("PUT", "/limits", workertest.Object{"global": 50, "types": workertest.Object{"other": workertest.Object{"rate": "100/1m"}}, "keys": workertest.Object{"k": 2}}, nil)
	declare := func() (typ httpapi.Type, limits string) {
		reg := engine.NewRegistry()
		engine.Handle(reg, func(context.Context, task) error { return nil },
			engine.WithTimeout(90*time.Second), engine.WithRetries(7), engine.WithConcurrency(3), engine.WithDescription("for a test"))
		w := hire(t, s.Relay().URL(), s.Token(), reg, worker.Config{}).ready()
		w.stop()
		if err := w.ended(); err != nil {
			t.Errorf("told to stop, it ends with %v", err)
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

// TestATraceGoesOn: a handler knows the span that has enqueued its job.
func TestATraceGoesOn(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	traces := make(chan string, 1)
	reg := engine.NewRegistry()
	reg.Func("reports/traced", rota.TypeSpec{}, func(_ context.Context, job *rota.Job) error {
		traces <- job.Trace
		return nil
	})
	hire(t, s.Relay().URL(), s.Token(), reg, worker.Config{}).ready()
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	s.Header.Set("Traceparent", parent)
	s.Ended(s.Enqueue("reports/traced", workertest.Object{}, nil))
	if got := <-traces; got != parent {
		t.Errorf("it goes on from %q, want %q", got, parent)
	}
}

// TestPayloadsThatDoNotFitAreNotHandedOut: the schema may have come after the job.
func TestPayloadsThatDoNotFitAreNotHandedOut(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	s.Must("PUT", "/types/task", workertest.Object{}, nil)
	bad := s.Enqueue("task", workertest.Object{"mark": 7}, nil)
	good := s.Enqueue("task", workertest.Object{"mark": "good"}, nil)
	hire(t, s.Relay().URL(), s.Token(), here(s).registry(), worker.Config{}).ready()
	if e := s.Ended(good); e.State != "completed" {
		t.Errorf("the one behind it is %s: %s", e.State, e.Error)
	}
	e := s.Ended(bad)
	if e.State != "dead" || e.ErrorCode != "payload" || len(e.Attempts) != 1 || !strings.Contains(string(e.Error), "mark") {
		t.Errorf("it is %s after %d attempts, %s: %s", e.State, len(e.Attempts), e.ErrorCode, e.Error)
	}
	if lines := here(s).lines(t, ""); len(lines) != 2 {
		t.Errorf("the handlers did %v", lines)
	}
	status, text := s.Send(http.MethodPost, "/jobs", workertest.Object{"type": "task", "params": workertest.Object{"mark": ""}})
	if status != http.StatusUnprocessableEntity || !strings.Contains(string(text), "params.mark") {
		t.Errorf("one that is sent now is answered %d %s", status, text)
	}
}

// TestACancelReachesTheHandler, through its heartbeat.
func TestACancelReachesTheHandler(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	hire(t, s.Relay().URL(), s.Token(), here(s).registry(), worker.Config{Lease: 6 * time.Second}).ready()
	job := s.Enqueue("task", workertest.Object{"mark": "c", "do": "nap", "for": "1h"}, nil)
	here(s).has(t, "start", "c")
	began := time.Now()
	s.Must("POST", "/jobs/"+job.ID.String()+"/cancel", workertest.Object{"reason": "timeout"}, nil) // a person's words are not the server's
	e := s.Ended(job)
	if e.State != "cancelled" || len(e.Attempts) != 1 || e.Attempts[0].Run.CancelReason != "timeout" {
		t.Errorf("it is %s after %d attempts: %+v", e.State, len(e.Attempts), e.Attempts[0].Run)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if found := here(s).has(t, "error", "c"); found.more != "the run was cancelled" {
		t.Errorf("the handler was told %q", found.more)
	}
}

// TestTimeIsUp: a run that takes too long is stopped and tried again.
func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	hire(t, s.Relay().URL(), s.Token(), here(s).registry(), worker.Config{}).ready()
	e := s.Ended(s.Enqueue("task", workertest.Object{"mark": "t", "do": "nap", "for": "1h"}, workertest.Object{"timeout": "1s", "max_retries": 1}))
	if len(e.Attempts) != 2 || e.ErrorCode != rota.CodeTimeout || e.Attempts[0].Run.Status != "CANCELLED" || e.Attempts[0].Run.ErrorCode != rota.CodeTimeout {
		t.Errorf("after %d attempts it is %s, %s", len(e.Attempts), e.State, e.ErrorCode)
	}
}

// TestAWrongTokenEndsTheWorker, and says what would do. One that was right until
// now ends it too, and cuts off what runs.
func TestAWrongTokenEndsTheWorker(t *testing.T) {
	t.Parallel()
	s := workertest.New(t)
	err := hire(t, s.Relay().URL(), "0123456789abcdef0123456789abcdef", here(s).registry(), worker.Config{}).ended()
	if rota.CodeOf(err) != rota.Denied || !strings.Contains(err.Error(), "the token is wrong") || !strings.Contains(err.Error(), "admin.token") {
		t.Errorf("it ends with %v", err)
	}

	other := workertest.New(t) // with a token of its own
	way := workertest.NewRelay(t)
	way.SetTarget(s.Address())
	w := hire(t, way.URL(), s.Token(), here(s).registry(), worker.Config{}).ready()
	s.Enqueue("task", workertest.Object{"mark": "cut", "do": "nap", "for": "1h"}, nil)
	here(s).has(t, "start", "cut")
	way.SetTarget(other.Address())
	way.Cut()
	began := time.Now()
	if err := w.ended(); rota.CodeOf(err) != rota.Denied {
		t.Errorf("when its token is wrong all at once, it ends with %v", err)
	}
	if took := time.Since(began); took > rota.DefaultLease {
		t.Errorf("it took %v to end: the server has given its jobs to others by then", took)
	}
	here(s).has(t, "error", "cut")
}

// TestAWorkerMayBeThereFirst: it waits for its server.
func TestAWorkerMayBeThereFirst(t *testing.T) {
	t.Parallel()
	s := workertest.Vacant(t)
	const token = "0123456789abcdef0123456789abcdef"
	s.SetToken(token)
	url := s.Relay().URL()
	w := hire(t, url, token, here(s).registry(), worker.Config{})
	workertest.Until(t, "it has found nobody", func() bool { return strings.Contains(w.said.String(), "does not answer") })
	s.Restart()
	w.ready()
	if e := s.Ended(s.Enqueue("task", workertest.Object{"mark": "first"}, nil)); e.State != "completed" {
		t.Errorf("a job is %s", e.State)
	}
	if n := strings.Count(w.said.String(), "does not answer"); n > 2 {
		t.Errorf("an outage is told of %d times", n)
	}
	workertest.Until(t, "it has said whom it works for", func() bool {
		return strings.Contains(w.said.String(), "msg=working for="+url) && strings.Contains(w.said.String(), "types=[task] slots=")
	})
}
