package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// open begins a request whose answer goes on.
func (s *server) open(path string, headers ...string) (*http.Response, context.CancelFunc) {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), patience)
	r, err := http.NewRequestWithContext(ctx, "GET", s.http.URL+"/api/v1/"+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	got, err := s.http.Client().Do(r)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { stop(); got.Body.Close() })
	return got, stop
}

// event is what one block of a stream says.
type event struct{ id, kind, data string }

// events reads a stream.
type events struct {
	testing.TB
	in *bufio.Reader
}

func (s *server) follow(query string, headers ...string) (*events, context.CancelFunc) {
	s.Helper()
	got, stop := s.open("events"+query, headers...)
	if got.StatusCode != 200 || got.Header.Get("Content-Type") != "text/event-stream" {
		s.Fatalf("%d %v", got.StatusCode, got.Header)
	}
	e := &events{s.TB, bufio.NewReader(got.Body)}
	return e, stop
}

// next is the next event that has data; what only tells the place is passed
// over.
func (e *events) next() (got event) {
	e.Helper()
	for {
		line, err := e.in.ReadString('\n')
		if err != nil {
			e.Fatal(err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			got.id = value
		case "event":
			got.kind = value
		case "data":
			got.data = value
		case "":
			if got.data != "" {
				return got
			}
		}
	}
}

// begin waits until the stream has told its place, so that nothing is missed.
func (e *events) begin() string {
	e.Helper()
	for {
		line, err := e.in.ReadString('\n')
		if err != nil {
			e.Fatal(err)
		}
		if id, found := strings.CutPrefix(line, "id: "); found {
			return strings.TrimSpace(id)
		}
	}
}

func TestEventsAreFollowedAndResumed(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a"}`) // before anybody follows
	stream, stop := s.follow("")
	place := stream.begin()
	id := s.enqueue(`{"type": "a"}`)
	first := stream.next()
	if first.kind != "job.enqueued" || !strings.Contains(first.data, `"job_id":"`+id+`"`) || !strings.Contains(first.data, `"type":"a"`) || strings.Contains(first.data, "null") {
		t.Errorf("%+v", first)
	}
	stop()
	missed := s.enqueue(`{"type": "a"}`)
	for _, headers := range [][]string{{"Last-Event-ID", first.id}, nil} {
		query := ""
		if headers == nil {
			query = "?last_event_id=" + first.id
		}
		again, _ := s.follow(query, headers...)
		if got := again.next(); got.kind != "job.enqueued" || !strings.Contains(got.data, missed) {
			t.Errorf("%+v", got)
		}
	}
	all, _ := s.follow("", "Last-Event-ID", place)
	if got := all.next(); got != first {
		t.Errorf("%+v", got)
	}
}

func TestEventsThatAreGoneAreSaidToBe(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	stream, _ := s.follow("")
	place := stream.begin()
	incarnation, _, _ := strings.Cut(place, "-")
	for _, last := range []string{"another-1", incarnation + "-999999", incarnation + "-x", "nonsense", incarnation} {
		got, _ := s.follow("", "Last-Event-ID", last)
		if e := got.next(); e.kind != "reset" || !strings.HasPrefix(e.id, incarnation+"-") {
			t.Errorf("%s: %+v", last, e)
		}
	}
	var jobs []rota.NewJob
	for range 100 { // more than the ring holds
		jobs = append(jobs, rota.NewJob{Type: "a"})
	}
	s.apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs})
	late, _ := s.follow("", "Last-Event-ID", incarnation+"-1")
	reset := late.next()
	id := s.enqueue(`{"type": "a"}`)
	if e := late.next(); reset.kind != "reset" || e.kind != "job.enqueued" || !strings.Contains(e.data, id) {
		t.Errorf("%+v %+v", reset, e)
	}
}

func TestEventsAreFiltered(t *testing.T) {
	s := newServer(t)
	s.declare("a", "b")
	kinds, _ := s.follow("?kinds=job.started,job.completed")
	types, _ := s.follow("?type=b&kinds=job.*")
	kinds.begin()
	types.begin()
	s.enqueue(`{"type": "a"}`)
	s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeCompleted})
	s.enqueue(`{"type": "b"}`)
	if one, two := kinds.next(), kinds.next(); one.kind != "job.started" || two.kind != "job.completed" {
		t.Errorf("%v %v", one, two)
	}
	if one := types.next(); one.kind != "job.enqueued" || !strings.Contains(one.data, `"type":"b"`) {
		t.Errorf("%v", one)
	}
	for _, query := range []string{"kinds=", "kinds=job.finished", "kinds=job*", "kinds=*", "type=", "group=x", "state=queued", "execution=1"} {
		s.get("events?"+query).problem(400, "invalid")
	}
}

// stuck is a client that takes what it is sent only when it is read.
type stuck struct {
	header http.Header
	*io.PipeWriter
}

func (s *stuck) Header() http.Header { return s.header }
func (s *stuck) WriteHeader(int)     {}
func (s *stuck) Flush()              {}

// TestASlowFollowerHoldsNobodyUp follows without reading while more happens than
// is kept. Nobody waits for it; when it reads again it is told that some is gone.
func TestASlowFollowerHoldsNobodyUp(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r := httptest.NewRequestWithContext(ctx, "GET", "/api/v1/events", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	in, out := io.Pipe()
	go s.handler.ServeHTTP(&stuck{http.Header{}, out}, r)
	stream := &events{t, bufio.NewReaderSize(in, 16)}
	stream.begin()
	for range 150 { // the ring has room for 64
		s.enqueue(`{"type": "a"}`)
	}
	for range 66 {
		if stream.next().kind == "reset" {
			id := s.enqueue(`{"type": "a"}`)
			for !strings.Contains(stream.next().data, id) {
			}
			return
		}
	}
	t.Error("it is not told that some is gone")
}
