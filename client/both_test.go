package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/client"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/sqlite"
)

const token = "a-token-for-tests-of-the-client"

// now is the time of all stores here, so that both clients see the same times.
var now = time.Date(2026, 11, 15, 7, 0, 0, 0, time.UTC)

// mail is a payload with a schema.
type mail struct {
	To    string `json:"to" jsonschema:"minLength=1"`
	Count int64  `json:"count,omitempty"`
}

func (mail) JobType() string { return "mail" }

// fax is a payload with a Validate.
type fax struct {
	Pages int `json:"pages"`
}

func (fax) JobType() string { return "fax" }

func (f fax) Validate() error {
	if f.Pages > 9 {
		return rota.Invalidf("pages", "is %d; a fax has at most 9", f.Pages)
	}
	return nil
}

// text is a payload whose params are written as they are.
type text string

func (text) JobType() string                { return "text" }
func (t text) MarshalJSON() ([]byte, error) { return []byte(t), nil }

// queue is a client with the store behind it, and what its calls returned.
type queue struct {
	*testing.T
	*rota.Client
	store  rota.Store
	record strings.Builder
	ids    map[string]string
}

func openFile(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.OpenWith(filepath.Join(t.TempDir(), "rota.db"), sqlite.Config{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for v, err := range store.Verify(context.Background()) {
			t.Errorf("the store violates an invariant: %+v %v", v, err)
		}
		_ = store.Close()
	})
	return store
}

// newHandler is the API of a store, without an engine.
func newHandler(t *testing.T, store rota.Store) *httptest.Server {
	t.Helper()
	handler, err := httpapi.New(httpapi.Config{Store: store, Token: token, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// The actor is that of the token at a server.
func newEmbedded(t *testing.T) *queue {
	store := openFile(t)
	return &queue{T: t, Client: rota.New(store, rota.WithActor("admin")), store: store, ids: map[string]string{}}
}

func newRemote(t *testing.T) *queue {
	store := openFile(t)
	dialed, err := client.Dial(newHandler(t, store).URL+"/", token)
	if err != nil {
		t.Fatal(err)
	}
	return &queue{T: t, Client: dialed, store: store, ids: map[string]string{}}
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// note records the result of a call, with ids in the order of their first appearance.
func (q *queue) note(act string, value any, err error) {
	line := act + ": " + string(rota.EncodeSpec(value))
	var e *rota.Error
	if errors.As(err, &e) {
		line = fmt.Sprintf("%s: %s %s", act, e.Code, e.Field)
		if e.Reason == "" && e.Err == nil {
			q.Errorf("%s: the error has no reason: %+v", act, e)
		}
	} else if err != nil {
		q.Errorf("%s: the error is a %T: %v", act, err, err)
	}
	q.record.WriteString(anyID.ReplaceAllStringFunc(line, func(id string) string {
		if q.ids[id] == "" {
			q.ids[id] = fmt.Sprintf("id-%d", len(q.ids)+1)
		}
		return q.ids[id]
	}) + "\n")
}

// job records a job that a call returned, without the fields that the API does not show.
func (q *queue) job(act string, job *rota.Job, err error) *rota.Job {
	q.Helper()
	if job == nil {
		q.note(act, nil, err)
		return &rota.Job{}
	}
	shown := *job
	shown.CountsAt, shown.WaitFrom, shown.WaitUntil = time.Time{}, time.Time{}, time.Time{}
	if job.Run != nil {
		run := *job.Run
		run.Incarnation, run.Token = rota.ID{}, rota.Token{}
		shown.Run = &run
	}
	q.note(act, map[string]any{"job": shown, "state": shown.State(), "ready": shown.Ready(), "ended": shown.Ended()}, err)
	return job
}

// refused records an error and checks its code and field.
func (q *queue) refused(act string, err error, code rota.Code, field string) {
	q.Helper()
	q.note(act, nil, err)
	var e *rota.Error
	if !errors.As(err, &e) || e.Code != code || e.Field != field {
		q.Errorf("%s: got %v, want %s of %q", act, err, code, field)
	}
}

// enqueue enqueues a job that a scenario needs.
func (q *queue) enqueue(p rota.Payload, options ...rota.Option) *rota.Job {
	q.Helper()
	job, err := q.Enqueue(q.Context(), p, options...)
	if err != nil {
		q.Fatal(err)
	}
	return job
}

// run claims a job and ends its run.
func (q *queue) run(typ string, outcome rota.Outcome) *rota.Job {
	q.Helper()
	job := q.claim(typ)
	_, err := rota.Do[*rota.Finished](q.Context(), q.store, &rota.Finish{Meta: rota.NewMeta("w"), Items: []rota.FinishItem{{
		LeaseRef: job.Lease(), Outcome: outcome, Error: "no <paper>", ErrorCode: "paper", ExitCode: new(3), RowsAffected: new(int64(1 << 60)),
		Result: json.RawMessage(`{"n":12345678901234567890.10,"t":"<&>"}`), Artifacts: []string{"a.pdf"},
	}}})
	if err != nil {
		q.Fatal(err)
	}
	return job
}

func (q *queue) claim(typ string) *rota.Job {
	q.Helper()
	claimed, err := rota.Do[*rota.Claimed](q.Context(), q.store, &rota.Claim{
		Meta: rota.NewMeta("w"), Worker: "w", Types: []string{typ}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken(),
	})
	if err != nil || len(claimed.Jobs) != 1 {
		q.Fatalf("claimed %v, %v", claimed, err)
	}
	return claimed.Jobs[0]
}

// A program that switches between an embedded queue and a server gets the same results and the same errors.
func TestClientsAgree(t *testing.T) {
	for method, scenario := range scenarios {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			embedded, remote := newEmbedded(t), newRemote(t)
			scenario(embedded)
			scenario(remote)
			if embedded.record.Len() == 0 || embedded.record.String() != remote.record.String() {
				t.Errorf("the clients differ:\n%s", firstDifference(embedded.record.String(), remote.record.String()))
			}
		})
	}
}

func firstDifference(embedded, remote string) string {
	a, b := strings.Split(embedded, "\n"), strings.Split(remote, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "embedded " + a[i] + "\nremote   " + b[i]
		}
	}
	return fmt.Sprintf("one has %d lines, the other %d", len(a), len(b))
}

// A new method of the client needs a scenario, or a reason here.
func TestEveryMethodHasScenario(t *testing.T) {
	without := map[string]string{
		"Store":    "the store of a server supports only what the other methods need",
		"Actor":    "a server knows the actor by the token; TestDialRefusesActor",
		"KnowType": "it changes only the client; the scenario of Edit calls it",

		"EnqueueTx":     "a server has no transactions of its clients; TestClientOfServerRefusesTransactions",
		"SubmitTx":      "as EnqueueTx",
		"EnqueueManyTx": "as EnqueueTx",
		"ScheduleTx":    "as EnqueueTx",
	}
	all := reflect.TypeFor[*rota.Client]()
	for i := range all.NumMethod() {
		name := all.Method(i).Name
		if (scenarios[name] != nil) == (without[name] != "") {
			t.Errorf("rota.Client has the method %s: add a scenario, or a reason why it has none", name)
		}
	}
}

// The remote client is the type of the embedded one, so that both have the same methods.
var _ func(string, string, ...rota.ClientOption) (*rota.Client, error) = client.Dial
