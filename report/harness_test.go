package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// receiver is a server that parses Sentry envelopes by their specification and fails the
// test for an invalid one.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	items  []item
	auths  []string
	answer func(w http.ResponseWriter) // nil: 200
}

// item is one item of an envelope.
type item struct {
	kind string
	raw  string
	body map[string]any
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t}
	r.Server = httptest.NewServer(http.HandlerFunc(r.receive))
	t.Cleanup(r.Close)
	return r
}

// dsn returns the DSN of project 7.
func (r *receiver) dsn() string {
	return strings.Replace(r.URL, "://", "://0123456789abcdef@", 1) + "/7"
}

func (r *receiver) receive(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil || request.Method != http.MethodPost || request.URL.Path != "/api/7/envelope/" {
		r.t.Errorf("%s %s: %v", request.Method, request.URL.Path, err)
	}
	items, err := parseEnvelope(body)
	if err != nil {
		r.t.Errorf("%v in the envelope %s", err, body)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items = append(r.items, items...)
	r.auths = append(r.auths, request.Header.Get("X-Sentry-Auth"))
	if r.answer != nil {
		r.answer(w)
	}
}

// parseEnvelope parses a header line, and for each item a header line and its body.
func parseEnvelope(body []byte) (items []item, err error) {
	head, rest, _ := bytes.Cut(body, []byte("\n"))
	var header struct {
		SentAt time.Time `json:"sent_at"`
	}
	if err := json.Unmarshal(head, &header); err != nil || header.SentAt.IsZero() {
		return nil, fmt.Errorf("header %s: %w", head, err)
	}
	for len(rest) > 0 {
		head, rest, _ = bytes.Cut(rest, []byte("\n"))
		var itemHeader struct {
			Type   string
			Length int
		}
		if err := json.Unmarshal(head, &itemHeader); err != nil || itemHeader.Length > len(rest) {
			return nil, fmt.Errorf("item header %s before %d bytes: %w", head, len(rest), err)
		}
		payload := rest[:itemHeader.Length]
		rest = bytes.TrimPrefix(rest[itemHeader.Length:], []byte("\n"))
		one := item{kind: itemHeader.Type, raw: string(payload)}
		if err := json.Unmarshal(payload, &one.body); err != nil {
			return nil, fmt.Errorf("payload %s: %w", payload, err)
		}
		items = append(items, one)
	}
	return items, nil
}

// all returns the received items of a kind.
func (r *receiver) all(kind string) (found []item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.items {
		if one.kind == kind {
			found = append(found, one)
		}
	}
	return found
}

// get returns a nested field of an item, such as exception.0.value.
func (i item) get(path string) any {
	var at any = i.body
	for step := range strings.SplitSeq(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			n := int(step[0] - '0')
			if n >= len(v) {
				return nil
			}
			at = v[n]
		default:
			return nil
		}
	}
	return at
}

func (i item) check(t *testing.T, fields map[string]any) {
	t.Helper()
	for path, want := range fields {
		if got := i.get(path); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is %#v, want %#v", path, got, want)
		}
	}
}

// reporter reports to a receiver until the test ends.
func reporter(t *testing.T, r *receiver, config Config) *Sentry {
	t.Helper()
	s, err := NewSentry(r.dsn(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(deadlineContext(t)) })
	return s
}

// flush waits until all reports have arrived.
func flush(t *testing.T, s *Sentry) {
	t.Helper()
	if !s.client.FlushWithContext(deadlineContext(t)) {
		t.Fatal("the reports were not sent in time")
	}
}

func deadlineContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// failed returns a job whose second attempt of three has failed.
func failed(err, code string) *rota.Job {
	job := &rota.Job{
		ID: rota.NewID(), ExecutionID: rota.NewID(), Type: "mail", Name: "newsletter", Template: "letters", Schedule: "daily",
		Params:  json.RawMessage(`{"to": "a@b.test", "smtp": {"apiKey": "hunter2"}}`),
		Attempt: 2, Policy: rota.Policy{MaxAttempts: 3, Timeout: time.Minute, Backoff: time.Minute},
		ScopeKind: "tenant", ScopeID: "7", PlanTime: noon.Add(-time.Minute), CreatedAt: noon.Add(-time.Minute),
		StartedAt: noon.Add(-1500 * time.Millisecond), FinishedAt: noon,
		Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	job.Run = &rota.Run{
		ID: rota.NewID(), Runner: "worker-3", StartedAt: job.StartedAt, FinishedAt: noon, Outcome: rota.OutcomeFailed,
		Error: err, ErrorCode: code,
	}
	return job
}

// panicked returns the error text of a run whose handler panics in this file.
func panicked(value any) (text string) {
	defer func() { text = fmt.Sprintf("panic: %v\n\n%s", recover(), debug.Stack()) }()
	new(shop).order(value)
	return ""
}

type shop struct{}

//go:noinline
func (s *shop) order(value any) {
	each(func() {
		if err, is := value.(error); is {
			panic(err)
		}
		_ = []int{}[len(fmt.Sprint(value))]
	})
}

//go:noinline
func each(f func()) { f() }
