package node

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/postgres/pgtest"
	"github.com/rotajobs/rota/worker"
)

// startTwo starts two nodes on one store. Jobs of type only-a run at the first one, whose heartbeats
// are too far apart to tell a run anything.
func startTwo(t *testing.T, url string, handler func(context.Context, *rota.Job) error) (a, b *testNode) {
	t.Helper()
	config := Config{Store: url, Lease: rota.LeaseMax, SQL: "none"}
	first := config
	first.Data, first.Name = t.TempDir(), "a"
	first.Register = func(reg *engine.Registry) { reg.Func("only-a", rota.TypeSpec{}, handler) }
	a = start(t, first)
	config.Data, config.Name = t.TempDir(), "b"
	return a, start(t, config)
}

// sseEvent is one event of a stream.
type sseEvent struct {
	id, kind string
	rota.Event
	data string
}

// eventReader reads /events of a node.
type eventReader struct {
	t      *testing.T
	events chan sseEvent
	lastID string
	close  func()
}

// follow opens /events and waits for its first position.
func (l *testNode) follow(query, lastID string) *eventReader {
	l.t.Helper()
	return followEvents(l.t, l.Addresses()["http"], l.token, query, lastID)
}

func followEvents(t *testing.T, address, token, query, lastID string) *eventReader {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, "GET", "http://"+address+"/api/v1/events?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	r := &eventReader{t: t, events: make(chan sseEvent, 1_000), close: cancel}
	t.Cleanup(cancel)
	positioned := make(chan struct{})
	go r.read(bufio.NewScanner(response.Body), positioned)
	if lastID == "" {
		<-positioned
	}
	return r
}

func (r *eventReader) read(lines *bufio.Scanner, positioned chan struct{}) {
	var e sseEvent
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.kind = value
		case "data":
			e.data = value
			var decoded struct {
				Name, Detail string
				JobID        rota.ID `json:"job_id"`
			}
			_ = json.Unmarshal([]byte(value), &decoded)
			e.Name, e.Detail, e.JobID = decoded.Name, decoded.Detail, decoded.JobID
		case "":
			if e.id != "" && positioned != nil {
				close(positioned)
				positioned = nil
			}
			if e.kind != "" {
				r.events <- e
			}
			e = sseEvent{}
		}
	}
}

// next waits for an event.
func (r *eventReader) next() sseEvent {
	r.t.Helper()
	select {
	case e := <-r.events:
		r.lastID = e.id
		return e
	case <-time.After(waitMax):
		r.t.Fatal("no event arrives")
		return sseEvent{}
	}
}

// wantNext wants these events next, each as kind, name and detail.
func (r *eventReader) wantNext(want ...string) {
	r.t.Helper()
	var got []string
	for range want {
		e := r.next()
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.kind, e.Name, e.Detail)))
	}
	if !slices.Equal(got, want) {
		r.t.Fatalf("the events are\n%q, want\n%q", got, want)
	}
}

// must sends a request that has to succeed.
func (l *testNode) must(method, path, body string) string {
	l.t.Helper()
	response, text := l.request(method, "/api/v1"+path, body)
	if response.StatusCode >= 300 {
		l.t.Fatalf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	return text
}

func TestEventsOfOneNodeArriveAtTheOther(t *testing.T) {
	onSharedStores(t, testEventsOfOneNodeArriveAtTheOther)
}

func testEventsOfOneNodeArriveAtTheOther(t *testing.T, kind sharedKind) {
	url := kind.url(t)
	a, b := startTwo(t, url, func(context.Context, *rota.Job) error { return nil })
	stream := b.follow("kinds=job.*,limits.*,template.*,schedule.*", "")
	a.enqueue(`{"type": "only-a", "name": "one"}`)
	stream.wantNext("job.enqueued one", "job.started one", "job.completed one")
	later := a.enqueue(`{"type": "only-a", "name": "later", "delay": "1h"}`)
	a.must("PATCH", "/jobs/"+later.String(), `{"priority": 9}`)
	a.must("PUT", "/limits", `{"global": 5}`)
	a.must("POST", "/templates", `{"name": "report", "type": "only-a"}`)
	a.must("POST", "/schedules", `{"name": "nightly", "template": "report", "cron": "0 3 1 1 *"}`)
	a.must("POST", "/schedules/nightly/pause", "")
	stream.wantNext("job.enqueued later", "job.changed later priority", "limits.changed  global", "template.changed report created",
		"schedule.changed nightly created", "schedule.changed nightly state")

	// A process that only enqueues, and ends at once.
	client := kind.open(t, url)
	job := rota.NewJob{Type: "only-a", Name: "by-client", Delay: time.Hour}
	if _, err := rota.Do[*rota.Enqueued](t.Context(), client, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{job}}); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	stream.wantNext("job.enqueued by-client")

	// A reader that comes back continues where it stopped.
	stream.close()
	a.must("POST", "/schedules/nightly/resume", "")
	again := b.follow("kinds=job.*,schedule.*", stream.lastID)
	again.wantNext("schedule.changed nightly state")
	if n := scrapeOf(b, `rota_enqueued_total{type="only-a"}`); n != "" {
		t.Errorf("node b counts the jobs of node a: %s", n)
	}
}

// scrapeOf returns the line of a metric, empty if there is none.
func scrapeOf(l *testNode, metric string) string {
	_, text := l.request("GET", "/metrics", "")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, metric) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func TestLostListenerResetsEventStream(t *testing.T) {
	url := newSharedStore(t)
	a, b := startTwo(t, url, func(context.Context, *rota.Job) error { return nil })
	stream := b.follow("kinds=job.*", "")
	a.enqueue(`{"type": "only-a", "name": "one"}`)
	stream.wantNext("job.enqueued one", "job.started one", "job.completed one")
	pgtest.Query(t, url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_notify%' AND state = 'idle'`)
	reset := stream.next()
	for ; reset.kind != "reset"; reset = stream.next() {
	}
	a.enqueue(`{"type": "only-a", "name": "two"}`)
	stream.wantNext("job.enqueued two")
	again := b.follow("kinds=job.*", reset.id) // the position of a reset is valid
	again.wantNext("job.enqueued two", "job.started two", "job.completed two")
}

// A reader that continues from before the events of others were received gets a reset, too.
func TestLastEventIDBeforeInterestResetsEventStream(t *testing.T) {
	a, b := startTwo(t, newSharedStore(t), func(context.Context, *rota.Job) error { return nil })
	first := fmt.Sprintf("%s-0", b.events.Incarnation())
	a.enqueue(`{"type": "only-a", "name": "one"}`)
	stream := b.follow("kinds=limits.*", first)
	if e := stream.next(); e.kind != "reset" {
		t.Fatalf("the first event is %s %s", e.kind, e.data)
	}
}

func TestNodesBehindPoolerResetEventStreams(t *testing.T) {
	url := newSharedStore(t) + "&poll=true"
	_, b := startTwo(t, url, func(context.Context, *rota.Job) error { return nil })
	stream := b.follow("kinds=limits.*", "")
	if e := stream.next(); e.kind != "reset" || !strings.Contains(e.data, "pooler") {
		t.Fatalf("the first event is %s %s", e.kind, e.data)
	}
}

// blocking is a handler that runs until it is stopped.
type blocking struct{ started, stopped chan rota.ID }

func newBlocking() *blocking {
	return &blocking{started: make(chan rota.ID, 10), stopped: make(chan rota.ID, 10)}
}

func (h *blocking) run(ctx context.Context, job *rota.Job) error {
	h.started <- job.ID
	<-ctx.Done()
	h.stopped <- job.ID
	return ctx.Err()
}

func await(t *testing.T, what string, ids chan rota.ID) rota.ID {
	t.Helper()
	select {
	case id := <-ids:
		return id
	case <-time.After(waitMax):
		t.Fatal("the handler has not " + what)
		return rota.ID{}
	}
}

func TestCancelAtOneNodeStopsRunAtTheOther(t *testing.T) {
	onSharedStores(t, func(t *testing.T, kind sharedKind) {
		h := newBlocking()
		a, b := startTwo(t, kind.url(t), h.run)
		job := a.enqueue(`{"type": "only-a"}`)
		await(t, "started", h.started)
		b.must("POST", "/jobs/"+job.String()+"/cancel", "")
		await(t, "stopped", h.stopped)
		a.await(rota.EventJobCancelled, job)
	})
}

// startLongLeaseWorker starts a worker that learns of a cancel only if the server tells it: its next heartbeat is twenty
// minutes later.
func startLongLeaseWorker(t *testing.T, address, token string, reg *engine.Registry) {
	t.Helper()
	w := worker.New("http://"+address, token, reg, worker.Config{Lease: rota.LeaseMax, CancelGrace: time.Hour, Logger: quiet})
	ctx, stop := context.WithCancel(context.Background())
	running := startTask(func() error { return w.Run(ctx) })
	t.Cleanup(func() {
		stop()
		w.Cut()
		<-running.done
	})
	<-w.Ready()
}

func TestCancelAtOneNodeStopsRunOfRemoteWorkerAtTheOther(t *testing.T) {
	onSharedStores(t, testCancelStopsRunOfRemoteWorkerAtTheOther)
}

func testCancelStopsRunOfRemoteWorkerAtTheOther(t *testing.T, kind sharedKind) {
	h := newBlocking()
	a, b := startTwo(t, kind.url(t), h.run)
	reg := engine.NewRegistry()
	reg.Func("remote", rota.TypeSpec{}, h.run)
	startLongLeaseWorker(t, a.Addresses()["http"], a.token, reg)
	for range 2 { // the second run starts while the worker has no request
		job := b.enqueue(`{"type": "remote"}`)
		await(t, "started", h.started)
		b.must("POST", "/jobs/"+job.String()+"/cancel", "")
		if stopped := await(t, "stopped", h.stopped); stopped != job {
			t.Errorf("job %s was stopped, want %s", stopped, job)
		}
	}
}

func TestNodesThatJoinAndLeavePublishEvents(t *testing.T) {
	onSharedStores(t, testNodesThatJoinAndLeavePublishEvents)
}

func testNodesThatJoinAndLeavePublishEvents(t *testing.T, kind sharedKind) {
	url := kind.url(t)
	b := start(t, Config{Data: t.TempDir(), Store: url, Name: "b", SQL: "none"})
	stream := b.follow("kinds=node.joined,node.left", "")
	c := start(t, Config{Data: t.TempDir(), Store: url, Name: "c", SQL: "none"})
	name := c.config.Name
	want := func(kind string) {
		t.Helper()
		for e := stream.next(); e.Name != name || e.kind != kind; e = stream.next() {
			if e.Name == name || e.kind == "reset" {
				t.Fatalf("%s %s, want %s", e.kind, e.data, kind)
			}
		}
	}
	want("node.joined")
	c.stopCleanly()
	want("node.left")
}
