package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/secret"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

const (
	token       = "a-token-that-nobody-guesses"
	testTimeout = 20 * time.Second
)

// server is the API with a real store; withEngine adds an engine.
type server struct {
	testing.TB
	store   rota.Store
	feed    *eventring.Ring
	http    *httptest.Server
	handler http.Handler
	logs    *logDir
	log     *bytes.Buffer
	vault   *secret.Vault
}

// newServer serves a new store, and checks its invariants at the end of the test.
func newServer(t testing.TB, change ...func(*httpapi.Config)) *server {
	t.Helper()
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // runs after the engine has stopped
		for v, err := range file.Verify(context.Background()) {
			t.Errorf("the store violates an invariant: %+v %v", v, err)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &server{TB: t, store: wrap.Coalesce(file), logs: &logDir{dir: t.TempDir()}, log: &bytes.Buffer{}}
	s.feed = eventring.New(s.store, 64)
	config := httpapi.Config{
		Store: s.store, Events: s.feed, Token: token, Logs: logReader{s.logs}, ScratchDir: t.TempDir(), Version: "1.2.3",
		Backup:    file.Backup,
		Logger:    slog.New(slog.NewTextHandler(s.log, nil)),
		Addresses: func() map[string]string { return map[string]string{"http": "http://127.0.0.1:7420"} },
	}
	ring, err := secret.Load(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	s.vault = &secret.Vault{Keyring: ring, Store: s.store}
	config.Vault = s.vault
	for _, f := range change {
		f(&config)
	}
	handler, err := httpapi.New(config)
	if err != nil {
		t.Fatal(err)
	}
	s.handler, s.http = handler, httptest.NewServer(handler)
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// withEngine runs an engine next to the API, with the built-in types and the type chatty, which copies
// lines to its log.
func withEngine(t *testing.T) func(*httpapi.Config) {
	return func(c *httpapi.Config) {
		reg := engine.NewRegistry()
		engine.Builtins(reg)
		reg.Func("chatty", rota.TypeSpec{}, func(ctx context.Context, job *rota.Job) error {
			for line := range lines {
				if line == "" {
					break
				}
				_, _ = io.WriteString(engine.Output(ctx), line+"\n")
			}
			return engine.Result(ctx, map[string]string{"said": "all"})
		})
		c.Engine = engine.New(rota.New(c.Store), reg, engine.Config{
			Workers: 4, Events: c.Events, Logs: c.Logs.(logReader).logDir, ShutdownGrace: time.Second,
		})
		ctx, stop := context.WithCancel(context.Background())
		over := make(chan error, 1)
		go func() { over <- c.Engine.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			if err := <-over; err != nil {
				t.Error(err)
			}
		})
		select {
		case <-c.Engine.Ready():
		case <-time.After(testTimeout):
			t.Fatal("the engine did not become ready")
		}
	}
}

// lines are the output of the chatty job; an empty line ends it.
var lines = make(chan string)

// logDir stores run logs in files.
type logDir struct{ dir string }

func (d *logDir) file(job *rota.Job) string { return filepath.Join(d.dir, job.ID.String()+".log") }

func (d *logDir) Open(job *rota.Job) (engine.LogFile, error) {
	f, err := os.Create(d.file(job))
	return logFile{f}, err
}

type logFile struct{ *os.File }

func (f logFile) Path() string { return filepath.Base(f.Name()) }

// answer is the response to a request.
type answer struct {
	testing.TB
	status int
	header http.Header
	text   string
}

// send sends a request with the token. The body is JSON text, or a value that is encoded.
func (s *server) send(method, path string, body any, headers ...string) answer {
	s.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			s.Fatal(err)
		}
		reader = bytes.NewReader(text)
	}
	if !strings.HasPrefix(path, "/") {
		path = "/api/v1/" + path
	}
	r, err := http.NewRequest(method, s.http.URL+path, reader)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if reader != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	got, err := s.http.Client().Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer{TB: s.TB, status: got.StatusCode, header: got.Header, text: string(text)}
}

func (s *server) get(path string) answer {
	s.Helper()
	return s.send("GET", path, nil)
}

func (s *server) post(path string, body any, headers ...string) answer {
	s.Helper()
	return s.send("POST", path, body, headers...)
}

// is checks the status.
func (a answer) is(status int) answer {
	a.Helper()
	if a.status != status {
		a.Fatalf("the status is %d, not %d: %s", a.status, status, a.text)
	}
	return a
}

// read decodes the body.
func read[T any](a answer) (v T) {
	a.Helper()
	if err := json.Unmarshal([]byte(a.text), &v); err != nil {
		a.Fatalf("%v: %s", err, a.text)
	}
	return v
}

func (a answer) job() api.Job {
	a.Helper()
	return read[api.Job](a)
}

// problem checks the status and code of an error response.
func (a answer) problem(status int, code string) api.Problem {
	a.Helper()
	a.is(status)
	p := read[api.Problem](a)
	if a.header.Get("Content-Type") != "application/problem+json" || p.Code != code || p.Status != status || p.Title == "" || p.Detail == "" {
		a.Fatalf("the response is not a problem with the code %s: %s %s", code, a.header.Get("Content-Type"), a.text)
	}
	return p
}

// field checks the status of an error response and the first field that it names.
func (a answer) field(status int, code, field string) api.Problem {
	a.Helper()
	p := a.problem(status, code)
	if len(p.Errors) == 0 || p.Errors[0].Field != field {
		a.Fatalf("the response does not name the field %s: %s", field, a.text)
	}
	return p
}

// declare declares types without a schema.
func (s *server) declare(names ...string) {
	s.Helper()
	for _, name := range names {
		s.send("PUT", "types/"+name, `{}`).is(201)
	}
}

// declareMail declares a type with a schema.
func (s *server) declareMail() {
	s.Helper()
	s.send("PUT", "types/mail", `{"schema": {"type": "object", "properties": {"to": {"type": "string", "minLength": 3}, "n": {"type": "integer"}},
		"required": ["to"], "additionalProperties": false}}`).is(201)
}

// dump returns everything that a request could change.
func (s *server) dump() string {
	s.Helper()
	text := ""
	for _, path := range []string{"jobs", "templates", "schedules", "types", "groups", "limits", "audit", "reservations", "users", "roles", "grants", "tokens"} {
		text += s.get(path).is(200).text
	}
	return text
}

// drive claims the first ready job and finishes it, like a worker.
func (s *server) drive(types []string, item rota.FinishItem) *rota.Job {
	s.Helper()
	s.apply(&rota.Ready{Meta: rota.NewMeta("")})
	claimed := s.apply(&rota.Claim{
		Meta: rota.NewMeta(""), Worker: "w", Types: types, Limit: 1, Lease: time.Minute, Seed: rota.NewToken(),
	}).(*rota.Claimed)
	if len(claimed.Jobs) == 0 {
		s.Fatal("nothing could be claimed")
	}
	if item.Outcome != "" {
		item.LeaseRef = claimed.Jobs[0].Lease()
		s.apply(&rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}})
	}
	return claimed.Jobs[0]
}

func (s *server) apply(command rota.Command) rota.Reply {
	s.Helper()
	results, err := s.store.Apply(s.Context(), rota.Batch{Commands: []rota.Command{command}})
	if err != nil {
		s.Fatal(err)
	}
	if results[0].Err != nil {
		s.Fatal(results[0].Err)
	}
	return results[0].Reply
}

// measureLag measures how late timers of this process fire. The returned function ends the measurement
// and returns the sum.
func measureLag() (lost func() time.Duration) {
	const every = 10 * time.Millisecond
	overshoot := func(last time.Time) time.Duration { // small delays of timers are normal
		if over := time.Since(last) - every; over > 5*time.Millisecond {
			return over
		}
		return 0
	}
	end, sum := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		for last := time.Now(); ; {
			select {
			case <-time.After(every):
			case <-end:
				sum <- late + overshoot(last)
				return
			}
			late += overshoot(last)
			last = time.Now()
		}
	}()
	return func() time.Duration {
		close(end)
		return <-sum
	}
}
