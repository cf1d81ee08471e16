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
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

// TestClaimRepeatedWithKeyReturnsSameJobs uses a text key and a UUID key. Jobs and lease tokens are
// the same, and differ from those of other claims.
func TestClaimRepeatedWithKeyReturnsSameJobs(t *testing.T) {
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
			t.Errorf("open jobs of the repeated claim: %+v", again)
		}
		s.finish(first[0], `, "outcome": "completed"`)
		s.finish(first[2], `, "outcome": "completed"`)
		if next := s.claim(body, "Idempotency-Key", key); len(next) != 2 || slices.Contains(tokens(first), tokens(next)[0]) {
			t.Errorf("jobs of the repeated claim after all have ended: %+v", next)
		}
	}
}

func tokens(items []api.ClaimedJob) (all []string) {
	for _, item := range items {
		all = append(all, item.LeaseToken)
	}
	return all
}

func TestClaimKeyAfterSixteenUsesConflicts(t *testing.T) {
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

// TestClaimRepeatedWithKeyDoesNotWait repeats a claim although no job is known to be ready.
func TestClaimRepeatedWithKeyDoesNotWait(t *testing.T) {
	s, waiting := newPollServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	body, key := `{"worker": "w", "types": ["a"], "wait": "60s"}`, rota.NewID().String()
	first := s.claim(body, "Idempotency-Key", key)
	s.poll(`{"worker": "idle", "types": ["a"], "wait": "60s"}`)
	waiting.reach(1)
	began, lost := time.Now(), measureLag()
	second := read[api.Claimed](receive(t, s.poll(body, "Idempotency-Key", key)).is(200)).Items
	if waited := time.Since(began) - lost(); waited > 4*time.Second { // the periodic recheck runs at 5 s
		t.Errorf("it waited %v", waited)
	}
	if len(first) != 1 || len(second) != 1 || first[0].LeaseToken != second[0].LeaseToken {
		t.Errorf("%+v, then %+v", first, second)
	}
}

// TestClaimRepeatedWhileWaitingReplacesFirstPoll checks that the first poll ends empty and can claim
// nothing more.
func TestClaimRepeatedWhileWaitingReplacesFirstPoll(t *testing.T) {
	s, waiting := newPollServer(t)
	s.declare("a")
	key := rota.NewID().String()
	first := s.poll(`{"worker": "w", "types": ["a"], "wait": "60s"}`, "Idempotency-Key", key)
	waiting.reach(1)
	second := s.poll(`{"worker": "w", "types": ["a"], "wait": "60s"}`, "Idempotency-Key", key)
	if items := read[api.Claimed](receive(t, first).is(200)).Items; len(items) != 0 {
		t.Errorf("%+v", items)
	}
	waiting.reach(1)
	s.enqueue(`{"type": "a"}`)
	if items := read[api.Claimed](receive(t, second).is(200)).Items; len(items) != 1 {
		t.Errorf("%+v", items)
	}
}

// slowClaims is a store that delays the answers to successful claims until resume.
type slowClaims struct {
	rota.Store
	claimed chan struct{}
	resume  chan struct{}
}

func (s *slowClaims) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	results, err := s.Store.Apply(ctx, b)
	for i := range results {
		if claimed, is := results[i].Reply.(*rota.Claimed); is && len(claimed.Jobs) > 0 {
			s.claimed <- struct{}{}
			<-s.resume
		}
	}
	return results, err
}

// newSlowServer returns a server with slow claims.
func newSlowServer(t *testing.T) (*server, *pollGauge, *slowClaims) {
	slow := &slowClaims{claimed: make(chan struct{}), resume: make(chan struct{})}
	s, waiting := newPollServer(t, func(c *httpapi.Config) { slow.Store, c.Store = c.Store, slow })
	s.declare("a")
	return s, waiting, slow
}

// observed returns a copy of the server that reports the context of each request and the end of its
// handling.
func (s *server) observed() (other *server, began <-chan context.Context, ended <-chan struct{}) {
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

// TestUndeliveredClaimWithoutKeyIsReleased disconnects the worker while its claim is in flight. No
// client knows the lease token, so the job is retried immediately. This uses an attempt; the last
// attempt becomes a dead letter.
func TestUndeliveredClaimWithoutKeyIsReleased(t *testing.T) {
	for _, wait := range []string{"0s", "60s"} {
		s, _, slow := newSlowServer(t)
		watched, began, ended := s.observed()
		id := s.enqueue(`{"type": "a", "max_retries": 1}`)
		for attempt := range 2 {
			leave, over := startAbortableClaim(watched, `{"worker": "gone", "types": ["a"], "wait": "`+wait+`"}`)
			<-slow.claimed
			leave()
			<-over
			<-(<-began).Done() // the server has seen the disconnect
			slow.resume <- struct{}{}
			<-ended
			attempts := read[api.ExecutionDetail](s.get("executions/" + id).is(200)).Attempts
			run := attempts[attempt].Run
			if run.Status != "FAILED" || run.ErrorCode != "shutdown" || !strings.Contains(string(run.Error), "gone") {
				t.Errorf("%+v", run)
			}
			if attempt == 0 && (len(attempts) != 2 || attempts[1].State != "queued") {
				t.Errorf("it is not retried immediately: %+v", attempts[1:])
			}
			if attempt == 1 && len(s.all("dead", 10)) != 1 {
				t.Error("the last attempt is not a dead letter")
			}
		}
	}
}

// TestUndeliveredClaimWithKeyWaitsForRepeat checks that a repeated request with the key gets the
// claimed job.
func TestUndeliveredClaimWithKeyWaitsForRepeat(t *testing.T) {
	for _, wait := range []string{"0s", "60s"} {
		s, _, slow := newSlowServer(t)
		s.enqueue(`{"type": "a"}`)
		body, key := `{"worker": "w", "types": ["a"], "wait": "`+wait+`"}`, rota.NewID().String()
		leave, over := startAbortableClaim(s, body, "Idempotency-Key", key)
		<-slow.claimed
		leave()
		<-over
		again := s.poll(body, "Idempotency-Key", key)
		slow.resume <- struct{}{}
		<-slow.claimed // the repeated claim
		slow.resume <- struct{}{}
		items := read[api.Claimed](receive(t, again).is(200)).Items
		if len(items) != 1 || items[0].Job.Attempt != 1 {
			t.Fatalf("%+v", items)
		}
		if code := s.finish(items[0], `, "outcome": "completed"`); code != "ok" {
			t.Error(code)
		}
	}
}

// startServerOn serves the store in a file until stop.
func startServerOn(t *testing.T, path string) (s *server, waiting *pollGauge, stop func()) {
	t.Helper()
	file, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	waiting = &pollGauge{TB: t, changed: make(chan struct{})}
	s = &server{TB: t, store: wrap.Coalesce(file)}
	if s.handler, err = httpapi.New(httpapi.Config{Store: s.store, Token: token, OnPolls: waiting.set}); err != nil {
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

// TestLeaseSurvivesServerRestart restarts the server while one worker holds a job and another waits.
func TestLeaseSurvivesServerRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rota.db")
	s, waiting, stop := startServerOn(t, path)
	s.declare("a", "b")
	id := s.enqueue(`{"type": "a"}`)
	key := rota.NewID().String()
	job := s.claim(`{"worker": "w", "types": ["a"]}`, "Idempotency-Key", key)[0]
	idle := s.poll(`{"worker": "idle", "types": ["b"], "wait": "60s"}`)
	waiting.reach(1)
	stop()
	if a := receive(t, idle).is(200); a.text != `{"items":[]}`+"\n" {
		t.Error(a.text)
	}
	s, _, stop = startServerOn(t, path)
	defer stop()
	if again := s.claim(`{"worker": "w", "types": ["a"]}`, "Idempotency-Key", key); len(again) != 1 || again[0].LeaseToken != job.LeaseToken {
		t.Errorf("repeated claim: %+v", again)
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

// TestInvalidWorkerRequestNamesFieldAndChangesNothing checks that an invalid request is refused as a
// whole.
func TestInvalidWorkerRequestNamesFieldAndChangesNothing(t *testing.T) {
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
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "completed", "result": {"a": [{"b": 1, "b": 2}]}}]}`, "items[1].result.a[0].b", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "completed", "result": [1e999]}]}`, "items[1].result[0]", 422},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "completed", "result": "\ud800"}]}`, "items[1].result", 400},
		{"finish", `{"items": [` + good + `, {` + ref + `, "outcome": "failed", "error": "\udc00"}]}`, "items[1].error", 400},
		{"extend", `{"items": [{` + ref + `, "progress": {"a": 1, "a": 2}}]}`, "items[0].progress.a", 422},
		{"extend", `{"items": [{` + ref + `, "progress": 1e999}]}`, "items[0].progress", 422},
		{"extend", `{"items": [{` + ref + `, "progress": {"a": "\ud800"}}]}`, "items[0].progress.a", 400},
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
			t.Errorf("%s: the response repeats values of the request: %.300s", name, a.text)
		}
	}
	if s.dump() != before {
		t.Error("something changed")
	}
	if code := s.finish(job, `, "outcome": "completed"`); code != "ok" {
		t.Error(code)
	}
}

// TestInternalTypesAreRefused checks that clients cannot submit, declare or claim Rota's own types.
func TestInternalTypesAreRefused(t *testing.T) {
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

// TestExtendManyLeasesKeepsOrder checks that the results have the order of the request.
func TestExtendManyLeasesKeepsOrder(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.post("jobs/batch", `{"jobs": [`+strings.Repeat(`{"type": "a"},`, 999)+`{"type": "a"}]}`).is(201)
	items := s.claim(`{"worker": "w", "types": ["a"], "limit": 1000, "lease": "1s"}`)
	beats := make([]string, len(items))
	for i, job := range items {
		beats[i] = lease(job, fmt.Sprintf(`, "progress": "%d%s"`, i, strings.Repeat("p", 900)))
	}
	held := read[api.Extended](s.post("extend", `{"lease": "5m", "items": [`+strings.Join(beats, ",")+`]}`).is(200)).Items
	for i := range held {
		if held[i].Code != "ok" || held[i].RunID != items[i].RunID || time.Until(held[i].StaleAfter.Time) < 4*time.Minute {
			t.Fatalf("%d: %+v", i, held[i])
		}
	}
}

// FuzzWorkerBodies sends arbitrary bodies to the worker paths. No body may cause a 5xx status.
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
		if a := serveRequest(s.handler, "POST", "/api/v1/"+path, body); a.Code >= 500 {
			t.Fatalf("%s %q: %d %s", path, body, a.Code, a.Body)
		}
	})
}
