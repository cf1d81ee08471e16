//go:build unix

package worker_test

import (
	"testing"
	"time"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/worker/workertest"
)

// stubborn is a worker over HTTP that extends its lease and never stops.
type stubborn struct {
	*workertest.Cluster
	job   api.ClaimedJob
	lease workertest.Object
}

// claim claims the next job of the type task.
func claim(s *workertest.Cluster) *stubborn {
	s.Helper()
	var claimed api.List[api.ClaimedJob]
	s.Must("POST", "/claim", workertest.Object{"worker": "stubborn", "types": []string{"task"}, "lease": "1h", "wait": "20s"}, &claimed)
	if len(claimed.Items) != 1 {
		s.Fatalf("claimed %d jobs", len(claimed.Items))
	}
	job := claimed.Items[0]
	return &stubborn{s, job, workertest.Object{"job_id": job.Job.ID, "run_id": job.RunID, "lease_token": job.LeaseToken}}
}

func (w *stubborn) extend() (lease api.ExtendedLease) {
	w.Helper()
	var answer api.Extended
	w.Must("POST", "/extend", workertest.Object{"lease": "1h", "items": []any{w.lease}}, &answer)
	return answer.Items[0]
}

// finish reports that the handler completed, and returns the code of the answer.
func (w *stubborn) finish() string {
	w.Helper()
	item := workertest.Object{"outcome": "completed"}
	for name, value := range w.lease {
		item[name] = value
	}
	var answer api.List[struct{ Code string }]
	w.Must("POST", "/finish", workertest.Object{"items": []any{item}}, &answer)
	return answer.Items[0].Code
}

// ignoreStop extends until the lease is lost. It returns whether the server asked the worker to
// stop before, and the last reason.
func (w *stubborn) ignoreStop() (asked bool, reason string) {
	w.Helper()
	w.Eventually("the lease is lost", func() bool {
		lease := w.extend()
		if lease.Cancel {
			asked, reason = true, string(lease.Reason)
		}
		return lease.Code == "lease_lost"
	})
	return asked, reason
}

// The server ends the run of a worker that ignores a cancel, however often the worker extends.
func TestServerEndsRunOfWorkerIgnoringCancel(t *testing.T) {
	t.Parallel()
	s := workertest.New(t, "ROTA_CANCEL_GRACE=3s")
	s.Must("PUT", "/types/task", workertest.Object{}, nil)
	job := s.Enqueue("task", workertest.Object{}, nil)
	w := claim(s)
	if lease := w.extend(); lease.Code != "ok" || lease.Cancel {
		t.Errorf("before the cancel: %+v", lease)
	}
	s.Must("POST", "/jobs/"+job.ID.String()+"/cancel", workertest.Object{"reason": "enough"}, nil)
	if asked, reason := w.ignoreStop(); !asked || reason != "enough" {
		t.Errorf("asked to stop: %v, because of %q", asked, reason)
	}
	e := s.AwaitEnd(job)
	run := e.Attempts[0].Run
	if e.State != "cancelled" || e.Attempts[0].State != "cancelled" || len(e.Attempts) != 1 || run.Status != "CANCELLED" || run.ErrorCode != "cancelled" ||
		run.Error != "cancelled; worker stubborn did not stop within 3s" {
		t.Errorf("it is %s after %d attempts: %+v", e.State, len(e.Attempts), run)
	}
	w.wantDead()
	s.Verify()
}

// The server ends the run of a worker that ignores its deadline as timed out, and the retry runs.
func TestServerEndsRunOfWorkerIgnoringDeadline(t *testing.T) {
	t.Parallel()
	s := workertest.New(t, "ROTA_CANCEL_GRACE=3s")
	s.Must("PUT", "/types/task", workertest.Object{}, nil)
	job := s.Enqueue("task", workertest.Object{}, workertest.Object{"timeout": "1s", "max_retries": 2})
	first := claim(s)
	if deadline := first.job.Deadline.Sub(first.job.Job.StartedAt.Time); deadline != time.Second {
		t.Errorf("the deadline is %v after the start", deadline)
	}
	if asked, reason := first.ignoreStop(); !asked || reason != "timeout" {
		t.Errorf("asked to stop: %v, because of %q", asked, reason)
	}
	second := claim(s)
	if second.job.Job.Attempt != 2 || second.job.Job.RetryOf != job.ID {
		t.Errorf("the retry is %+v", second.job.Job)
	}
	first.wantDead()
	second.ignoreStop()
	third := claim(s)
	if code := third.finish(); code != "ok" {
		t.Errorf("finishing the second retry: %s", code)
	}
	e := s.AwaitEnd(job)
	if e.State != "completed" || len(e.Attempts) != 3 {
		t.Fatalf("it is %s after %d attempts", e.State, len(e.Attempts))
	}
	for _, late := range e.Attempts[:2] {
		if late.State != "failed" || late.Run.Status != "CANCELLED" || late.Run.ErrorCode != "timeout" ||
			late.Run.Error != "timed out after 1s; worker stubborn did not stop within 3s" {
			t.Errorf("attempt %d is %s: %+v", late.Attempt, late.State, late.Run)
		}
	}
	s.Verify()
}

// wantDead wants the token to be refused, and the run to stay as it is.
func (w *stubborn) wantDead() {
	w.Helper()
	before := w.Job(w.job.Job.ID)
	if code := w.extend().Code; code != "lease_lost" {
		w.Errorf("extending after the end: %s", code)
	}
	if code := w.finish(); code != "lease_lost" {
		w.Errorf("finishing after the end: %s", code)
	}
	if after := w.Job(w.job.Job.ID); after.State != before.State || after.Run.Status != before.Run.Status || after.Run.ErrorCode != before.Run.ErrorCode {
		w.Errorf("a dead token changed %+v to %+v", before, after)
	}
}
