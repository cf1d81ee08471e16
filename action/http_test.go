package action

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/payload"
)

// newHTTPEnv starts an engine that runs http jobs, which may reach this machine.
func newHTTPEnv(t *testing.T, change ...func(*Config)) *testEnv {
	t.Helper()
	config := Config{Guard: &Guard{Allow: allow(t, "loopback")}, Version: "1.2.3"}
	for _, f := range change {
		f(&config)
	}
	return newTestEnv(t, func(reg *engine.Registry, _ rota.Store) { Register(reg, config) })
}

// runHTTP runs a job of type http without retries, and waits for its end.
func (w *testEnv) runHTTP(params any) *rota.Job {
	w.Helper()
	return w.waitEnded(w.enqueue(rota.NewJob{Type: "http", Params: rota.EncodeSpec(params), MaxRetries: new(0)}))
}

// testServer is an HTTP server that records its requests.
type testServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []recordedRequest
}

type recordedRequest struct {
	*http.Request
	body string
}

func newTestServer(t *testing.T, answer http.HandlerFunc) *testServer {
	t.Helper()
	s := &testServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, recordedRequest{r, string(body)})
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *testServer) last(t *testing.T) recordedRequest {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 {
		t.Fatal("the server has received no request")
	}
	return s.requests[len(s.requests)-1]
}

func (s *testServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestHTTPJobSendsRequest(t *testing.T) {
	w := newHTTPEnv(t)
	s := newTestServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("X-Request-Id", "r-1")
		w.Header().Set("Set-Cookie", "session=hunter2")
		fmt.Fprint(w, `{"ok": true}`)
	})
	job := w.runHTTP(map[string]any{
		"method": "POST", "url": s.URL + "/a?key=hunter2", "headers": map[string]string{"authorization": "Bearer hunter2", "x-tenant": "7"}, "body": map[string]any{"n": 1},
	})
	if job.Run.Outcome != rota.OutcomeCompleted {
		t.Fatal(job.Run.Error)
	}
	r := s.last(t)
	if r.Method != "POST" || r.body != `{"n":1}` || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "Bearer hunter2" ||
		r.Header.Get("X-Tenant") != "7" || r.Header.Get("User-Agent") != "rota/1.2.3" || r.Header.Get("Idempotency-Key") != job.ExecutionID.String() {
		t.Errorf("%s %q %v", r.Method, r.body, r.Header)
	}
	got := result[Answer](w, job)
	if body, is := got.Body.(map[string]any); !is || body["ok"] != true || got.Status != 200 || got.Headers["X-Request-Id"] != "r-1" || got.Truncated {
		t.Errorf("%s", job.Run.Result)
	}
	log := w.log.String()
	for _, want := range []string{"method=POST", "host=" + strings.TrimPrefix(s.URL, "http://"), "status=200", "duration="} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s: %s", want, log)
		}
	}
	if strings.Contains(log, "hunter2") || strings.Contains(string(job.Run.Result), "hunter2") {
		t.Errorf("the log or the result contains a secret: %s %s", log, job.Run.Result)
	}
}

func TestHTTPJobDefaults(t *testing.T) {
	w := newHTTPEnv(t)
	s := newTestServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello <world> & all") })
	job := w.runHTTP(HTTP{URL: payload.URL(s.URL)})
	if r := s.last(t); r.Method != "GET" || r.body != "" || r.Header.Get("Content-Type") != "" || r.ContentLength != 0 {
		t.Errorf("%+v", r)
	}
	if got := result[Answer](w, job); got.Body != "hello <world> & all" {
		t.Errorf("%s", job.Run.Result)
	}
	if job.Policy.Timeout != DefaultHTTPTimeout {
		t.Errorf("the timeout is %v", job.Policy.Timeout)
	}

	w.runHTTP(map[string]any{"method": "PUT", "url": s.URL, "body": "a text", "headers": map[string]string{"Idempotency-Key": "mine", "User-Agent": "me", "Host": "other.example"}})
	if r := s.last(t); r.Method != "PUT" || r.body != "a text" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") ||
		r.Header.Get("Idempotency-Key") != "mine" || r.Header.Get("User-Agent") != "me" || r.Host != "other.example" {
		t.Errorf("%+v", r)
	}
	w.runHTTP(map[string]any{"method": "POST", "url": s.URL, "body": []int{1, 2}, "headers": map[string]string{"content-type": "application/vnd.api+json"}})
	if r := s.last(t); r.body != "[1,2]" || r.Header.Get("Content-Type") != "application/vnd.api+json" {
		t.Errorf("%+v", r)
	}
}

// TestHTTPJobRefusesInvalidParams checks the errors of the schema, which an enqueue
// returns. Each names the field.
func TestHTTPJobRefusesInvalidParams(t *testing.T) {
	schema, err := payload.Schema(HTTP{})
	if err != nil {
		t.Fatal(err)
	}
	check, err := payload.Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	const noEnd = "params.headers.a: has a reference to a secret without } at its end; write ${secret:KEY} with the key of a secret of the template"
	const badKey = "params.headers.a: has a reference to a secret whose key contains characters other than letters, digits and _, or begins with a digit; write ${secret:KEY} with"
	longKey := "${secret:" + strings.Repeat("K", rota.SecretKeyMax+1) + "}"
	const badURL = "params.url: is not an http or https URL such as https://example.com/a, without user and password"
	for params, want := range map[string]string{
		`{}`:                                                           "params.url: is missing",
		`{"url": 7}`:                                                   "params.url: is a number; it must be text",
		`{"url": ""}`:                                                  badURL,
		`{"url": "example.com"}`:                                       badURL,
		`{"url": "/path"}`:                                             badURL,
		`{"url": "//example.com/"}`:                                    badURL,
		`{"url": "ftp://example.com"}`:                                 badURL,
		`{"url": "file:///etc/passwd"}`:                                badURL,
		`{"url": "gopher://x:1/_a"}`:                                   badURL,
		`{"url": "http://"}`:                                           badURL,
		`{"url": "http:///path"}`:                                      badURL,
		`{"url": "http:example.com"}`:                                  badURL,
		`{"url": "http://:80/"}`:                                       badURL,
		`{"url": "http://a:hunter2@b/"}`:                               badURL,
		`{"url": "http://a@b"}`:                                        badURL,
		`{"url": "http://a b/"}`:                                       badURL,
		`{"url": "http://a\\@b/"}`:                                     badURL,
		`{"url": "http://a:port/"}`:                                    badURL,
		`{"url": "http://[::1"}`:                                       badURL,
		`{"url": "http://a/", "method": "get"}`:                        `params.method: is "get"; allowed are "GET", "HEAD", "POST"`,
		`{"url": "http://a/", "method": "CONNECT"}`:                    "params.method: ",
		`{"url": "http://a/", "methode": "GET"}`:                       "params.methode: is not a field of this type; did you mean params.method?",
		`{"url": "http://a/", "headers": ["a"]}`:                       "params.headers: is a list; it must be an object",
		`{"url": "http://a/", "headers": {"a": 1}}`:                    "params.headers.a: is a number; it must be text",
		`{"url": "http://a/", "headers": {"a b": "x"}}`:                `params.headers["a b"]: is not allowed as a name here: it is not the name of a header; write letters, digits and dashes, such as X-Tenant`,
		`{"url": "http://a/", "headers": {"": "x"}}`:                   `params.headers[""]: is not allowed as a name here`,
		`{"url": "http://a/", "headers": {"a": "x\r\nEvil: hunter2"}}`: "params.headers.a: has a line break or another control character; write it on one line",
		`{"url": "http://a/", "headers": {"Content-Length": "1"}}`:     `params.headers.Content-Length: is not allowed as a name here: it is set by the HTTP client; remove it`,
		`{"url": "http://a/", "headers": {"connection": "close"}}`:     "params.headers.connection: is not allowed as a name here: it is set by",
		`{"url": "http://a/", "headers": {"Host": "a b"}}`:             "params.headers.Host: is not a host; write a name, and a port if there is one, such as example.com:8080",
		`{"url": "http://a/", "headers": {"HOST": " "}}`:               "params.headers.HOST: is not a host",
		`{"url": "http://a/", "headers": {"host": "a:70000"}}`:         "params.headers.host: is not a host",
		`{"url": "http://a/", "headers": {"host": 7}}`:                 "params.headers.host: is a number; it must be text",
		`{"url": "http://a:70000/"}`:                                   badURL,
		`{"url": "http://a/", "expect": 42}`:                           "params.expect: is 42; at least 100 is required",
		`{"url": "http://a/", "expect": "ok"}`:                         `params.expect: is "ok"; allowed are "1xx"`,
		`{"url": "http://a/", "expect": [200, 700]}`:                   "params.expect",
		`{"url": "http://a/", "expect": {"status": 200}}`:              "params.expect: is an object; ",

		`{"url": "http://a/", "headers": {"a": "${secret:hunter2"}}`:       noEnd,
		`{"url": "http://a/", "headers": {"a": "${secret:A} ${secret:"}}`:  noEnd,
		`{"url": "http://a/", "headers": {"a": "x${secret:}"}}`:            "params.headers.a: has a reference to a secret whose key is empty; write ${secret:KEY} with",
		`{"url": "http://a/", "headers": {"a": "${secret:hunter2-x}"}}`:    badKey,
		`{"url": "http://a/", "headers": {"a": "${secret: TOKEN}"}}`:       badKey,
		`{"url": "http://a/", "headers": {"a": "${secret:A}${secret:9}"}}`: badKey,
		`{"url": "http://a/", "headers": {"a": "${secret:${secret:A}}"}}`:  badKey,
		`{"url": "http://a/", "headers": {"a": "${secret:TOKEN\n}"}}`:      "params.headers.a: has a line break",
		`{"url": "http://a/", "headers": {"a": "` + longKey + `"}}`:        "params.headers.a: has a reference to a secret whose key has 129 bytes; at most 128 are allowed; write",
	} {
		err := check.Check(json.RawMessage(params))
		if rota.CodeOf(err) != rota.Invalid || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v\nwant %s", params, err, want)
		}
	}
	for _, params := range []string{
		`{"url": "http://example.com"}`, `{"url": "https://[::1]:8080/a?b=c@d#e"}`, `{"url": "https://xn--bcher-kva.example/"}`, `{"url": "http://a?b@c"}`,
		`{"url": "http://a/", "method": "DELETE", "headers": {"X-A": "b\tc é", "accept": "", "Host": "a.example:8080", "host-id": "a b"}, "body": null, "expect": null}`,
		`{"url": "http://a/", "body": {"deep": [1, {"a": null}]}, "expect": [204, "3xx"]}`, `{"url": "http://a/", "body": "text", "expect": "4xx"}`,
		`{"url": "http://a/", "body": 7, "expect": 404}`,
		`{"url": "http://a/", "headers": {"a": "Bearer ${secret:A_1}${secret:b}", "b": "$secret: ${TOKEN} {secret:}", "c": "}${secret:A}}"}}`,
	} {
		if err := check.Check(json.RawMessage(params)); err != nil {
			t.Errorf("%s: %v", params, err)
		}
	}
}

// TestHTTPJobFailsOnUncheckedInvalidParams: params that no schema has checked at the
// enqueue fail permanently at the run.
func TestHTTPJobFailsOnUncheckedInvalidParams(t *testing.T) {
	w := newHTTPEnv(t)
	s := newTestServer(t, status(200))
	job := w.runHTTP(map[string]any{"url": s.URL, "headers": map[string]string{"transfer-encoding": "chunked"}})
	if job.Run.Outcome != rota.OutcomeFailed || job.Run.ErrorCode != "payload" || !strings.Contains(job.Run.Error, "headers.transfer-encoding") || job.Sequel != rota.SequelDead {
		t.Errorf("%+v", job.Run)
	}
	job = w.waitEnded(w.enqueue(rota.NewJob{Type: "http", Params: json.RawMessage(`{"url": "ftp://a"}`)}))
	if job.Run.ErrorCode != "payload" || job.Sequel != rota.SequelDead {
		t.Errorf("%+v", job.Run)
	}
	if s.count() != 0 {
		t.Error("a request with invalid params was sent")
	}
}

// TestHTTPStatusDecidesOutcome checks which statuses complete a job, which are retried,
// and which fail permanently.
func TestHTTPStatusDecidesOutcome(t *testing.T) {
	w := newHTTPEnv(t)
	answer := 0
	s := newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Sscan(r.URL.Query().Get("answer"), &answer)
		w.WriteHeader(answer)
	})
	for _, test := range []struct {
		status int
		expect any
		retry  bool
		code   string // error code; empty: the job completes
	}{
		{200, nil, false, ""},
		{204, nil, false, ""},
		{299, nil, false, ""},
		{404, 404, false, ""},
		{503, []any{"5xx", 200}, false, ""},
		{302, "3xx", false, ""},
		{200, 201, false, "http_200"}, // the request had its effect, so a retry is wrong
		{304, nil, false, "http_304"},
		{400, nil, false, "http_400"},
		{401, nil, false, "http_401"},
		{404, nil, false, "http_404"},
		{410, nil, false, "http_410"},
		{422, "4xx", false, ""},
		{408, nil, true, "http_408"},
		{425, nil, true, "http_425"},
		{429, nil, true, "http_429"},
		{500, nil, true, "http_500"},
		{503, nil, true, "http_503"},
		{599, nil, true, "http_599"},
	} {
		params := map[string]any{"url": fmt.Sprintf("%s?answer=%d", s.URL, test.status)}
		if test.expect != nil {
			params["expect"] = test.expect
		}
		before := s.count()
		id := w.enqueue(rota.NewJob{Type: "http", Params: rota.EncodeSpec(params), MaxRetries: new(1)})
		attempts := w.waitAttempts(id)
		last := attempts[len(attempts)-1]
		if want := map[bool]int{false: 1, true: 2}[test.retry]; len(attempts) != want || s.count()-before != want {
			t.Errorf("%d: %d attempts and %d requests", test.status, len(attempts), s.count()-before)
		}
		if test.code == "" && last.Run.Outcome != rota.OutcomeCompleted || test.code != last.Run.ErrorCode {
			t.Errorf("%d, expecting %v: %s %q %s", test.status, test.expect, last.Run.Outcome, last.Run.ErrorCode, last.Run.Error)
		}
		if test.code != "" && !strings.Contains(last.Run.Error, fmt.Sprintf("returned %d", test.status)) {
			t.Error(last.Run.Error)
		}
		if got := result[Answer](w, last); got.Status != test.status {
			t.Errorf("%s", last.Run.Result)
		}
		if first, second := attempts[0], last; test.retry && first.ExecutionID != second.ExecutionID {
			t.Error("a retry belongs to another execution")
		}
	}
}

func TestRetryAfterHeaderDelaysRetry(t *testing.T) {
	now := time.Date(2026, 11, 15, 7, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "-5": 0, "soon": 0, "1": time.Second, " 120 ": 2 * time.Minute, "3600": time.Hour, "86400": time.Hour,
		"9223372036854775807": time.Hour, "99999999999999999999": 0,
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		now.Add(24 * time.Hour).Format(http.TimeFormat):   time.Hour,
		now.Add(-time.Minute).Format(http.TimeFormat):     0,
	} {
		at, ok := retryAfter(header, now)
		if ok != (want > 0) || ok && !at.Equal(now.Add(want)) {
			t.Errorf("%q is %v, %v; want %v", header, at, ok, want)
		}
	}

	w := newHTTPEnv(t)
	s := newTestServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(429)
	})
	begun := time.Now()
	id := w.enqueue(rota.NewJob{Type: "http", Params: rota.EncodeSpec(HTTP{URL: payload.URL(s.URL)})})
	w.waitEnded(id)
	attempts, err := w.store.Execution(context.Background(), id)
	if err != nil || len(attempts) != 2 {
		t.Fatal(attempts, err)
	}
	if wait := attempts[1].RunAt.Sub(begun); wait < 119*time.Second || wait > 3*time.Minute {
		t.Errorf("the job is retried after %v", wait)
	}
}

func TestRedirectsAreLimitedAndKeepCredentialsAtTheirHost(t *testing.T) {
	w := newHTTPEnv(t)
	other := newTestServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "there") })
	var s *testServer
	s = newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		switch {
		case r.URL.Path == "/other":
			http.Redirect(w, r, other.URL+"/end", http.StatusTemporaryRedirect)
		case r.URL.Path == "/see":
			http.Redirect(w, r, strings.TrimPrefix(other.URL, "http:")+"/end", http.StatusSeeOther)
		case r.URL.Path == "/keep":
			http.Redirect(w, r, "/end", http.StatusPermanentRedirect)
		case r.URL.Path == "/same":
			http.Redirect(w, r, "/end", http.StatusFound)
		case r.URL.Path == "/end":
			fmt.Fprint(w, "here")
		case r.URL.Path == "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case r.URL.Path == "/user":
			http.Redirect(w, r, strings.Replace(s.URL, "//", "//ada:pw@", 1)+"/end", http.StatusFound)
		case r.URL.Path == "/inside":
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
		case r.URL.Path == "/decimal":
			http.Redirect(w, r, "http://2852039166/latest/meta-data/", http.StatusFound)
		default:
			fmt.Sscanf(r.URL.Path, "/%d", &n)
			http.Redirect(w, r, fmt.Sprintf("/%d", n+1), http.StatusFound)
		}
	})
	secrets := map[string]string{"Authorization": "Bearer x", "Cookie": "a=b", "X-Api-Key": "y", "Accept": "text/plain"}

	job := w.runHTTP(map[string]any{"url": s.URL + "/same", "headers": secrets})
	if r := s.last(t); job.Run.Outcome != rota.OutcomeCompleted || r.Header.Get("X-Api-Key") != "y" || r.Header.Get("Authorization") == "" || r.Header.Get("Referer") != "" {
		t.Errorf("%+v %v", job.Run, r.Header)
	}
	job = w.runHTTP(map[string]any{"method": "POST", "url": s.URL + "/keep", "body": "text"})
	if r := s.last(t); job.Run.Outcome != rota.OutcomeCompleted || r.URL.Path != "/end" || r.Method != "POST" || r.body != "text" {
		t.Errorf("%+v %+v", job.Run, r)
	}
	job = w.waitEnded(w.enqueue(rota.NewJob{Type: "http", Params: rota.EncodeSpec(map[string]any{"method": "POST", "url": s.URL + "/other", "body": "text"})}))
	if job.Run.ErrorCode != "http_redirects" || job.Sequel != rota.SequelDead || other.count() != 0 ||
		!strings.Contains(job.Run.Error, "a redirect to another host, "+strings.TrimPrefix(other.URL, "http://")+", which does not receive the body") {
		t.Errorf("another host received the body %d times: %+v", other.count(), job.Run)
	}
	w.runHTTP(map[string]any{"url": s.URL + "/see", "headers": map[string]string{"Host": "inside.example"}})
	if r := other.last(t); r.Host != strings.TrimPrefix(other.URL, "http://") {
		t.Errorf("another host received the Host header %s", r.Host)
	}
	w.runHTTP(map[string]any{"method": "POST", "url": s.URL + "/see", "body": "text"})
	if r := other.last(t); r.Method != "GET" || r.body != "" {
		t.Errorf("%+v", r)
	}
	job = w.runHTTP(map[string]any{"method": "PUT", "url": s.URL + "/other?key=z", "headers": secrets})
	r := other.last(t)
	if job.Run.Outcome != rota.OutcomeCompleted || r.Method != "PUT" || result[Answer](w, job).Body != "there" {
		t.Errorf("%+v %+v", job.Run, r)
	}
	for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "Referer"} {
		if r.Header.Get(name) != "" {
			t.Errorf("the other host received %s: %v", name, r.Header)
		}
	}
	if r.Header.Get("Accept") != "text/plain" || r.Header.Get("Idempotency-Key") == "" {
		t.Errorf("%v", r.Header)
	}

	for path, want := range map[string]struct{ code, text string }{
		"/0":       {"http_redirects", "more than 5 redirects"},
		"/file":    {"guard", "neither http nor https"},
		"/user":    {"guard", "with a user or password"},
		"/inside":  {"guard", "169.254.169.254 is a cloud metadata address"},
		"/decimal": {"guard", "is an IP address in an unsupported form"},
	} {
		before := s.count()
		job := w.waitEnded(w.enqueue(rota.NewJob{Type: "http", Params: rota.EncodeSpec(HTTP{URL: payload.URL(s.URL + path)})}))
		if job.Run.ErrorCode != want.code || !strings.Contains(job.Run.Error, want.text) || job.Sequel != rota.SequelDead {
			t.Errorf("%s: %q %s %s", path, job.Run.ErrorCode, job.Run.Error, job.Sequel)
		}
		if n := s.count() - before; path == "/0" && n != 6 {
			t.Errorf("the server received %d requests", n)
		}
	}
}

// A redirect to another host may redirect back to the first one.
func TestRedirectBackToFirstHostSendsNoCredentials(t *testing.T) {
	w := newHTTPEnv(t)
	var first *testServer
	other := newTestServer(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, first.URL+"/back", http.StatusFound) })
	first = newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/out" {
			http.Redirect(w, r, other.URL, http.StatusFound)
		}
	})
	w.runHTTP(map[string]any{"url": first.URL + "/out", "headers": map[string]string{"X-Api-Key": "y"}})
	if r := first.last(t); r.URL.Path != "/back" || r.Header.Get("X-Api-Key") != "" {
		t.Errorf("%s %v", r.URL, r.Header)
	}
}

func TestHTTPJobCannotReachInternalAddresses(t *testing.T) {
	s := newTestServer(t, status(200))
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	dns := &resolver{records: dnsRecords{"inside.example.com": {{"127.0.0.1"}}, "xn--bcher-kva.example": {{"10.0.0.1"}}}}
	w := newHTTPEnv(t, func(c *Config) { c.Guard = &Guard{Resolver: dns} })
	for _, host := range []string{
		"127.0.0.1", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "0.0.0.0", "[::]",
		"2130706433", "0x7f000001", "0177.0.0.1", "127.1", "169.254.169.254", "[fd00::1]", "[fd00:ec2::254]", "inside.example.com", "INSIDE.example.com",
		"１２７.0.0.1", "bücher.example", "[fe80::1%25eth0]", "127.0.0.1.",
	} {
		job := w.waitEnded(w.enqueue(rota.NewJob{Type: "http", Params: rota.EncodeSpec(map[string]string{"url": "http://" + host + ":" + port + "/"})}))
		if job.Run.ErrorCode != "guard" || job.Sequel != rota.SequelDead || !strings.Contains(job.Run.Error, "out of bounds") {
			t.Errorf("%s: %q %s %s", host, job.Run.ErrorCode, job.Run.Error, job.Sequel)
		}
	}
	if s.count() != 0 {
		t.Errorf("the internal server received %d requests", s.count())
	}
}

// TestLargeAnswersAreTruncated: the result is valid and small enough for the store,
// whatever the server sends.
func TestLargeAnswersAreTruncated(t *testing.T) {
	w := newHTTPEnv(t)
	var sent atomic.Int64
	s := newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		w.Header().Set("ETag", strings.Repeat("é", 4000))
		var n, times int64
		fmt.Sscan(r.URL.Query().Get("times"), &times)
		q := r.URL.Query()
		chunk := []byte(q.Get("chunk") + strings.Repeat(q.Get("fill"), int(times)) + q.Get("end"))
		fmt.Sscan(r.URL.Query().Get("n"), &n)
		for range n {
			m, err := w.Write(chunk)
			sent.Add(int64(m))
			if err != nil {
				return
			}
		}
	})
	for name, test := range map[string]struct {
		query     string
		truncated bool
		lengthMin int
	}{
		"short":                        {"n=10&chunk=x", false, 10},
		"text":                         {"n=10000&chunk=0123456789", true, 50_000},
		"characters that JSON escapes": {"n=30000&chunk=%3C%01%22", true, 5_000},
		"bytes that are not UTF-8":     {"n=30000&chunk=%ff%fe%00", true, 10_000},
		"long characters":              {"n=30000&chunk=%F0%9F%98%80", true, 50_000},
		"long JSON":                    {"n=1&type=application/json&chunk=[&fill=12345,&times=20000&end=1]", true, 50_000},
		"deep JSON":                    {"n=1&type=application/json&chunk=[&fill=[&times=499&end=" + strings.Repeat("]", 500), false, 1_000},
		"invalid JSON":                 {"n=1&type=application/json&chunk={", false, 1},
		"JSON with a key twice":        {"n=1&type=application/json&chunk=" + url.QueryEscape(`{"a":1,"a":2}`), false, 13},
		"JSON with half a character":   {"n=1&type=application/json&chunk=" + url.QueryEscape(`{"a":"\ud800"}`), false, 14},
		"JSON with a large number":     {"n=1&type=application/json&chunk=" + url.QueryEscape(`{"a":1e999}`), false, 11},
		"endless":                      {"n=1000000000&chunk=" + strings.Repeat("y", 4096), true, 50_000},
	} {
		sent.Store(0)
		job := w.runHTTP(map[string]any{"url": s.URL + "?" + test.query})
		if job.Run.Outcome != rota.OutcomeCompleted || len(job.Run.Result) > rota.ResultMax {
			t.Errorf("%s: %s %s, %d bytes", name, job.Run.Outcome, job.Run.Error, len(job.Run.Result))
			continue
		}
		got := result[Answer](w, job)
		if body, is := got.Body.(string); !is || got.Truncated != test.truncated || len(body) < test.lengthMin || strings.ContainsRune(body, 0) {
			t.Errorf("%s: truncated %v, %d bytes", name, got.Truncated, len(body))
		}
		if name == "endless" && sent.Load() > 64<<20 {
			t.Errorf("the job read %d bytes", sent.Load())
		}
	}
}

func TestCancelledRunEndsItsRequest(t *testing.T) {
	w := newHTTPEnv(t)
	begun, cancelled := make(chan struct{}, 2), make(chan struct{}, 2)
	s := newTestServer(t, func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
		cancelled <- struct{}{}
	})
	job := w.waitEnded(w.enqueue(rota.NewJob{
		Type: "http", Params: rota.EncodeSpec(HTTP{URL: payload.URL(s.URL)}), Timeout: new(50 * time.Millisecond), MaxRetries: new(0),
	}))
	if job.Run.Outcome != rota.OutcomeCancelled || job.Run.ErrorCode != rota.CodeTimeout {
		t.Errorf("%s %s %s", job.Run.Outcome, job.Run.ErrorCode, job.Run.Error)
	}
	<-cancelled
	<-begun

	id := w.enqueue(rota.NewJob{Type: "http", Params: rota.EncodeSpec(HTTP{URL: payload.URL(s.URL)})})
	<-begun
	if _, err := rota.Do[*rota.CancelledJob](context.Background(), w.store, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: id}); err != nil {
		t.Fatal(err)
	}
	if job := w.waitEnded(id); job.Run.Outcome != rota.OutcomeCancelled || job.Run.ErrorCode != rota.CodeCancelled {
		t.Errorf("%s %s %s", job.Run.Outcome, job.Run.ErrorCode, job.Run.Error)
	}
	<-cancelled
}

// TestNetworkFaultsAreRetried also checks that errors and logs do not contain the path
// and query of the URL, which may contain a key.
func TestNetworkFaultsAreRetried(t *testing.T) {
	w := newHTTPEnv(t, func(c *Config) { c.Guard.Resolver = &resolver{} })
	dead := newTestServer(t, status(200))
	dead.Close()
	incomplete := newTestServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
	})
	hung := newTestServer(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	hung.Config.ErrorLog = nil
	for _, url := range []string{dead.URL, incomplete.URL, hung.URL, "http://missing.example", strings.Replace(incomplete.URL, "http:", "https:", 1)} {
		id := w.enqueue(rota.NewJob{Type: "http", Params: rota.EncodeSpec(HTTP{Method: "POST", URL: payload.URL(url + "/?key=hunter2")}), MaxRetries: new(1)})
		attempts := w.waitAttempts(id)
		last := attempts[len(attempts)-1].Run
		if len(attempts) != 2 || last.ErrorCode != "network" || strings.Contains(last.Error, "hunter2") || strings.Contains(last.Error, "10.0.0.53") {
			t.Errorf("%s: %d attempts, %q %s", url, len(attempts), last.ErrorCode, last.Error)
		}
	}
	if strings.Contains(w.log.String(), "hunter2") {
		t.Error(w.log)
	}
}

func TestExecSpecDescribesParams(t *testing.T) {
	check, err := payload.Compile(ExecSpec().Schema)
	if err != nil {
		t.Fatal(err)
	}
	for params, want := range map[string]string{
		`{}`: "params.command: is missing", `{"command": ""}`: "params.command: is empty", `{"command": "a", "args": "b"}`: "params.args: ",
		`{"command": "a", "env": {"A": 1}}`: "params.env.A: ", `{"command": "a", "shell": true}`: "params.shell: ",
	} {
		if err := check.Check(json.RawMessage(params)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", params, err)
		}
	}
}
