package httpapi_test

import (
	"context"
	"iter"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/httpapi"
)

// newSecond serves the store of another server.
func newSecond(s *server, change ...func(*httpapi.Config)) *server {
	s.Helper()
	config := httpapi.Config{Store: s.store, Events: s.feed, Token: token}
	for _, f := range change {
		f(&config)
	}
	handler, err := httpapi.New(config)
	if err != nil {
		s.Fatal(err)
	}
	other := *s
	other.handler, other.http = handler, httptest.NewServer(handler)
	s.Cleanup(other.http.Close)
	return &other
}

// thorough is a store whose first check takes until it is told to end.
type thorough struct {
	rota.Store
	asked      atomic.Bool
	begun, end chan struct{}
}

func (s *thorough) Verify(ctx context.Context) iter.Seq2[rota.Violation, error] {
	if !s.asked.Swap(true) {
		close(s.begun)
		<-s.end
	}
	return s.Store.Verify(ctx)
}

// TestChecksOfTheStoreComeOneAtATime: each reads every row, and several would
// leave no reader to others.
func TestChecksOfTheStoreComeOneAtATime(t *testing.T) {
	store := &thorough{begun: make(chan struct{}), end: make(chan struct{})}
	s := newServer(t, func(c *httpapi.Config) { store.Store, c.Store = c.Store, store })
	first := make(chan answer)
	go func() { first <- s.get("verify") }()
	<-store.begun
	s.get("verify").problem(409, "busy")
	s.get("stats").is(200)
	close(store.end)
	(<-first).is(200)
	s.get("verify").is(200)
}

// TestWhatTakesLongIsCountedByItsKind: followers, direct runs, a check and a
// backup keep only their own kind out.
func TestWhatTakesLongIsCountedByItsKind(t *testing.T) {
	s := newServer(t, withEngine(t), func(c *httpapi.Config) { c.StreamsMax, c.DirectMax = 1, 1 })
	stream, _ := s.follow("?kinds=job.started")
	stream.begin()
	s.get("events").problem(503, "unavailable")
	first := make(chan answer)
	go func() { first <- s.post("direct", `{"type": "chatty"}`) }()
	stream.next() // it runs
	s.post("direct", `{"type": "noop"}`).problem(503, "unavailable")
	s.get("verify").is(200)
	s.get("backup").is(200)
	lines <- ""
	(<-first).is(200)
	s.post("direct", `{"type": "noop"}`).is(200)
}

// counting is a store that tells of each read of a job.
type counting struct {
	rota.Store
	reads chan rota.ID
}

func (s *counting) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	s.reads <- id
	return s.Store.Job(ctx, id)
}

// TestWhoWaitsForARunReadsItOnlyWhenSomethingHappensToIt sends a direct run again
// while it runs, and has much happen to others meanwhile.
func TestWhoWaitsForARunReadsItOnlyWhenSomethingHappensToIt(t *testing.T) {
	var worker *engine.Engine
	s := newServer(t, withEngine(t), func(c *httpapi.Config) { worker = c.Engine })
	store := &counting{Store: s.store, reads: make(chan rota.ID, 1000)}
	second := newSecond(s, func(c *httpapi.Config) { c.Store, c.Engine = store, worker })
	s.declare("other")
	stream, _ := s.follow("?kinds=job.started")
	stream.begin()
	send := func(answers chan<- answer, to *server) {
		answers <- to.post("direct", `{"type": "chatty"}`, "Idempotency-Key", "k")
	}
	first, again := make(chan answer, 1), make(chan answer, 1)
	go send(first, s)
	stream.next()
	go send(again, second)
	<-store.reads // whether it is there
	<-store.reads // and how it stands
	for range 30 {
		s.enqueue(`{"type": "other"}`)
	}
	lines <- ""
	one, two := (<-first).is(200), (<-again).is(200)
	if one.text != two.text {
		t.Errorf("%s\n%s", one.text, two.text)
	}
	if n := len(store.reads); n > 2 {
		t.Errorf("it was read %d more times", n)
	}
}
