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

// openStream starts a request with a streaming response.
func (s *server) openStream(path string, headers ...string) (*http.Response, context.CancelFunc) {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), testTimeout)
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

// event is one block of an event stream.
type event struct{ id, kind, data string }

// eventReader reads an event stream.
type eventReader struct {
	testing.TB
	in *bufio.Reader
}

func (s *server) follow(query string, headers ...string) (*eventReader, context.CancelFunc) {
	s.Helper()
	got, stop := s.openStream("events"+query, headers...)
	if got.StatusCode != 200 || got.Header.Get("Content-Type") != "text/event-stream" {
		s.Fatalf("%d %v", got.StatusCode, got.Header)
	}
	e := &eventReader{s.TB, bufio.NewReader(got.Body)}
	return e, stop
}

// next returns the next event with data; it skips blocks that only have a position.
func (e *eventReader) next() (got event) {
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

// awaitPosition waits for the first position of the stream, so that no later event is missed.
func (e *eventReader) awaitPosition() string {
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

func TestEventStreamResumesAfterLastEventID(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a"}`) // before the stream starts
	stream, stop := s.follow("")
	place := stream.awaitPosition()
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

func TestEventStreamResetsWhenEventsAreLost(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	stream, _ := s.follow("")
	place := stream.awaitPosition()
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

func TestEventStreamFilters(t *testing.T) {
	s := newServer(t)
	s.declare("a", "b")
	kinds, _ := s.follow("?kinds=job.started,job.completed")
	types, _ := s.follow("?type=b&kinds=job.*")
	kinds.awaitPosition()
	types.awaitPosition()
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

// slowReader is a client that accepts data only when the pipe is read.
type slowReader struct {
	header http.Header
	*io.PipeWriter
}

func (s *slowReader) Header() http.Header { return s.header }
func (s *slowReader) WriteHeader(int)     {}
func (s *slowReader) Flush()              {}

// TestSlowEventStreamDoesNotBlockWriters follows events without reading while the ring overflows.
// Writers do not wait; the stream then sends a reset.
func TestSlowEventStreamDoesNotBlockWriters(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r := httptest.NewRequestWithContext(ctx, "GET", "/api/v1/events", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	in, out := io.Pipe()
	go s.handler.ServeHTTP(&slowReader{http.Header{}, out}, r)
	stream := &eventReader{t, bufio.NewReaderSize(in, 16)}
	stream.awaitPosition()
	for range 150 { // the ring holds 64 events
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
	t.Error("no reset after lost events")
}
