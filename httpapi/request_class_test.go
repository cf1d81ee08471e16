package httpapi_test

import (
	"context"
	"iter"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/httpapi"
)

// newSecondServer returns another server with the same store.
func newSecondServer(s *server, change ...func(*httpapi.Config)) *server {
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

// blockingVerify is a store whose first Verify blocks until release.
type blockingVerify struct {
	rota.Store
	called           atomic.Bool
	started, release chan struct{}
}

func (s *blockingVerify) Verify(ctx context.Context) iter.Seq2[rota.Violation, error] {
	if !s.called.Swap(true) {
		close(s.started)
		<-s.release
	}
	return s.Store.Verify(ctx)
}

// TestConcurrentVerifyIsBusy checks that only one check runs at a time: each reads every row, and
// several would block other readers.
func TestConcurrentVerifyIsBusy(t *testing.T) {
	store := &blockingVerify{started: make(chan struct{}), release: make(chan struct{})}
	s := newServer(t, func(c *httpapi.Config) { store.Store, c.Store = c.Store, store })
	first := make(chan answer)
	go func() { first <- s.get("verify") }()
	<-store.started
	s.get("verify").problem(409, "busy")
	s.get("stats").is(200)
	close(store.release)
	(<-first).is(200)
	s.get("verify").is(200)
}

// TestRequestClassesHaveSeparateLimits checks that streams, direct runs, a check and a backup only
// block requests of their own class.
func TestRequestClassesHaveSeparateLimits(t *testing.T) {
	s := newServer(t, withEngine(t), func(c *httpapi.Config) { c.StreamsMax, c.DirectMax = 1, 1 })
	stream, _ := s.follow("?kinds=job.started")
	stream.awaitPosition()
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

// countingReads reports each read of a job.
type countingReads struct {
	rota.Store
	reads chan rota.ID
}

func (s *countingReads) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	s.reads <- id
	return s.Store.Job(ctx, id)
}

// TestReplayedDirectRunReadsJobOnlyOnItsEvents repeats a direct run while it runs and many other
// events occur.
func TestReplayedDirectRunReadsJobOnlyOnItsEvents(t *testing.T) {
	var worker *engine.Engine
	s := newServer(t, withEngine(t), func(c *httpapi.Config) { worker = c.Engine })
	store := &countingReads{Store: s.store, reads: make(chan rota.ID, 1000)}
	second := newSecondServer(s, func(c *httpapi.Config) { c.Store, c.Engine = store, worker })
	s.declare("other")
	stream, _ := s.follow("?kinds=job.started")
	stream.awaitPosition()
	send := func(answers chan<- answer, to *server) {
		answers <- to.post("direct", `{"type": "chatty"}`, "Idempotency-Key", "k")
	}
	first, again := make(chan answer, 1), make(chan answer, 1)
	go send(first, s)
	stream.next()
	go send(again, second)
	<-store.reads // existence
	<-store.reads // state
	began := time.Now()
	for range 30 {
		s.enqueue(`{"type": "other"}`)
	}
	lines <- ""
	one, two := (<-first).is(200), (<-again).is(200)
	if one.text != two.text {
		t.Errorf("%s\n%s", one.text, two.text)
	}
	const checkInterval = 100 * time.Millisecond // the shortest pause between two periodic reads
	periodic := int(time.Since(began) / checkInterval)
	if n := len(store.reads); n > periodic+2 {
		t.Errorf("the job was read %d more times, at most %d of them periodically", n, periodic)
	}
}
