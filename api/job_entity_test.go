package api

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// fullJob is a job with every field that the API shows.
func fullJob() *rota.Job {
	at := time.Date(2026, 11, 15, 7, 0, 0, 123456000, time.UTC)
	return &rota.Job{
		ID: rota.NewID(), ExecutionID: rota.NewID(), Type: "mail", Name: "nightly", Params: json.RawMessage(`{"to":"<a&b>","n":12345678901234567890.10}`),
		Version: rota.NewID(), Status: rota.StatusRunning, Hold: rota.HoldDelay | rota.HoldOverlap, Priority: 3, Position: 700, Attempt: 2, RetryOf: rota.NewID(), RedriveOf: rota.NewID(), Sequel: rota.SequelDead,
		Policy:    rota.Policy{MaxAttempts: 6, Backoff: 90 * time.Second, BackoffMax: time.Hour, Jitter: 0.25, Timeout: 1500 * time.Millisecond},
		ScopeKind: "user", ScopeID: "7", PlanTime: at, RunAt: at.Add(time.Second), UniqueKey: "k", UniqueFor: 24 * time.Hour,
		Template: "letters", Schedule: "nightly", GroupID: rota.NewID(), GroupPosition: 4, ConcurrencyKey: "tenant-7",
		Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Owner: "bo", CreatedBy: "ada",
		CreatedAt: at, QueuedAt: at.Add(2 * time.Second), StartedAt: at.Add(3 * time.Second), FinishedAt: at.Add(4 * time.Second),
		Run: &rota.Run{
			ID: rota.NewID(), Runner: "w1", StartedAt: at.Add(3 * time.Second), HeartbeatAt: at.Add(3 * time.Second), StaleAfter: at.Add(time.Minute),
			Progress: json.RawMessage(`{"percent":50}`), CancelAt: at, CancelBy: "bo", CancelReason: "wrong", Outcome: rota.OutcomeFailed, FinishedAt: at.Add(4 * time.Second),
			ExitCode: new(0), Error: "no <paper>", ErrorCode: "paper", RowsAffected: new(int64(7)), Result: json.RawMessage(`[1e400]`), Artifacts: []string{"a"}, LogPath: "logs/x",
		},
	}
}

// A program that gets a job from the API has the job of the server.
func TestJobEqualsJobOfServer(t *testing.T) {
	waiting := &rota.Job{
		ID: rota.NewID(), ExecutionID: rota.NewID(), Type: "mail", Params: json.RawMessage(`{}`), Status: rota.StatusQueued, Hold: rota.HoldKey,
		Attempt: 1, Policy: rota.Policy{MaxAttempts: 1}, CreatedAt: time.UnixMicro(1).UTC(),
	}
	running := *waiting
	running.Status, running.Hold, running.Run = rota.StatusRunning, 0, &rota.Run{ID: rota.NewID(), StartedAt: time.UnixMicro(2).UTC()}
	for name, job := range map[string]*rota.Job{"full": fullJob(), "waiting": waiting, "running": &running} {
		text := rota.EncodeSpec(NewJob(job))
		var view Job
		if err := json.Unmarshal(text, &view); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		if got := view.Entity(); !reflect.DeepEqual(got, job) || got.State() != job.State() {
			t.Errorf("%s: it was decoded as\n%s, want\n%s", name, rota.EncodeSpec(got), rota.EncodeSpec(job))
		}
	}
}

// A new field of a job must be copied, or listed here as omitted.
func TestJobFieldsAreCopiedOrOmittedOnPurpose(t *testing.T) {
	omitted := map[string]bool{
		"CountsAt": true, "WaitFrom": true, "WaitUntil": true, // the API does not show them
		"Incarnation": true, "Token": true, // only the worker that holds the lease has them
	}
	for _, value := range []reflect.Value{reflect.ValueOf(*fullJob()), reflect.ValueOf(*fullJob().Run)} {
		for i := range value.NumField() {
			if name := value.Type().Field(i).Name; value.Field(i).IsZero() != omitted[name] {
				t.Errorf("%s has the field %s, which this test does not know", value.Type(), name)
			}
		}
	}
}

func TestJobRequestEqualsNewJob(t *testing.T) {
	at := time.Date(2026, 11, 15, 7, 0, 0, 123456000, time.UTC)
	job := rota.NewJob{
		Type: "mail", Name: "n", Params: json.RawMessage(`{"to":"<a&b>"}`), Priority: new(0), RunAt: at, Delay: time.Second, UniqueKey: "k", UniqueFor: time.Hour,
		ScopeKind: "user", ScopeID: "7", PlanTime: at, MaxRetries: new(0), Backoff: new(time.Second), BackoffMax: new(time.Duration(0)), Jitter: new(0.5),
		Timeout: new(time.Minute), ConcurrencyKey: new(""),
	}
	omitted := map[string]bool{"ID": true, "Trace": true, "Template": true} // no field of the body; a template excludes a type
	for i := range reflect.TypeFor[rota.NewJob]().NumField() {
		if name := reflect.TypeFor[rota.NewJob]().Field(i).Name; reflect.ValueOf(job).Field(i).IsZero() != omitted[name] {
			t.Errorf("a new job has the field %s, which this test does not know", name)
		}
	}
	var read JobRequest
	if err := json.Unmarshal(rota.EncodeSpec(NewJobRequest(&job)), &read); err != nil {
		t.Fatal(err)
	}
	if got, err := read.NewJob(); err != nil || !reflect.DeepEqual(got, job) {
		t.Errorf("it was decoded as\n%s, want\n%s: %v", rota.EncodeSpec(got), rota.EncodeSpec(job), err)
	}
}
