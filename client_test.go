package rota_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

type mail struct {
	To string `json:"to"`
}

func (mail) JobType() string { return "mail" }

// fax is a payload with a Validate method.
type fax struct{ wrong error }

func (*fax) JobType() string   { return "fax" }
func (f *fax) Validate() error { return f.wrong }

// spelled is a payload with any type name and any JSON.
type spelled struct{ typ, text string }

func (s spelled) JobType() string              { return s.typ }
func (s spelled) MarshalJSON() ([]byte, error) { return []byte(s.text), nil }

// addressed is a checker that requires an @ and has a schema for it.
type addressed struct{}

func (addressed) Schema(rota.Payload) (json.RawMessage, error) {
	return json.RawMessage(`{"type":"object"}`), nil
}

func (addressed) Check(_ rota.Payload, params json.RawMessage) error {
	if !bytes.ContainsRune(params, '@') {
		return rota.Invalidf("params.to", "is not an address")
	}
	return nil
}

func openStore(t *testing.T) rota.Store {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func wantInvalid(t *testing.T, err error, field, reason string) {
	t.Helper()
	var e *rota.Error
	if !errors.As(err, &e) || e.Code != rota.Invalid || e.Field != field || !strings.Contains(err.Error(), reason) {
		t.Errorf("got %v, want an Invalid of field %s with %q", err, field, reason)
	}
}

func TestEnqueueSetsEveryOption(t *testing.T) {
	ctx, client := context.Background(), rota.New(openStore(t), rota.WithActor("ada"))
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	job, err := client.Enqueue(ctx, mail{"a<b@example.com"},
		rota.At(at), rota.Unique("k"), rota.UniqueFor(time.Hour), rota.Priority(7), rota.Retries(2), rota.Backoff(time.Second),
		rota.BackoffMax(time.Minute), rota.Jitter(0.5), rota.Timeout(time.Hour), rota.ForScope("user", "7"), rota.Planned(at),
		rota.Key("smtp"), rota.Name("welcome"))
	if err != nil {
		t.Fatal(err)
	}
	job, err = client.Job(ctx, job.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := *job
	want.Type, want.Params, want.RunAt, want.PlanTime = "mail", json.RawMessage(`{"to":"a<b@example.com"}`), at, at
	want.UniqueKey, want.UniqueFor, want.Priority, want.ScopeKind, want.ScopeID = "k", time.Hour, 7, "user", "7"
	want.Policy = rota.Policy{MaxAttempts: 3, Backoff: time.Second, BackoffMax: time.Minute, Jitter: 0.5, Timeout: time.Hour}
	want.ConcurrencyKey, want.Name, want.CreatedBy = "smtp", "welcome", "ada"
	got, _ := json.Marshal(job)
	if wanted, _ := json.Marshal(want); !bytes.Equal(got, wanted) {
		t.Errorf("got  %s\nwant %s", got, wanted)
	}
	if job.State() != rota.StateScheduled {
		t.Errorf("it is %s", job.State())
	}
}

func TestAfterUsesStoreClock(t *testing.T) {
	job, err := rota.New(openStore(t)).Enqueue(context.Background(), mail{"a"}, rota.After(time.Hour))
	if err != nil || job.RunAt.Sub(job.CreatedAt) != time.Hour {
		t.Errorf("got %v, %v", job, err)
	}
}

func TestEnqueueDuplicateReturnsFirstJob(t *testing.T) {
	ctx, client := context.Background(), rota.New(openStore(t))
	first, err := client.Submit(ctx, mail{"a"}, rota.Unique("k"))
	if err != nil || first.Duplicate {
		t.Fatal(first, err)
	}
	again, err := client.Submit(ctx, mail{"b"}, rota.Unique("k"))
	if err != nil || !again.Duplicate || again.Job.ID != first.Job.ID {
		t.Errorf("got %+v, %v", again, err)
	}
	job, err := client.Enqueue(ctx, mail{"c"}, rota.Unique("k"))
	if err != nil || job.ID != first.Job.ID {
		t.Errorf("got %v, %v", job, err)
	}
}

func TestEnqueueManyIsAllOrNothing(t *testing.T) {
	ctx, client := context.Background(), rota.New(openStore(t))
	jobs, err := client.EnqueueMany(ctx, []rota.Payload{mail{"a"}, &fax{}, mail{"b"}}, rota.Priority(3))
	if err != nil || len(jobs) != 3 || jobs[1].Job.Type != "fax" || jobs[2].Job.Priority != 3 {
		t.Fatalf("got %v, %v", jobs, err)
	}
	_, err = client.EnqueueMany(ctx, []rota.Payload{mail{"c"}, mail{"d"}, &fax{errors.New("no paper")}})
	wantInvalid(t, err, "jobs[2].params", "no paper")
	_, err = client.EnqueueMany(ctx, []rota.Payload{mail{"c"}, spelled{"big", `{"a":"` + strings.Repeat("a", rota.ParamsMax) + `"}`}})
	wantInvalid(t, err, "jobs[1].params", "at most 1048576 are allowed")
	_, err = client.EnqueueMany(ctx, []rota.Payload{mail{"c"}, &fax{}, mail{"d"}}, rota.Unique("k"))
	wantInvalid(t, err, "jobs[2].unique_key", "is also the key of jobs[0]")
	_, err = client.EnqueueMany(ctx, []rota.Payload{mail{"c"}, mail{"d"}}, rota.Planned(time.Now()))
	wantInvalid(t, err, "jobs[1].plan_time", "is also the time of jobs[0]")
	if none, err := client.EnqueueMany(ctx, nil); none != nil || err != nil {
		t.Errorf("of nothing it makes %v, %v", none, err)
	}
	all, err := client.Store().Jobs(ctx, rota.JobQuery{})
	if err != nil || len(all) != 3 {
		t.Errorf("there are %d jobs, want 3: %v", len(all), err)
	}
}

func TestEnqueueRefusesWrongPayload(t *testing.T) {
	ctx, client := context.Background(), rota.New(openStore(t), rota.WithChecker(addressed{}))
	for name, c := range map[string]struct {
		payload       rota.Payload
		field, reason string
	}{
		"nil":            {nil, "params", "the payload is nil"},
		"nil pointer":    {(*fax)(nil), "params", "the payload is nil (*rota_test.fax)"},
		"no type":        {spelled{"", "{}"}, "type", "of rota_test.spelled is empty; its method JobType returns the name"},
		"bad type":       {spelled{"a b", "{}"}, "type", `contains ' '`},
		"list":           {spelled{"a", "[1]"}, "params", `the payload of type "a", is encoded as "[1]"; params are a JSON object`},
		"null":           {spelled{"a", "null"}, "params", "params are a JSON object"},
		"no JSON":        {spelled{"a", "{"}, "params", "cannot be encoded as JSON"},
		"its own":        {&fax{errors.New("no paper")}, "params", "enqueue: params: no paper"},
		"of its field":   {&fax{rota.Invalidf("to", "is empty")}, "params.to", "is empty"},
		"of its params":  {&fax{rota.Invalidf("params.to", "is empty")}, "params.to", "is empty"},
		"its schema's":   {mail{"ada"}, "params.to", "enqueue: params.to: is not an address"},
		"more than kept": {mail{strings.Repeat("@", rota.ParamsMax)}, "params", "at most 1048576 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			job, err := client.Enqueue(ctx, c.payload)
			wantInvalid(t, err, c.field, c.reason)
			if job != nil || len(err.Error()) > 400 {
				t.Errorf("got the job %v and %d bytes of error", job, len(err.Error()))
			}
			if c.payload != nil {
				wantInvalid(t, client.Schedule(ctx, "s", c.payload, rota.Every(time.Hour)), c.field, "")
			}
		})
	}
	if jobs, err := client.Store().Jobs(ctx, rota.JobQuery{}); len(jobs) > 0 || err != nil {
		t.Errorf("there are %v, %v", jobs, err)
	}
	if types, err := client.Store().Types(ctx, rota.NameQuery{}); len(types) > 0 || err != nil {
		t.Errorf("there are %v, %v", types, err)
	}
}

// ticket has limits in its schema and a Validate with a pointer receiver.
type ticket struct {
	Copies int    `json:"copies" jsonschema:"minimum=1"`
	Name   string `json:"name,omitempty"`
}

func (ticket) JobType() string { return "ticket" }

func (t *ticket) Validate() error {
	if t.Name == "nobody" {
		return rota.Invalidf("name", "is nobody")
	}
	return nil
}

func TestClientChecksPayloadsByDefault(t *testing.T) {
	ctx, store := context.Background(), openStore(t)
	client := rota.New(store)
	_, err := client.Enqueue(ctx, ticket{Copies: 0})
	wantInvalid(t, err, "params.copies", "")
	_, err = client.Enqueue(ctx, ticket{Copies: 1, Name: "nobody"})
	wantInvalid(t, err, "params.name", "is nobody")
	wantInvalid(t, client.Schedule(ctx, "s", ticket{}, rota.Every(time.Hour)), "params.copies", "")
	if _, err := client.Enqueue(ctx, ticket{Copies: 1}); err != nil {
		t.Error(err)
	}
	if declared, err := store.Type(ctx, "ticket"); err != nil || !strings.Contains(string(declared.Spec.Schema), "copies") {
		t.Errorf("the type was declared without its schema: %+v, %v", declared, err)
	}
	if _, err := client.Enqueue(ctx, spelled{"own", `{"a":1}`}); err != nil {
		t.Errorf("a Go type without a schema is refused: %v", err)
	}
	if _, err := rota.New(store, rota.WithChecker(nil)).Enqueue(ctx, ticket{Copies: 0}); err != nil {
		t.Errorf("without a checker: %v", err)
	}
}

func TestEnqueueDeclaresItsTypeOnce(t *testing.T) {
	ctx, store := context.Background(), openStore(t)
	var group sync.WaitGroup
	for range 8 { // eight new clients
		group.Go(func() {
			client := rota.New(store, rota.WithChecker(addressed{}), rota.WithActor("ada"))
			for range 3 {
				if _, err := client.Enqueue(ctx, mail{"@"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	mailType, err := store.Type(ctx, "mail")
	if err != nil || string(mailType.Spec.Schema) != `{"type":"object"}` || mailType.CreatedBy != "ada" {
		t.Fatalf("got %+v, %v", mailType, err)
	}
	audit, err := store.Audit(ctx, rota.AuditQuery{Subject: "type mail"})
	if err != nil || len(audit.Entries) != 1 || audit.Entries[0].Act != rota.AuditTypeCreated {
		t.Errorf("the audit says %v, %v", audit, err)
	}
}

func TestEnqueueKeepsDeclaredType(t *testing.T) {
	ctx, store := context.Background(), openStore(t)
	put := func(spec rota.TypeSpec) {
		t.Helper()
		if _, err := rota.Do[*rota.TypePut](ctx, store, &rota.PutType{Meta: rota.NewMeta(""), Name: "mail", Spec: spec}); err != nil {
			t.Fatal(err)
		}
	}
	enqueue := func(options ...rota.ClientOption) rota.TypeSpec {
		t.Helper()
		if _, err := rota.New(store, options...).Enqueue(ctx, mail{"@"}); err != nil {
			t.Fatal(err)
		}
		declared, err := store.Type(ctx, "mail")
		if err != nil {
			t.Fatal(err)
		}
		return declared.Spec
	}
	theirs := rota.TypeSpec{Description: "letters", Policy: rota.PolicyPatch{MaxRetries: new(9)}}
	put(theirs)
	if got := enqueue(rota.WithChecker(nil)); !got.Equal(theirs) {
		t.Errorf("without a schema it became %+v", got)
	}
	filled := theirs
	filled.Schema = json.RawMessage(`{"type":"object"}`)
	if got := enqueue(rota.WithChecker(addressed{})); !got.Equal(filled) {
		t.Errorf("the schema was not added: %+v", got)
	}
	theirs.Schema = json.RawMessage(`{"minProperties":1}`)
	put(theirs)
	if got := enqueue(rota.WithChecker(addressed{})); !got.Equal(theirs) {
		t.Errorf("their schema became %s", got.Schema)
	}
}

func TestCancelAndRetry(t *testing.T) {
	ctx, client := context.Background(), rota.New(openStore(t), rota.WithActor("ada"))
	job, err := client.Enqueue(ctx, mail{"a"})
	if err != nil {
		t.Fatal(err)
	}
	cancelled, err := client.Cancel(ctx, job.ID, "not today")
	if err != nil || cancelled.Stopping || cancelled.Job.State() != rota.StateCancelled {
		t.Fatalf("got %+v, %v", cancelled, err)
	}
	again, err := client.Retry(ctx, job.ID)
	if err != nil || again.RedriveOf != job.ExecutionID || again.CreatedBy != "ada" || string(again.Params) != `{"to":"a"}` {
		t.Errorf("got %+v, %v", again, err)
	}
	if _, err := client.Retry(ctx, rota.NewID()); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("got %v, want NotFound", err)
	}
	if _, err := client.Job(ctx, rota.NewID()); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("got %v, want NotFound", err)
	}
}

// moody returns Unavailable from some calls of Apply after it has applied them.
type moody struct {
	rota.Store
	mu    sync.Mutex
	times int
}

func (m *moody) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	results, err := m.Store.Apply(ctx, b)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.times--; err == nil && m.times >= 0 {
		return nil, rota.Errorf(rota.Unavailable, "apply", "the answer was lost")
	}
	return results, err
}

func TestClientRetryAppliesCommandOnce(t *testing.T) {
	ctx, store := context.Background(), openStore(t)
	client := rota.New(&moody{Store: store, times: 3})
	if _, err := client.Enqueue(ctx, mail{"a"}); err != nil { // declaring the type takes three more calls
		t.Fatal(err)
	}
	client = rota.New(&moody{Store: store, times: 2})
	job, err := client.Enqueue(ctx, mail{"b"})
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := store.Jobs(ctx, rota.JobQuery{})
	if err != nil || len(jobs) != 2 || jobs[0].ID != job.ID {
		t.Errorf("there are %d jobs, want 2: %v", len(jobs), err)
	}
	client = rota.New(&moody{Store: store, times: 100})
	if _, err := client.Enqueue(ctx, mail{"c"}); rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := client.Enqueue(ended, mail{"d"}); rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
}

func TestEnqueueSetsTraceOfCaller(t *testing.T) {
	type key struct{}
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	client := rota.New(openStore(t), rota.WithTrace(func(ctx context.Context) string {
		text, _ := ctx.Value(key{}).(string)
		return text
	}))
	for parent, want := range map[string]string{trace: trace, "": "", "00-here": "", strings.ToUpper(trace): ""} {
		ctx := context.WithValue(context.Background(), key{}, parent)
		job, err := client.Enqueue(ctx, mail{"a@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		stored, err := client.Job(ctx, job.ID)
		if err != nil || job.Trace != want || stored.Trace != want {
			t.Errorf("with the trace %q in the context the job has %q, stored %v, %v", parent, job.Trace, stored, err)
		}
		many, err := client.EnqueueMany(ctx, []rota.Payload{mail{"b@example.com"}, mail{"c@example.com"}})
		if err != nil || many[0].Job.Trace != want || many[1].Job.Trace != want {
			t.Errorf("with the trace %q in the context the jobs have %+v, %v", parent, many, err)
		}
	}
}
