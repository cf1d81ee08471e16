package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// receivedRequest is a request as the server received it.
type receivedRequest struct {
	method, path, key, token string
	body                     string
}

// fakeServer is a server that gives the answers of a test, and records the requests.
type fakeServer struct {
	*httptest.Server
	mu       sync.Mutex
	received []receivedRequest
}

// newFakeServer answers the nth request with the nth answer, and all further ones with the
// last.
func newFakeServer(t *testing.T, answers ...http.HandlerFunc) *fakeServer {
	t.Helper()
	s := &fakeServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		n := len(s.received)
		s.received = append(s.received, receivedRequest{r.Method, r.URL.EscapedPath(), r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), string(body)})
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		answers[min(n, len(answers)-1)](w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *fakeServer) requests() []receivedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]receivedRequest{}, s.received...)
}

// store is the store of a worker of this server.
func (s *fakeServer) store(config Config) *store {
	w := New(s.URL, "secret-token", registry("mail"), config)
	return newStore(w.server, &w.config, newLogs())
}

func respond(status int, media, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func respondOK(body string) http.HandlerFunc { return respond(200, "application/json", body) }

// closeConnection closes the connection instead of answering.
func closeConnection(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

const problemType = "application/problem+json"

// Each answer has its code and texts in the error.
func TestErrorResponsesAreRead(t *testing.T) {
	for _, row := range []struct {
		name   string
		answer http.HandlerFunc
		code   rota.Code
		texts  []string
	}{
		{"a wrong token", respond(401, problemType, `{"code":"denied","detail":"the token is wrong","hint":"see admin.token"}`), rota.Denied, []string{"type mail", "the token is wrong", "see admin.token"}},
		{"not found", respond(404, problemType, `{"code":"not_found","detail":"there is no type mail"}`), rota.NotFound, []string{"there is no type mail"}},
		{"a bad field", respond(422, problemType, `{"code":"invalid","detail":"schema: is bad","errors":[{"field":"schema","reason":"is bad"}]}`), rota.Invalid, []string{"schema: is bad"}},
		{"conflict", respond(409, problemType, `{"code":"conflict","detail":"taken"}`), rota.Conflict, []string{"taken"}},
		{"starting", respond(503, problemType, `{"code":"unavailable","detail":"the server is starting"}`), rota.Unavailable, []string{"starting"}},
		{"too fast", respond(429, problemType, `{"code":"too_many_requests","detail":"slow down"}`), rota.Unavailable, []string{"slow down"}},
		{"a code of HTTP", respond(413, problemType, `{"code":"too_large","title":"Too large"}`), rota.Invalid, []string{"Too large"}},
		{"broken inside", respond(500, problemType, `{"code":"internal","detail":"broken"}`), rota.Internal, []string{"broken"}},
		{"closed connection", closeConnection, rota.Unavailable, []string{"no server answers at http://127.0.0.1"}},
		{"half an answer", respond(200, "application/json", `{"name":`, "Content-Length", "100"), rota.Unavailable, []string{"no server answers"}},
		{"foreign page", respond(200, "text/html", "<html>"), rota.Invalid, []string{"url", "not a Rota server", "200 OK"}},
		{"foreign JSON", respondOK(`[]`), rota.Invalid, []string{"not a Rota server"}},
		{"foreign 404", respond(404, "text/html", "<html>"), rota.Invalid, []string{"not a Rota server", "404"}},
		{"foreign 403", respond(403, "text/html", "<html>"), rota.Denied, []string{"not a Rota server", "403"}},
		{"foreign 502", respond(502, "text/html", "<html>"), rota.Unavailable, []string{"502"}},
		{"redirect", respond(307, "text/html", "", "Location", "http://127.0.0.1:1/"), rota.Invalid, []string{"307", "redirects to another address"}},
		{"JSON without a name", respondOK(`{}`), rota.Internal, []string{"cannot be read", "name"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newFakeServer(t, row.answer).store(Config{})
			_, err := s.Type(t.Context(), "mail")
			if rota.CodeOf(err) != row.code {
				t.Errorf("%v is %s, want %s", err, rota.CodeOf(err), row.code)
			}
			for _, want := range row.texts {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not contain %q", err, want)
				}
			}
			if err != nil && strings.Contains(err.Error(), "secret-token") {
				t.Errorf("the error contains the token: %v", err)
			}
		})
	}
}

// Once Rota has answered, the error page of a proxy must not drop the end of a run.
func TestProxyErrorPageIsUndecided(t *testing.T) {
	srv := newFakeServer(t, respondOK(`{"name":"mail"}`), respond(404, "text/html", "<html>default backend</html>"))
	s := srv.store(Config{})
	if _, err := s.Type(t.Context(), "mail"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{&rota.Finish{Items: []rota.FinishItem{{}}}}})
	if rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("a proxy answers the end of a run: %v; want it to be sent again", err)
	}
}

// The server counts wrong tokens, and would at last answer that there are too many requests,
// as if a retry could help.
func TestDeniedWorkerSendsNoMoreRequests(t *testing.T) {
	srv := newFakeServer(t, respond(401, problemType, `{"code":"denied","detail":"the token is wrong"}`), respond(429, problemType, `{"code":"too_many_requests"}`))
	s := srv.store(Config{})
	for range 3 {
		if _, err := s.Type(t.Context(), "mail"); rota.CodeOf(err) != rota.Denied {
			t.Errorf("the error is %v", err)
		}
	}
	if n := len(srv.requests()); n != 1 {
		t.Errorf("it sent %d requests", n)
	}
}

// A redirect does not send the token to another server.
func TestTokenDoesNotFollowRedirect(t *testing.T) {
	elsewhere := newFakeServer(t, respondOK(`{"name":"mail"}`))
	s := newFakeServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}).store(Config{})
	if _, err := s.Type(t.Context(), "mail"); err == nil {
		t.Error("it followed the redirect")
	}
	if n := len(elsewhere.requests()); n > 0 {
		t.Errorf("%d requests reached the other server", n)
	}
}

// The next request is sent no sooner than the server asks.
func TestRetryAfterDelaysNextRequest(t *testing.T) {
	srv := newFakeServer(t, respond(503, problemType, `{"code":"unavailable"}`, "Retry-After", "1"), respondOK(`{"name":"mail"}`))
	s := srv.store(Config{})
	if _, err := s.Type(t.Context(), "mail"); rota.CodeOf(err) != rota.Unavailable {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := s.Type(t.Context(), "mail"); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < 900*time.Millisecond {
		t.Errorf("sent again after %v", d)
	}
}

const mailClaimed = `{"items":[{"run_id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f61","lease_token":"000102030405060708090a0b0c0d0e0f",
	"stale_after":"2026-11-15T07:00:30Z","deadline":null,"job":{"id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60",
	"execution_id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60","type":"mail","name":"mail","params":{"to":"a"},"retry_of":null,
	"backoff":"1m","timeout":"1h","backoff_max":null,"trace":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}]}`

// With the same key and body the server recognises the claim and answers with the same jobs.
func TestResentClaimHasSameKeyAndBody(t *testing.T) {
	srv := newFakeServer(t, closeConnection, respondOK(mailClaimed))
	s := srv.store(Config{Name: "w-1", Wait: 20 * time.Second})
	claim := &rota.Claim{Meta: rota.NewMeta(""), Worker: "w-1", Types: []string{"mail", "a/b"}, Limit: 3, Lease: 90 * time.Second}
	batch := rota.Batch{Commands: []rota.Command{claim}}
	if _, err := s.Apply(t.Context(), batch); rota.CodeOf(err) != rota.Unavailable {
		t.Fatalf("a lost answer: %v", err)
	}
	results, err := s.Apply(t.Context(), batch)
	if err != nil || results[0].Err != nil {
		t.Fatal(err, results)
	}
	sent := srv.requests()
	if sent[0] != sent[1] || sent[0].key != claim.ID.String() || sent[0].token != "Bearer secret-token" {
		t.Errorf("it was sent as\n%+v, then as\n%+v", sent[0], sent[1])
	}
	if want := `{"worker":"w-1","types":["mail","a/b"],"limit":3,"lease":"1m30s","wait":"20s"}`; strings.TrimSpace(sent[0].body) != want || sent[0].path != "/api/v1/claim" {
		t.Errorf("it was sent as %s to %s, want %s", sent[0].body, sent[0].path, want)
	}
	job := results[0].Reply.(*rota.Claimed).Jobs[0]
	if job.Run.Token.Reveal() != "000102030405060708090a0b0c0d0e0f" || job.Run.Runner != "w-1" || job.Policy.Timeout != time.Hour ||
		string(job.Params) != `{"to":"a"}` || job.Trace == "" || job.Run.ID.String() != "01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f61" {
		t.Errorf("it is decoded as %+v, %+v", job, job.Run)
	}
}

// Jobs that the server hands out at that very moment would wait until their lease expires.
func TestStoppingWorkerResendsClaimInFlight(t *testing.T) {
	asked := make(chan struct{})
	srv := newFakeServer(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}, respondOK(mailClaimed), respond(503, problemType, `{"code":"unavailable"}`))
	s := srv.store(Config{})
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-asked; stop() }()
	claim := &rota.Claim{Meta: rota.NewMeta(""), Worker: "w-1", Types: []string{"mail"}, Limit: 3, Lease: time.Second}
	reply, err := s.claim(ctx, claim)
	if err != nil || len(reply.(*rota.Claimed).Jobs) != 1 {
		t.Fatalf("the claim returned %v, %v", reply, err)
	}
	sent := srv.requests()
	if want := `{"worker":"w-1","types":["mail"],"limit":1,"lease":"1s","wait":"0s"}`; strings.TrimSpace(sent[1].body) != want || sent[1].key != sent[0].key {
		t.Errorf("the second claim is %+v; want the key %s, and %s", sent[1], sent[0].key, want)
	}
	if _, err := s.claim(ctx, claim); !errors.Is(err, context.Canceled) {
		t.Errorf("without an answer it ends with %v", err)
	}
}

// A claim waits as long as it asked for, but not forever.
func TestSilentServerTimesOut(t *testing.T) {
	srv := newFakeServer(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for _, row := range []struct {
		wait, least, most time.Duration
		command           rota.Command
	}{
		{time.Second, time.Second, 30 * time.Second, &rota.Claim{Meta: rota.NewMeta(""), Limit: 1}},
		{WaitMax, 200 * time.Millisecond, WaitMax / 2, &rota.Finish{Items: []rota.FinishItem{{}}}}, // only a claim is a long poll
	} {
		s := srv.store(Config{Wait: row.wait, Timeout: 200 * time.Millisecond})
		began := time.Now()
		_, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{row.command}})
		if d := time.Since(began); rota.CodeOf(err) != rota.Unavailable || d < row.least || d > row.most {
			t.Errorf("%s: %v after %v", row.command.Verb(), err, d)
		}
	}
}

// A long end gets a request of its own, and the answers are in order.
func TestLongFinishesAreSentInChunks(t *testing.T) {
	srv := newFakeServer(t, respondAllOK)
	s := srv.store(Config{})
	finish := &rota.Finish{Meta: rota.NewMeta("")}
	var kept []any
	for range 5 {
		item := rota.FinishItem{Outcome: rota.OutcomeCompleted, LeaseRef: rota.LeaseRef{JobID: rota.NewID(), RunID: rota.NewID(), Token: rota.NewToken()}}
		finish.Items = append(finish.Items, item)
		file, _ := s.logs.Open(&rota.Job{Run: &rota.Run{ID: item.RunID}})
		_, _ = file.Write([]byte(strings.Repeat("x", logMax/2)))
		kept = append(kept, file)
	}
	results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{finish}})
	if err != nil || results[0].Err != nil {
		t.Fatal(err, results)
	}
	for i, answer := range results[0].Reply.(*rota.Finished).Items {
		if answer.RunID != finish.Items[i].RunID {
			t.Errorf("answer %d is for another run", i)
		}
	}
	requests := srv.requests()
	if len(requests) != 5 {
		t.Errorf("%d requests for 5 ends with half a MiB of log each", len(requests))
	}
	for _, r := range requests {
		if len(r.body) > logMax+1000 || len(r.body) < logMax/2 {
			t.Errorf("a request has %d bytes", len(r.body))
		}
	}
	_ = kept
}

// The request has how long ago a run ended: the server may have been down since.
func TestFinishCarriesHowLongAgoTheRunEnded(t *testing.T) {
	srv := newFakeServer(t, respondAllOK)
	item := rota.FinishItem{
		LeaseRef: rota.LeaseRef{JobID: rota.NewID(), RunID: rota.NewID(), Token: rota.NewToken()}, Outcome: rota.OutcomeCompleted, EndedAgo: 90 * time.Second,
	}
	results, err := srv.store(Config{}).Apply(t.Context(), rota.Batch{Commands: []rota.Command{&rota.Finish{Items: []rota.FinishItem{item}}}})
	if err != nil || results[0].Err != nil {
		t.Fatal(err, results)
	}
	if sent := srv.requests(); len(sent) != 1 || !strings.Contains(sent[0].body, `"ended_ago":"1m30s"`) {
		t.Errorf("it was sent as %+v", sent)
	}
}

// A command that waits in the worker, for instance between two attempts, adds its wait.
func TestFinishCarriesHowLongItWaited(t *testing.T) {
	srv := newFakeServer(t, respondAllOK)
	item := rota.FinishItem{
		LeaseRef: rota.LeaseRef{JobID: rota.NewID(), RunID: rota.NewID(), Token: rota.NewToken()}, Outcome: rota.OutcomeCompleted, EndedAgo: time.Minute,
	}
	finish := &rota.Finish{Items: []rota.FinishItem{item}, Sent: time.Now().Add(-time.Hour)}
	results, err := srv.store(Config{}).Apply(t.Context(), rota.Batch{Commands: []rota.Command{finish}})
	if err != nil || results[0].Err != nil {
		t.Fatal(err, results)
	}
	if sent := srv.requests(); len(sent) != 1 || !strings.Contains(sent[0].body, `"ended_ago":"1h1m`) {
		t.Errorf("it was sent as %+v", sent)
	}
}

// respondAllOK answers that all leases of a request are valid.
func respondAllOK(w http.ResponseWriter, r *http.Request) {
	var asked, answer api.Extended
	_ = json.NewDecoder(r.Body).Decode(&asked)
	for _, item := range asked.Items {
		answer.Items = append(answer.Items, api.ExtendedLease{RunID: item.RunID, Code: api.LeaseOK})
	}
	text, _ := json.Marshal(answer)
	respondOK(string(text))(w, r)
}

// An end that is too large for the server, or for a proxy, is sent again without its log.
func TestRefusedFinishIsResentWithoutLog(t *testing.T) {
	for name, refuses := range map[string]http.HandlerFunc{
		"server": respond(413, problemType, `{"code":"too_large","detail":"too large"}`),
		"proxy":  respond(413, "text/html", "<html>413 Request Entity Too Large</html>"),
	} {
		t.Run(name, func(t *testing.T) {
			srv := newFakeServer(t, respondOK(`{"name":"mail"}`), refuses, respondAllOK)
			s := srv.store(Config{})
			if _, err := s.Type(t.Context(), "mail"); err != nil {
				t.Fatal(err)
			}
			item := rota.FinishItem{
				LeaseRef: rota.LeaseRef{JobID: rota.NewID(), RunID: rota.NewID(), Token: rota.NewToken()}, Outcome: rota.OutcomeCompleted,
			}
			file, _ := s.logs.Open(&rota.Job{Run: &rota.Run{ID: item.RunID}})
			_, _ = file.Write([]byte("what it wrote"))
			results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{&rota.Finish{Items: []rota.FinishItem{item}}}})
			if err != nil || results[0].Err != nil {
				t.Fatal(err, results)
			}
			sent := srv.requests()
			if len(sent) != 3 || !strings.Contains(sent[1].body, "what it wrote") || strings.Contains(sent[2].body, "what it wrote") || !strings.Contains(sent[2].body, "COMPLETED") {
				t.Errorf("it was sent as %+v", sent)
			}
			_, _ = file.Write(nil) // keeps the log alive until here
		})
	}
}

// Answers about other runs, or with unknown codes, decide nothing.
func TestMismatchedLeaseAnswersAreInternalErrors(t *testing.T) {
	ref := rota.LeaseRef{JobID: rota.NewID(), RunID: rota.NewID(), Token: rota.NewToken()}
	for _, body := range []string{
		`{"items":[]}`,
		`{"items":[{"run_id":"` + rota.NewID().String() + `","code":"ok"}]}`,
		`{"items":[{"run_id":"` + ref.RunID.String() + `","code":"perhaps"}]}`,
	} {
		s := newFakeServer(t, respondOK(body)).store(Config{})
		for _, command := range []rota.Command{
			&rota.Finish{Items: []rota.FinishItem{{LeaseRef: ref}}}, &rota.Extend{Lease: time.Second, Items: []rota.ExtendItem{{LeaseRef: ref}}},
		} {
			if _, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{command}}); rota.CodeOf(err) != rota.Internal {
				t.Errorf("%s answered by %s: %v", command.Verb(), body, err)
			}
		}
	}
}

// The error names what to use instead.
func TestUnsupportedCommandsAreRefused(t *testing.T) {
	srv := newFakeServer(t, respondOK(`{}`))
	s := srv.store(Config{})
	results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{
		&rota.Enqueue{Meta: rota.NewMeta("")}, &rota.Note{Items: []rota.NoteItem{{Artifacts: []string{"a"}}}}, &rota.PutType{Mode: rota.PutCreate},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err == nil || r.Err.Code != rota.Invalid || !strings.Contains(r.Err.Error(), "use the HTTP API") {
			t.Errorf("the error is %v", r.Err)
		}
	}
	if _, err := s.Job(t.Context(), rota.NewID()); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("a job is %v", err)
	}
	for _, err := range s.Verify(t.Context()) {
		if rota.CodeOf(err) != rota.Invalid {
			t.Errorf("verify is %v", err)
		}
	}
	if n := len(srv.requests()); n > 0 {
		t.Errorf("%d requests were sent for unsupported commands", n)
	}
}
