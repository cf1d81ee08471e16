package worker

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// fullJob is a job with every field that a claimed job can have.
func fullJob() *rota.Job {
	at := time.Date(2026, 11, 15, 7, 0, 0, 123456000, time.UTC)
	return &rota.Job{
		ID: rota.NewID(), ExecutionID: rota.NewID(), Type: "mail", Name: "nightly", Params: json.RawMessage(`{"to":"<a&b>"}`),
		Status: rota.StatusRunning, Priority: 3, Position: 700, Attempt: 2, RetryOf: rota.NewID(), RedriveOf: rota.NewID(),
		Policy:    rota.Policy{MaxAttempts: 6, Backoff: 90 * time.Second, BackoffMax: time.Hour, Jitter: 0.25, Timeout: 1500 * time.Millisecond},
		ScopeKind: "user", ScopeID: "7", PlanTime: at, RunAt: at.Add(time.Second), UniqueKey: "k", UniqueFor: 24 * time.Hour,
		Template: "letters", Schedule: "nightly", GroupID: rota.NewID(), GroupPosition: 4, ConcurrencyKey: "tenant-7",
		Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", CreatedBy: "ada",
		CreatedAt: at, QueuedAt: at.Add(2 * time.Second), StartedAt: at.Add(3 * time.Second),
	}
}

// A handler gets the job as the server has it, with all fields or only the mandatory ones.
func TestClaimedJobEqualsJobOfServer(t *testing.T) {
	least := &rota.Job{
		ID: rota.NewID(), ExecutionID: rota.NewID(), Type: "mail", Name: "mail", Params: json.RawMessage(`{}`), Status: rota.StatusRunning,
		Attempt: 1, Policy: rota.Policy{MaxAttempts: 1}, CreatedAt: time.UnixMicro(1).UTC(), StartedAt: time.UnixMicro(2).UTC(),
	}
	for name, job := range map[string]*rota.Job{"whole": fullJob(), "least": least} {
		text := rota.EncodeSpec(api.NewJob(job))
		var view api.Job
		if err := json.Unmarshal(text, &view); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		if got := view.Entity(); !reflect.DeepEqual(got, job) {
			t.Errorf("%s: it was decoded as\n%+v, want\n%+v", name, got, job)
		}
	}
}

// A new field of a job must be copied, or listed here as omitted.
func TestJobFieldsAreCopiedOrOmittedOnPurpose(t *testing.T) {
	left := map[string]bool{ // not of interest to the process that runs the job
		"Hold": true, "Version": true, "Sequel": true, "CountsAt": true, "WaitFrom": true, "WaitUntil": true, "FinishedAt": true, "Run": true,
	}
	job := reflect.ValueOf(*fullJob())
	for i := range job.NumField() {
		if name := job.Type().Field(i).Name; job.Field(i).IsZero() != left[name] {
			t.Errorf("a job has the field %s, which this test does not know", name)
		}
	}
}

// Nothing is run for such an answer.
func TestInvalidClaimAnswersAreRefused(t *testing.T) {
	for _, body := range []string{
		`{"items":[{"job":{}}]}`,
		`{"items":[{"run_id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f61","lease_token":"xyz","job":{"id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60","type":"mail"}}]}`,
	} {
		s := newFakeServer(t, respondOK(body)).store(Config{})
		if reply, err := s.claim(t.Context(), &rota.Claim{Meta: rota.NewMeta(""), Limit: 1}); rota.CodeOf(err) != rota.Internal {
			t.Errorf("%s is read as %v, %v", body, reply, err)
		}
	}
}

// A timed-out run is retried, a cancelled one is not.
func TestTimeoutIsNotReadAsCancel(t *testing.T) {
	ref := rota.LeaseRef{JobID: rota.NewID(), RunID: rota.NewID(), Token: rota.NewToken()}
	for reason, late := range map[string]bool{"timeout": true, "no longer wanted": false} {
		s := newFakeServer(t, respondOK(`{"items":[{"run_id":"`+ref.RunID.String()+`","code":"ok","cancel":true,"reason":"`+reason+`"}]}`)).store(Config{})
		reply, err := s.extend(t.Context(), &rota.Extend{Lease: time.Second, Items: []rota.ExtendItem{{LeaseRef: ref}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := reply.(*rota.Extended).Items[0]; got.Overdue != late || got.Cancel == late {
			t.Errorf("the reason %q is read as %+v", reason, got)
		}
	}
}
