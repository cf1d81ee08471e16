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
)

// heard is a request as somebody else received it.
type heard struct {
	method, path, key, token string
	body                     string
}

// stage is a server that says what a test wants it to, and remembers what it
// was asked.
type stage struct {
	*httptest.Server
	mu    sync.Mutex
	heard []heard
}

// newStage answers the nth request by the nth answer, and all further ones by the
// last.
func newStage(t *testing.T, answers ...http.HandlerFunc) *stage {
	t.Helper()
	s := &stage{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		n := len(s.heard)
		s.heard = append(s.heard, heard{r.Method, r.URL.EscapedPath(), r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), string(body)})
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		answers[min(n, len(answers)-1)](w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *stage) requests() []heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]heard{}, s.heard...)
}

// store is the store of a worker of this server.
func (s *stage) store(config Config) *store {
	w := New(s.URL, "secret-token", registry("mail"), config)
	return &store{server: w.server, config: &w.config, logs: newLogs()}
}

func says(status int, media, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func agrees(body string) http.HandlerFunc { return says(200, "application/json", body) }

// hangsUp breaks the connection instead of answering.
func hangsUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

const problemType = "application/problem+json"

// TestErrorsAreRead wants of each answer the code, and words to go by.
func TestErrorsAreRead(t *testing.T) {
	for _, row := range []struct {
		name   string
		answer http.HandlerFunc
		code   rota.Code
		says   []string
	}{
		{"a wrong token", says(401, problemType, `{"code":"denied","detail":"the token is wrong","hint":"see admin.token"}`), rota.Denied, []string{"type mail", "the token is wrong", "see admin.token"}},
		{"not found", says(404, problemType, `{"code":"not_found","detail":"there is no type mail"}`), rota.NotFound, []string{"there is no type mail"}},
		{"a bad field", says(422, problemType, `{"code":"invalid","detail":"schema: is bad","errors":[{"field":"schema","reason":"is bad"}]}`), rota.Invalid, []string{"schema: is bad"}},
		{"conflict", says(409, problemType, `{"code":"conflict","detail":"taken"}`), rota.Conflict, []string{"taken"}},
		{"starting", says(503, problemType, `{"code":"unavailable","detail":"the server is starting"}`), rota.Unavailable, []string{"starting"}},
		{"too fast", says(429, problemType, `{"code":"too_many_requests","detail":"slow down"}`), rota.Unavailable, []string{"slow down"}},
		{"a code of HTTP", says(413, problemType, `{"code":"too_large","title":"Too large"}`), rota.Invalid, []string{"Too large"}},
		{"broken inside", says(500, problemType, `{"code":"internal","detail":"broken"}`), rota.Internal, []string{"broken"}},
		{"nobody", hangsUp, rota.Unavailable, []string{"no server answers at http://127.0.0.1"}},
		{"half an answer", says(200, "application/json", `{"name":`, "Content-Length", "100"), rota.Unavailable, []string{"no server answers"}},
		{"another's page", says(200, "text/html", "<html>"), rota.Invalid, []string{"url", "not a Rota server", "200 OK"}},
		{"another's JSON", agrees(`[]`), rota.Invalid, []string{"not a Rota server"}},
		{"another's 404", says(404, "text/html", "<html>"), rota.Invalid, []string{"not a Rota server", "404"}},
		{"another's 403", says(403, "text/html", "<html>"), rota.Denied, []string{"not a Rota server", "403"}},
		{"another's 502", says(502, "text/html", "<html>"), rota.Unavailable, []string{"502"}},
		{"another address", says(307, "text/html", "", "Location", "http://127.0.0.1:1/"), rota.Invalid, []string{"307", "sends its callers on to another address"}},
		{"JSON without a name", agrees(`{}`), rota.Internal, []string{"cannot be read", "name"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newStage(t, row.answer).store(Config{})
			_, err := s.Type(t.Context(), "mail")
			if rota.CodeOf(err) != row.code {
				t.Errorf("%v is %s, want %s", err, rota.CodeOf(err), row.code)
			}
			for _, want := range row.says {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not say %q", err, want)
				}
			}
			if err != nil && strings.Contains(err.Error(), "secret-token") {
				t.Errorf("the token is told: %v", err)
			}
		})
	}
}

// TestSomebodyInFrontOfTheServer: where Rota has answered once, a page of a proxy
// is no reason to drop the end of a run.
func TestSomebodyInFrontOfTheServer(t *testing.T) {
	stage := newStage(t, agrees(`{"name":"mail"}`), says(404, "text/html", "<html>default backend</html>"))
	s := stage.store(Config{})
	if _, err := s.Type(t.Context(), "mail"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{&rota.Finish{Items: []rota.FinishItem{{}}}}})
	if rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("the end of a run is answered by a stranger: %v; it has to be told again", err)
	}
}

// TestADeniedWorkerAsksNoMore: the server counts wrong tokens, and would answer
// at last that there are too many, which sounds as if asking again were of use.
func TestADeniedWorkerAsksNoMore(t *testing.T) {
	stage := newStage(t, says(401, problemType, `{"code":"denied","detail":"the token is wrong"}`), says(429, problemType, `{"code":"too_many_requests"}`))
	s := stage.store(Config{})
	for range 3 {
		if _, err := s.Type(t.Context(), "mail"); rota.CodeOf(err) != rota.Denied {
			t.Errorf("it is told %v", err)
		}
	}
	if n := len(stage.requests()); n != 1 {
		t.Errorf("it asked %d times", n)
	}
}

// TestTheTokenStaysHere: a server that sends its callers elsewhere does not get
// the token sent there.
func TestTheTokenStaysHere(t *testing.T) {
	elsewhere := newStage(t, agrees(`{"name":"mail"}`))
	s := newStage(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}).store(Config{})
	if _, err := s.Type(t.Context(), "mail"); err == nil {
		t.Error("it followed")
	}
	if n := len(elsewhere.requests()); n > 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

// TestRetryAfterIsHeard: the next request comes no sooner than the server asks.
func TestRetryAfterIsHeard(t *testing.T) {
	stage := newStage(t, says(503, problemType, `{"code":"unavailable"}`, "Retry-After", "1"), agrees(`{"name":"mail"}`))
	s := stage.store(Config{})
	if _, err := s.Type(t.Context(), "mail"); rota.CodeOf(err) != rota.Unavailable {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := s.Type(t.Context(), "mail"); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < 900*time.Millisecond {
		t.Errorf("asked again after %v", d)
	}
}

const mailClaimed = `{"items":[{"run_id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f61","lease_token":"000102030405060708090a0b0c0d0e0f",
	"stale_after":"2026-11-15T07:00:30Z","deadline":null,"job":{"id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60",
	"execution_id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60","type":"mail","name":"mail","params":{"to":"a"},"retry_of":null,
	"backoff":"1m","timeout":"1h","backoff_max":null,"trace":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}]}`

// TestAClaimSentAgainIsTheSame: the same key and the same words, so that the
// server knows it again and answers with the same jobs.
func TestAClaimSentAgainIsTheSame(t *testing.T) {
	stage := newStage(t, hangsUp, agrees(mailClaimed))
	s := stage.store(Config{Name: "w-1", Wait: 20 * time.Second})
	claim := &rota.Claim{Meta: rota.NewMeta(""), Worker: "w-1", Types: []string{"mail", "a/b"}, Limit: 3, Lease: 90 * time.Second}
	batch := rota.Batch{Commands: []rota.Command{claim}}
	if _, err := s.Apply(t.Context(), batch); rota.CodeOf(err) != rota.Unavailable {
		t.Fatalf("an answer that was lost: %v", err)
	}
	results, err := s.Apply(t.Context(), batch)
	if err != nil || results[0].Err != nil {
		t.Fatal(err, results)
	}
	sent := stage.requests()
	if sent[0] != sent[1] || sent[0].key != claim.ID.String() || sent[0].token != "Bearer secret-token" {
		t.Errorf("it was sent as\n%+v, and then as\n%+v", sent[0], sent[1])
	}
	if want := `{"worker":"w-1","types":["mail","a/b"],"limit":3,"lease":"1m30s","wait":"20s"}`; strings.TrimSpace(sent[0].body) != want || sent[0].path != "/api/v1/claim" {
		t.Errorf("it was sent as %s to %s, want %s", sent[0].body, sent[0].path, want)
	}
	job := results[0].Reply.(*rota.Claimed).Jobs[0]
	if job.Run.Token.Reveal() != "000102030405060708090a0b0c0d0e0f" || job.Run.Runner != "w-1" || job.Policy.Timeout != time.Hour ||
		string(job.Params) != `{"to":"a"}` || job.Trace == "" || job.Run.ID.String() != "01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f61" {
		t.Errorf("it is read as %+v, %+v", job, job.Run)
	}
}

// TestAWorkerThatStopsAsksWhatItsClaimTook: jobs that were handed out in the very
// moment would wait for the end of their lease.
func TestAWorkerThatStopsAsksWhatItsClaimTook(t *testing.T) {
	asked := make(chan struct{})
	stage := newStage(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}, agrees(mailClaimed), says(503, problemType, `{"code":"unavailable"}`))
	s := stage.store(Config{})
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-asked; stop() }()
	claim := &rota.Claim{Meta: rota.NewMeta(""), Worker: "w-1", Types: []string{"mail"}, Limit: 3, Lease: time.Second}
	reply, err := s.claim(ctx, claim)
	if err != nil || len(reply.(*rota.Claimed).Jobs) != 1 {
		t.Fatalf("what it took is %v, %v", reply, err)
	}
	sent := stage.requests()
	if want := `{"worker":"w-1","types":["mail"],"limit":1,"lease":"1s","wait":"0s"}`; strings.TrimSpace(sent[1].body) != want || sent[1].key != sent[0].key {
		t.Errorf("the last word is %+v; want the key %s, and %s", sent[1], sent[0].key, want)
	}
	if _, err := s.claim(ctx, claim); !errors.Is(err, context.Canceled) {
		t.Errorf("where nobody answers it ends with %v", err)
	}
}

// TestASilentServerIsGivenUp: a claim waits as long as was asked, and not for
// ever.
func TestASilentServerIsGivenUp(t *testing.T) {
	stage := newStage(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for _, row := range []struct {
		wait, least, most time.Duration
		command           rota.Command
	}{
		{time.Second, time.Second, 30 * time.Second, &rota.Claim{Meta: rota.NewMeta(""), Limit: 1}},
		{WaitMax, 200 * time.Millisecond, WaitMax / 2, &rota.Finish{Items: []rota.FinishItem{{}}}}, // it does not wait as a claim does
	} {
		s := stage.store(Config{Wait: row.wait, Timeout: 200 * time.Millisecond})
		began := time.Now()
		_, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{row.command}})
		if d := time.Since(began); rota.CodeOf(err) != rota.Unavailable || d < row.least || d > row.most {
			t.Errorf("%s: %v after %v", row.command.Verb(), err, d)
		}
	}
}

// TestFinishesAreCarriedInPieces: an end that is long has a request of its own,
// and the answers come back in order.
func TestFinishesAreCarriedInPieces(t *testing.T) {
	stage := newStage(t, agreesToAll)
	s := stage.store(Config{})
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
			t.Errorf("the answer at %d is about another", i)
		}
	}
	requests := stage.requests()
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

// agreesToAll answers a request about leases: they stand.
func agreesToAll(w http.ResponseWriter, r *http.Request) {
	var asked, answer leaseAnswers
	_ = json.NewDecoder(r.Body).Decode(&asked)
	for _, item := range asked.Items {
		answer.Items = append(answer.Items, leaseAnswer{RunID: item.RunID, Code: codeDone})
	}
	text, _ := encode(answer)
	agrees(string(text))(w, r)
}

// TestALogIsNoReasonToRefuse: an end that is too long for the server, or for
// somebody before it, is told once more as it was, without its log.
func TestALogIsNoReasonToRefuse(t *testing.T) {
	for name, refuses := range map[string]http.HandlerFunc{
		"server": says(413, problemType, `{"code":"too_large","detail":"too large"}`),
		"proxy":  says(413, "text/html", "<html>413 Request Entity Too Large</html>"),
	} {
		t.Run(name, func(t *testing.T) {
			stage := newStage(t, agrees(`{"name":"mail"}`), refuses, agreesToAll)
			s := stage.store(Config{})
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
			sent := stage.requests()
			if len(sent) != 3 || !strings.Contains(sent[1].body, "what it wrote") || strings.Contains(sent[2].body, "what it wrote") || !strings.Contains(sent[2].body, "COMPLETED") {
				t.Errorf("it was sent as %+v", sent)
			}
			_, _ = file.Write(nil) // it is kept until here
		})
	}
}

// TestOddAnswersAreNotBelieved: what the server says about other runs, or in
// words that nobody knows, decides nothing.
func TestOddAnswersAreNotBelieved(t *testing.T) {
	ref := rota.LeaseRef{JobID: rota.NewID(), RunID: rota.NewID(), Token: rota.NewToken()}
	for _, body := range []string{
		`{"items":[]}`,
		`{"items":[{"run_id":"` + rota.NewID().String() + `","code":"ok"}]}`,
		`{"items":[{"run_id":"` + ref.RunID.String() + `","code":"perhaps"}]}`,
	} {
		s := newStage(t, agrees(body)).store(Config{})
		for _, command := range []rota.Command{
			&rota.Finish{Items: []rota.FinishItem{{LeaseRef: ref}}}, &rota.Extend{Lease: time.Second, Items: []rota.ExtendItem{{LeaseRef: ref}}},
		} {
			if _, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{command}}); rota.CodeOf(err) != rota.Internal {
				t.Errorf("%s answered by %s: %v", command.Verb(), body, err)
			}
		}
	}
}

// TestAWorkerIsNoClient wants of everything that the protocol does not do a word
// about what would.
func TestAWorkerIsNoClient(t *testing.T) {
	stage := newStage(t, agrees(`{}`))
	s := stage.store(Config{})
	results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{
		&rota.Enqueue{Meta: rota.NewMeta("")}, &rota.Note{Items: []rota.NoteItem{{Artifacts: []string{"a"}}}}, &rota.PutType{Mode: rota.PutCreate},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err == nil || r.Err.Code != rota.Invalid || !strings.Contains(r.Err.Error(), "use the HTTP API") {
			t.Errorf("it answers %v", r.Err)
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
	if n := len(stage.requests()); n > 0 {
		t.Errorf("%d requests were sent for what cannot be done", n)
	}
}
