package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/client"
	"github.com/rotajobs/rota/engine"
)

func TestDialRefusesWrongArguments(t *testing.T) {
	for _, test := range []struct{ url, token, field string }{
		{"", token, "url"},
		{"127.0.0.1:7420", token, "url"},
		{"ftp://127.0.0.1", token, "url"},
		{"http://admin:secret@127.0.0.1:7420", token, "url"},
		{"http://127.0.0.1:7420", "", "token"},
	} {
		dialed, err := client.Dial(test.url, test.token)
		var e *rota.Error
		if dialed != nil || !errors.As(err, &e) || e.Code != rota.Invalid || e.Field != test.field {
			t.Errorf("%q, %q: %v, %v", test.url, test.token, dialed, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error has the password: %v", err)
		}
	}
	if _, err := client.DialWith("http://127.0.0.1:7420", token, client.Config{Timeout: -1}); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("a negative timeout: %v", err)
	}
}

// The audit has the actor of the token, so an actor of the client would be ignored.
func TestDialRefusesActor(t *testing.T) {
	if _, err := client.Dial("http://127.0.0.1:7420", token, rota.WithActor("ada")); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("with an actor: %v", err)
	}
}

func TestWrongTokenIsDenied(t *testing.T) {
	dialed, err := client.Dial(newHandler(t, openFile(t)).URL, "another-token")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dialed.Enqueue(t.Context(), mail{To: "a"}); rota.CodeOf(err) != rota.Denied {
		t.Errorf("a write: %v", err)
	}
	if _, err := dialed.Job(t.Context(), rota.NewID()); rota.CodeOf(err) != rota.Denied {
		t.Errorf("a read: %v", err)
	}
}

func TestOtherServerIsInvalid(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	dialed, err := client.Dial(other.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	_, err = dialed.Job(t.Context(), rota.NewID())
	if rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "is not a Rota server") {
		t.Errorf("what answers is not Rota: %v", err)
	}
}

// The job is part of the trace of its caller.
func TestRemoteJobHasTrace(t *testing.T) {
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	dialed, err := client.Dial(newHandler(t, openFile(t)).URL, token, rota.WithTrace(func(context.Context) string { return trace }))
	if err != nil {
		t.Fatal(err)
	}
	job, err := dialed.Enqueue(t.Context(), mail{To: "a"})
	if err != nil || job.Trace != trace {
		t.Errorf("the job has the trace %q: %v", job.Trace, err)
	}
}

// A type that exists keeps its policy, and gets the schema if it has none.
func TestRemoteClientAddsOnlySchemaToType(t *testing.T) {
	store := openFile(t)
	if _, err := rota.Do[*rota.TypePut](t.Context(), store, &rota.PutType{Meta: rota.NewMeta("ada"), Name: "mail", Spec: rota.TypeSpec{
		Description: "letters", Policy: rota.PolicyPatch{MaxRetries: new(7)},
	}}); err != nil {
		t.Fatal(err)
	}
	dialed, err := client.Dial(newHandler(t, store).URL, token)
	if err != nil {
		t.Fatal(err)
	}
	job, err := dialed.Enqueue(t.Context(), mail{To: "a"})
	if err != nil || job.Policy.MaxAttempts != 8 {
		t.Fatalf("%+v, %v", job, err)
	}
	typ, err := store.Type(t.Context(), "mail")
	if err != nil || typ.Spec.Description != "letters" || len(typ.Spec.Schema) == 0 {
		t.Errorf("the type is %+v, %v", typ, err)
	}
}

// declaring is a server at which another program declares a type between a read and a write of the client.
func TestRemoteClientReplacesNoTypeOfAnotherProgram(t *testing.T) {
	store := openFile(t)
	inner := newHandler(t, store).Config.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			_, err := rota.Do[*rota.TypePut](t.Context(), store, &rota.PutType{Meta: rota.NewMeta("ada"), Name: "mail", Spec: rota.TypeSpec{Description: "theirs"}})
			if err != nil {
				t.Error(err)
			}
		}
		inner.ServeHTTP(w, r)
	}))
	defer server.Close()
	dialed, err := client.Dial(server.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dialed.Enqueue(t.Context(), mail{To: "a"}); err != nil {
		t.Fatal(err)
	}
	if typ, err := store.Type(t.Context(), "mail"); err != nil || typ.Spec.Description != "theirs" {
		t.Errorf("the type is %+v, %v", typ, err)
	}
}

// The store of a server refuses what the client does not need, with what to do instead.
func TestStoreOfServerRefusesTheRest(t *testing.T) {
	dialed, err := client.Dial(newHandler(t, openFile(t)).URL, token)
	if err != nil {
		t.Fatal(err)
	}
	store, ctx := dialed.Store(), t.Context()
	_, reading := store.Stats(ctx)
	_, claiming := rota.Do[*rota.Claimed](ctx, store, &rota.Claim{
		Meta: rota.NewMeta("w"), Worker: "w", Types: []string{"mail"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken(),
	})
	_, combining := rota.Do[*rota.AllDone](ctx, store, &rota.All{Meta: rota.NewMeta(""), Members: []rota.Command{&rota.SwitchType{Meta: rota.NewMeta(""), Name: "mail", Paused: true}}})
	for name, err := range map[string]error{"a read": reading, "a claim": claiming, "another combination": combining} {
		if rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "use package worker") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The engine of a server runs its jobs; an engine on a client of the server is refused before it declares its types.
func TestClientOfServerRefusesTransactions(t *testing.T) {
	dialed, err := client.Dial(newHandler(t, openFile(t)).URL, token)
	if err != nil {
		t.Fatal(err)
	}
	_, enqueued := dialed.EnqueueTx(t.Context(), 7, mail{To: "a"})
	scheduled := dialed.ScheduleTx(t.Context(), 7, "nightly", mail{To: "a"}, rota.Every(time.Hour))
	for _, err := range []error{enqueued, scheduled} {
		var e *rota.Error
		if !errors.As(err, &e) || e.Code != rota.Invalid || e.Field != "tx" || e.Hint == "" {
			t.Errorf("%v, want Invalid of tx with a hint", err)
		}
	}
}

func TestEngineRefusesClientOfServer(t *testing.T) {
	q := newRemote(t)
	reg := engine.NewRegistry()
	engine.Handle(reg, func(context.Context, mail) error { return nil })
	err := engine.New(q.Client, reg, engine.Config{}).Run(t.Context())
	var refusal *rota.Error
	if !errors.As(err, &refusal) || refusal.Code != rota.Invalid || !strings.Contains(refusal.Hint, "worker.New") {
		t.Errorf("Run returned %v", err)
	}
	if types, err := q.store.Types(t.Context(), rota.NameQuery{Limit: 10}); err != nil || len(types) > 0 {
		t.Errorf("the refused engine declared %v, %v", types, err)
	}
}
