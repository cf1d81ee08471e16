package httpapi_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

// TestAClaimSentAgainIsAnsweredAlike, under a text and under an id: its jobs and
// their tokens are the same, and nobody else's.
func TestAClaimSentAgainIsAnsweredAlike(t *testing.T) {
	for _, key := range []string{"a text", rota.NewID().String()} {
		s := newServer(t)
		s.declare("a")
		for range 6 {
			s.enqueue(`{"type": "a"}`)
		}
		body := `{"worker": "w", "types": ["a"], "limit": 3}`
		first := s.claim(body, "Idempotency-Key", key)
		other := s.claim(`{"worker": "w", "types": ["a"]}`, "Idempotency-Key", rota.NewID().String())
		again := s.claim(body, "Idempotency-Key", key)
		if len(first) != 3 || fmt.Sprint(tokens(first)) != fmt.Sprint(tokens(again)) || slices.Contains(tokens(first), tokens(other)[0]) {
			t.Errorf("%v, then %v", tokens(first), tokens(again))
		}
		s.finish(first[1], `, "outcome": "completed"`)
		if again = s.claim(body, "Idempotency-Key", key); len(again) != 2 || again[0].RunID != first[0].RunID || again[1].RunID != first[2].RunID {
			t.Errorf("those that are still open: %+v", again)
		}
		s.finish(first[0], `, "outcome": "completed"`)
		s.finish(first[2], `, "outcome": "completed"`)
		if next := s.claim(body, "Idempotency-Key", key); len(next) != 2 || slices.Contains(tokens(first), tokens(next)[0]) {
			t.Errorf("when all have ended it takes others: %+v", next)
		}
	}
}

func tokens(items []httpapi.ClaimedJob) (all []string) {
	for _, item := range items {
		all = append(all, item.LeaseToken)
	}
	return all
}

func TestAKeyOfAClaimIsNotUsedForEver(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	for range 20 {
		s.enqueue(`{"type": "a"}`)
	}
	for range 16 {
		items := s.claim(`{"worker": "w", "types": ["a"]}`, "Idempotency-Key", "worker-1")
		if len(items) != 1 {
			t.Fatalf("%+v", items)
		}
		s.finish(items[0], `, "outcome": "completed"`)
	}
	p := s.post("claim", `{"worker": "w", "types": ["a"]}`, "Idempotency-Key", "worker-1").problem(409, "conflict")
	if p.Hint == "" || p.Errors[0].Field != "Idempotency-Key" {
		t.Errorf("%+v", p)
	}
	s.post("claim", `{"worker": "other", "types": ["a"]}`, "Idempotency-Key", "worker-1").problem(409, "conflict")
}

// TestAClaimSentAgainNeedNotWait, though it is known that nothing is ready.
func TestAClaimSentAgainNeedNotWait(t *testing.T) {
	s, waiting := newWaiting(t)
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	body, key := `{"worker": "w", "types": ["a"], "wait": "60s"}`, rota.NewID().String()
	first := s.claim(body, "Idempotency-Key", key)
	s.poll(`{"worker": "idle", "types": ["a"], "wait": "60s"}`)
	waiting.reach(1)
	began, lost := time.Now(), lag()
	second := read[httpapi.Claimed](soon(t, s.poll(body, "Idempotency-Key", key)).is(200)).Items
	if waited := time.Since(began) - lost(); waited > 4*time.Second { // at 5 s the clerk looks
		t.Errorf("it waited %v", waited)
	}
	if len(first) != 1 || len(second) != 1 || first[0].LeaseToken != second[0].LeaseToken {
		t.Errorf("%+v, then %+v", first, second)
	}
}

// TestAClaimSentAgainWhileItWaits takes the place of the first, which can take
// nothing more.
func TestAClaimSentAgainWhileItWaits(t *testing.T) {
	s, waiting := newWaiting(t)
	s.declare("a")
	key := rota.NewID().String()
	first := s.poll(`{"worker": "w", "types": ["a"], "wait": "60s"}`, "Idempotency-Key", key)
	waiting.reach(1)
	second := s.poll(`{"worker": "w", "types": ["a"], "wait": "60s"}`, "Idempotency-Key", key)
	if items := read[httpapi.Claimed](soon(t, first).is(200)).Items; len(items) != 0 {
		t.Errorf("%+v", items)
	}
	waiting.reach(1)
	s.enqueue(`{"type": "a"}`)
	if items := read[httpapi.Claimed](soon(t, second).is(200)).Items; len(items) != 1 {
		t.Errorf("%+v", items)
	}
}

// slowClaims is a store that holds the answers to claims that took something,
// until it is told to go on.
type slowClaims struct {
	rota.Store
	took chan struct{}
	goOn chan struct{}
}

func (s *slowClaims) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	results, err := s.Store.Apply(ctx, b)
	for i := range results {
		if claimed, is := results[i].Reply.(*rota.Claimed); is && len(claimed.Jobs) > 0 {
			s.took <- struct{}{}
			<-s.goOn
		}
	}
	return results, err
}

// newSlow is a server whose claims are slow.
func newSlow(t *testing.T) (*server, *gauge, *slowClaims) {
	slow := &slowClaims{took: make(chan struct{}), goOn: make(chan struct{})}
	s, waiting := newWaiting(t, func(c *httpapi.Config) { slow.Store, c.Store = c.Store, slow })
	s.declare("a")
	return s, waiting, slow
}

// watch serves claims once more, and tells of each: the context of its request,
// and that it was answered.
func (s *server) watch() (other *server, began <-chan context.Context, ended <-chan struct{}) {
	contexts, ends := make(chan context.Context, 1), make(chan struct{}, 1)
	watched := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		contexts <- r.Context()
		s.handler.ServeHTTP(w, r)
		ends <- struct{}{}
	}))
	s.Cleanup(watched.Close)
	copied := *s
	copied.http = watched
	return &copied, contexts, ends
}

// TestWhatReachesNobodyIsGivenBack: the worker goes while its claim is with the
// store. Nobody knows the token of what was taken, so it is tried again at once,
// which costs an attempt; the last one is dead.
func TestWhatReachesNobodyIsGivenBack(t *testing.T) {
	for _, wait := range []string{"0s", "60s"} {
		s, _, slow := newSlow(t)
		watched, began, ended := s.watch()
		id := s.enqueue(`{"type": "a", "max_retries": 1}`)
		for attempt := range 2 {
			leave, over := hangUp(watched, `{"worker": "gone", "types": ["a"], "wait": "`+wait+`"}`)
			<-slow.took
			leave()
			<-over
			<-(<-began).Done() // the server has seen it
			slow.goOn <- struct{}{}
			<-ended
			attempts := read[httpapi.ExecutionDetail](s.get("executions/" + id).is(200)).Attempts
			run := attempts[attempt].Run
			if run.Status != "FAILED" || run.ErrorCode != "shutdown" || !strings.Contains(string(run.Error), "gone") {
				t.Errorf("%+v", run)
			}
			if attempt == 0 && (len(attempts) != 2 || attempts[1].State != "queued") {
				t.Errorf("it is not tried again at once: %+v", attempts[1:])
			}
			if attempt == 1 && len(s.all("dead", 10)) != 1 {
				t.Error("the last attempt is not a dead letter")
			}
		}
	}
}

// TestWhatReachesNobodyWaitsForItsKey: who sends a key may ask again, and finds
// what was taken for it.
func TestWhatReachesNobodyWaitsForItsKey(t *testing.T) {
	for _, wait := range []string{"0s", "60s"} {
		s, _, slow := newSlow(t)
		s.enqueue(`{"type": "a"}`)
		body, key := `{"worker": "w", "types": ["a"], "wait": "`+wait+`"}`, rota.NewID().String()
		leave, over := hangUp(s, body, "Idempotency-Key", key)
		<-slow.took
		leave()
		<-over
		again := s.poll(body, "Idempotency-Key", key)
		slow.goOn <- struct{}{}
		<-slow.took // the same, for the second
		slow.goOn <- struct{}{}
		items := read[httpapi.Claimed](soon(t, again).is(200)).Items
		if len(items) != 1 || items[0].Job.Attempt != 1 {
			t.Fatalf("%+v", items)
		}
		if code := s.finish(items[0], `, "outcome": "completed"`); code != "ok" {
			t.Error(code)
		}
	}
}

// startOn serves the store in a file, until it is stopped as a server is.
func startOn(t *testing.T, path string) (s *server, waiting *gauge, stop func()) {
	t.Helper()
	file, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	waiting = &gauge{TB: t, changed: make(chan struct{})}
	s = &server{TB: t, store: wrap.Coalesce(file)}
	if s.handler, err = httpapi.New(httpapi.Config{Store: s.store, Token: token, OnPolls: waiting.tell}); err != nil {
		t.Fatal(err)
	}
	base, hangUp := context.WithCancel(context.Background())
	s.http = httptest.NewUnstartedServer(s.handler)
	s.http.Config.BaseContext = func(net.Listener) context.Context { return base }
	s.http.Start()
	return s, waiting, func() {
		hangUp()
		s.http.Close()
		if err := s.store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLeasesOutliveTheServer: it is stopped and started again while a worker has
// a job, and another waits for one.
func TestLeasesOutliveTheServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rota.db")
	s, waiting, stop := startOn(t, path)
	s.declare("a", "b")
	id := s.enqueue(`{"type": "a"}`)
	key := rota.NewID().String()
	job := s.claim(`{"worker": "w", "types": ["a"]}`, "Idempotency-Key", key)[0]
	idle := s.poll(`{"worker": "idle", "types": ["b"], "wait": "60s"}`)
	waiting.reach(1)
	stop()
	if a := soon(t, idle).is(200); a.text != `{"items":[]}`+"\n" {
		t.Error(a.text)
	}
	s, _, stop = startOn(t, path)
	defer stop()
	if again := s.claim(`{"worker": "w", "types": ["a"]}`, "Idempotency-Key", key); len(again) != 1 || again[0].LeaseToken != job.LeaseToken {
		t.Errorf("the claim sent again: %+v", again)
	}
	if held := s.extend(job, `, "progress": 50`); held.Code != "ok" {
		t.Errorf("%+v", held)
	}
	if code := s.finish(job, `, "outcome": "completed"`); code != "ok" {
		t.Error(code)
	}
	if got := s.get("jobs/" + id).is(200).job(); got.State != "completed" || got.Attempt != 1 {
		t.Errorf("%+v", got)
	}
}

// TestBadWorkerInputIsRefused, whole, naming the field; nothing changes.
func TestBadWorkerInputIsRefused(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	secret := job.LeaseToken
	run, id := job.RunID.String(), job.Job.ID.String()
	ref := `"run_id": "` + run + `", "job_id": "` + id + `", "lease_token": "` + secret + `"`
	types := strings.Repeat(`"a",`, 256) + `"a"`
	good := `{` + ref + `, "outcome": "completed"}`
	before := s.dump()
	for _, test := range []struct {
		path, body, field string
		status            int
	}{
		{"claim", ``, "", 400},
		{"claim", `{"worker": "w"`, "", 400},
		{"claim", `[]`, "", 422},
		{"claim", `{}`, "worker", 422},
		{"claim", `{"types": ["a"]}`, "worker", 422},
		{"claim", `{"worker": "", "types": ["a"]}`, "worker", 422},
		{"claim", `{"worker": 7, "types": ["a"]}`, "worker", 422},
		{"claim", `{"worker": "a b", "types": ["a"]}`, "worker", 422},
		{"claim", `{"worker": "` + strings.Repeat("w", 129) + `", "types": ["a"]}`, "worker", 422},
		{"claim", `{"worker": "w"}`, "types", 422},
		{"claim", `{"worker": "w", "types": []}`, "types", 422},
		{"claim", `{"worker": "w", "types": null}`, "types", 422},
		{"claim", `{"worker": "w", "types": "a"}`, "types", 422},
		{"claim", `{"worker": "w", "types": [` + types + `]}`, "types", 422},
		{"claim", `{"worker": "w", "types": ["a", ""]}`, "types[1]", 422},
		{"claim", `{"worker": "w", "types": ["a", 7]}`, "types[1]", 422},
		{"claim", `{"worker": "w", "types": ["a", "b c"]}`, "types[1]", 422},
		{"claim", `{"worker": "w", "types": ["a", "rota.webhook"]}`, "types[1]", 422},
		{"claim", `{"worker": "w", "types": ["rota."]}`, "types[0]", 422},
		{"claim", `{"worker": "w", "types": ["a"], "limit": 0}`, "limit", 422},
		{"claim", `{"worker": "w", "types": ["a"], "limit": -1}`, "limit", 422},
		{"claim", `{"worker": "w", "types": ["a"], "limit": 1001}`, "limit", 422},
		{"claim", `{"worker": "w", "types": ["a"], "limit": "9"}`, "limit", 422},
		{"claim", `{"worker": "w", "types": ["a"], "limit": 1.5}`, "limit", 422},
		{"claim", `{"worker": "w", "types": ["a"], "lease": "999ms"}`, "lease", 422},
		{"claim", `{"worker": "w", "types": ["a"], "lease": "61m"}`, "lease", 422},
		{"claim", `{"worker": "w", "types": ["a"], "lease": 30}`, "lease", 422},
		{"claim", `{"worker": "w", "types": ["a"], "lease": "soon"}`, "lease", 422},
		{"claim", `{"worker": "w", "types": ["a"], "wait": "-1s"}`, "wait", 422},
		{"claim", `{"worker": "w", "types": ["a"], "wait": "61s"}`, "wait", 422},
		{"claim", `{"worker": "w", "types": ["a"], "wait": 30}`, "wait", 422},
		{"claim", `{"worker": "w", "types": ["a"], "life": "x"}`, "life", 422},
		{"claim", `{"worker": "w", "types": ["a"], "types": ["a"]}`, "types", 422},
		{"claim?wait=5s", `{"worker": "w", "types": ["a"]}`, "wait", 400},
		{"claim", `{"worker": "w", "types": ["` + strings.Repeat("x", 2<<20) + `"]}`, "", 413},

		{"extend", ``, "", 400},
		{"extend", `{}`, "items", 422},
		{"extend", `{"items": []}`, "items", 422},
		{"extend", `{"items": {}}`, "items", 422},
		{"extend", `{"items": [{}]}`, "items[0].job_id", 422},
		{"extend", `{"items": [{"run_id": "` + run + `", "lease_token": "` + secret + `"}]}`, "items[0].job_id", 422},
		{"extend", `{"items": [{"job_id": "` + id + `", "lease_token": "` + secret + `"}]}`, "items[0].run_id", 422},
		{"extend", `{"items": [{"job_id": "` + id + `", "run_id": "` + run + `"}]}`, "items[0].lease_token", 422},
		{"extend", `{"items": [{"job_id": "` + id + `", "run_id": "` + run + `", "lease_token": "` + secret[1:] + `"}]}`, "items[0].lease_token", 422},
		{"extend", `{"items": [{"job_id": "` + id + `", "run_id": "` + run + `", "lease_token": "` + strings.Repeat("0", 32) + `"}]}`, "items[0].lease_token", 422},
		{"extend", `{"items": [{"job_id": "x", "run_id": "` + run + `", "lease_token": "` + secret + `"}]}`, "items[0].job_id", 422},
		{"extend", `{"items": [{"job_id": 5, "run_id": "` + run + `", "lease_token": "` + secret + `"}]}`, "items[0].job_id", 422},
		{"extend", `{"items": [{` + ref + `, "progress": "` + strings.Repeat("p", 1100) + `"}]}`, "items[0].progress", 422},
		{"extend", `{"items": [{` + ref + `}], "lease": "1ms"}`, "lease", 422},
		{"extend", `{"items": [{` + ref + `}], "lease": "2h"}`, "lease", 422},
		{"extend", `{"items": [{` + ref + `}], "lease": 30}`, "lease", 422},
		{"extend", `{"items": [{` + ref + `, "outcome": "completed"}]}`, "items[0].outcome", 422},
		{"extend", `{"items": [` + strings.Repeat(`{`+ref+`},`, 10_000) + `{` + ref + `}]}`, "items", 422},

		{"finish", ``, "", 400},
		{"finish", `{}`, "items", 422},
		{"finish", `{"items": []}`, "items", 422},
		{"finish", `{"items": ["x"]}`, "items[0]", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `}]}`, "items[1].outcome", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "done"}]}`, "items[1].outcome", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": 1}]}`, "items[1].outcome", 422},
		{"finish", `{"items": [` + good + `, {"outcome": "completed"}]}`, "items[1].job_id", 422},
		{"finish", `{"items": [` + good + `, {"run_id": "` + run + `", "job_id": "` + id + `", "outcome": "failed", "lease_token": "no"}]}`, "items[1].lease_token", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "failed", "error_code": "lease_expired"}]}`, "items[1].error_code", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "failed", "error_code": "` + strings.Repeat("c", 600) + `"}]}`, "items[1].error_code", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "failed", "error": 5}]}`, "items[1].error", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "completed", "result": "` + strings.Repeat("r", 65<<10) + `"}]}`, "items[1].result", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "failed", "permanent": "yes"}]}`, "items[1].permanent", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "failed", "retry_at": "later"}]}`, "items[1].retry_at", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "failed", "retry_at": "1901-01-01T00:00:00Z"}]}`, "items[1].retry_at", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "completed", "exit_code": "0"}]}`, "items[1].exit_code", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "completed", "rows_affected": 1.5}]}`, "items[1].rows_affected", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "completed", "artifacts": "a"}]}`, "items[1].artifacts", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "completed", "artifacts": ["` + strings.Repeat("a", 5000) + `"]}]}`, "items[1].artifacts[0]", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "completed", "log": ["a"]}]}`, "items[1].log", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "completed", "colour": "red"}]}`, "items[1].colour", 422},
		{"finish", `{"items": [` + good + `], "lease": "30s"}`, "lease", 422},
		{"finish", `{"items": [` + strings.Repeat(good+`,`, 10_000) + good + `]}`, "items", 422},
		{"finish", `{"items": [{` + ref + `, "outcome": "completed", "log": "` + strings.Repeat("x", 65<<20) + `"}]}`, "", 413},
	} {
		name := fmt.Sprintf("%s %.200s", test.path, strings.Replace(test.body, good, "…", 1))
		a := s.post(test.path, test.body)
		code := "invalid"
		if test.status == 413 {
			code = "too_large"
		}
		if a.status != test.status {
			t.Errorf("%s: %d %.300s", name, a.status, a.text)
			continue
		}
		p := a.problem(test.status, code)
		var fields []string
		for _, e := range p.Errors {
			fields = append(fields, e.Field)
		}
		if test.field != "" && !slices.Contains(fields, test.field) {
			t.Errorf("%s: the fields are %q: %.300s", name, fields, a.text)
		}
		if strings.Contains(a.text, secret) || len(a.text) > 2000 {
			t.Errorf("%s: it repeats what it was sent: %.300s", name, a.text)
		}
	}
	if s.dump() != before {
		t.Error("something changed")
	}
	if code := s.finish(job, `, "outcome": "completed"`); code != "ok" {
		t.Error(code)
	}
}

// TestRotasOwnTypesAreItsOwn: nobody else submits, declares or claims them.
func TestRotasOwnTypesAreItsOwn(t *testing.T) {
	s := newServer(t, withEngine(t))
	before := s.dump()
	for _, test := range []struct{ method, path, body, field string }{
		{"POST", "jobs", `{"type": "rota.webhook"}`, "type"},
		{"POST", "jobs/batch", `{"jobs": [{"type": "noop"}, {"type": "rota.webhook"}]}`, "jobs[1].type"},
		{"POST", "groups", `{"jobs": [{"type": "rota.mine"}]}`, "jobs[0].type"},
		{"POST", "direct", `{"type": "rota.webhook"}`, "type"},
		{"POST", "templates", `{"name": "t", "type": "rota.webhook"}`, "type"},
		{"PUT", "types/rota.mine", `{}`, "name"},
		{"POST", "claim", `{"worker": "w", "types": ["noop", "rota.webhook"]}`, "types[1]"},
	} {
		p := s.send(test.method, test.path, test.body).problem(422, "invalid")
		if p.Errors[0].Field != test.field || !strings.Contains(p.Detail, "rota.") {
			t.Errorf("%s %s: %+v", test.method, test.path, p)
		}
	}
	if s.dump() != before {
		t.Error("something changed")
	}
}

// TestManyLeasesAreExtendedAtOnce, and answered in their order.
func TestManyLeasesAreExtendedAtOnce(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.post("jobs/batch", `{"jobs": [`+strings.Repeat(`{"type": "a"},`, 999)+`{"type": "a"}]}`).is(201)
	items := s.claim(`{"worker": "w", "types": ["a"], "limit": 1000, "lease": "1s"}`)
	beats := make([]string, len(items))
	for i, job := range items {
		beats[i] = lease(job, fmt.Sprintf(`, "progress": "%d%s"`, i, strings.Repeat("p", 900)))
	}
	held := read[httpapi.Extended](s.post("extend", `{"lease": "5m", "items": [`+strings.Join(beats, ",")+`]}`).is(200)).Items
	for i := range held {
		if held[i].Code != "ok" || held[i].RunID != items[i].RunID || time.Until(held[i].StaleAfter.Time) < 4*time.Minute {
			t.Fatalf("%d: %+v", i, held[i])
		}
	}
}

// FuzzWorkerBodies sends anything to the addresses of workers: whatever it is, it
// is the sender's fault, not the server's.
func FuzzWorkerBodies(f *testing.F) {
	id := rota.NewID().String()
	ref := `"run_id": "` + id + `", "job_id": "` + id + `", "lease_token": "00000000000000000000000000000001"`
	paths := []string{"claim", "extend", "finish"}
	f.Add(0, `{"worker": "w", "types": ["a"], "limit": 3, "lease": "30s", "wait": "0s"}`)
	f.Add(1, `{"lease": "1h", "items": [{`+ref+`, "progress": {"a": [1, null]}}]}`)
	f.Add(2, `{"items": [{`+ref+`, "outcome": "FAILED", "result": null, "error": "\u0000", "retry_at": "2099-01-01T00:00:00Z", "artifacts": [""], "log": "\ud800"}]}`)
	f.Add(2, `{"items": [null, {}]}`)
	s := newServer(f, withLogWriter)
	s.declare("a")
	f.Fuzz(func(t *testing.T, which int, body string) {
		path := paths[((which%3)+3)%3]
		if a := ask(s.handler, "POST", "/api/v1/"+path, body); a.Code >= 500 {
			t.Fatalf("%s %q: %d %s", path, body, a.Code, a.Body)
		}
	})
}
