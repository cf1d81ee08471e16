package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/wrap"
)

// pollGauge records the number of waiting claims.
type pollGauge struct {
	testing.TB
	mu      sync.Mutex
	now     int
	changed chan struct{}
}

func (g *pollGauge) set(waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = waiting
	close(g.changed)
	g.changed = make(chan struct{})
}

// reach waits until n claims wait.
func (g *pollGauge) reach(n int) {
	g.Helper()
	over := time.After(testTimeout)
	for {
		g.mu.Lock()
		now, changed := g.now, g.changed
		g.mu.Unlock()
		if now == n {
			return
		}
		select {
		case <-changed:
		case <-over:
			g.Fatalf("%d claims wait, want %d", now, n)
		}
	}
}

// newPollServer returns a server with a pollGauge.
func newPollServer(t *testing.T, change ...func(*httpapi.Config)) (*server, *pollGauge) {
	g := &pollGauge{TB: t, changed: make(chan struct{})}
	return newServer(t, append(change, func(c *httpapi.Config) { c.OnPolls = g.set })...), g
}

// poll starts a waiting claim.
func (s *server) poll(body string, headers ...string) <-chan answer {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), "POST", s.http.URL+"/api/v1/claim", strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answers := make(chan answer, 1)
	go func() {
		got, err := s.http.Client().Do(r)
		if err != nil {
			if r.Context().Err() == nil {
				s.Error(err)
			}
			return
		}
		defer got.Body.Close()
		text, err := io.ReadAll(got.Body)
		if err != nil {
			s.Error(err)
		}
		answers <- answer{TB: s.TB, status: got.StatusCode, header: got.Header, text: string(text)}
	}()
	return answers
}

// receive returns the next value of a channel, or fails after a timeout.
func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(testTimeout):
		t.Fatal("timeout")
		panic("unreachable")
	}
}

// countingStore counts calls and claims.
type countingStore struct {
	rota.Store
	calls, claims atomic.Int64
}

func (c *countingStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	c.calls.Add(1)
	for _, command := range b.Commands {
		if command.Verb() == rota.VerbClaim {
			c.claims.Add(1)
		}
	}
	return c.Store.Apply(ctx, b)
}

func (c *countingStore) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	c.calls.Add(1)
	return c.Store.Job(ctx, id)
}

func (c *countingStore) Jobs(ctx context.Context, q rota.JobQuery) ([]*rota.Job, error) {
	c.calls.Add(1)
	return c.Store.Jobs(ctx, q)
}

func (c *countingStore) Queue(ctx context.Context, after rota.ID, limit int) ([]*rota.Job, error) {
	c.calls.Add(1)
	return c.Store.Queue(ctx, after, limit)
}

func (c *countingStore) Type(ctx context.Context, name string) (*rota.Type, error) {
	c.calls.Add(1)
	return c.Store.Type(ctx, name)
}

func (c *countingStore) NextDue(ctx context.Context) (rota.Due, error) {
	c.calls.Add(1)
	return c.Store.NextDue(ctx)
}

func (c *countingStore) Stats(ctx context.Context) (*rota.Stats, error) {
	c.calls.Add(1)
	return c.Store.Stats(ctx)
}

func TestLongPollReturnsWhenJobIsEnqueued(t *testing.T) {
	s, waiting := newPollServer(t)
	s.declare("a", "b")
	quickest := time.Hour
	for tries, until := 0, time.Now().Add(testTimeout); tries < 20 || quickest > 20*time.Millisecond && time.Now().Before(until); tries++ { // on a busy machine one fast try suffices
		got := s.poll(`{"worker": "w", "types": ["a"], "wait": "30s"}`)
		waiting.reach(1)
		s.enqueue(`{"type": "b"}`) // another type
		began := time.Now()
		id := s.enqueue(`{"type": "a"}`)
		items := read[api.Claimed](receive(t, got).is(200)).Items
		quickest = min(quickest, time.Since(began))
		if len(items) != 1 || items[0].Job.ID.String() != id {
			t.Fatalf("%+v", items)
		}
		waiting.reach(0)
	}
	if quickest > 20*time.Millisecond {
		t.Errorf("the fastest delivery took %v", quickest)
	}
	t.Logf("fastest delivery, from the enqueue request to the claim response: %v", quickest)
}

func TestLongPollTimesOut(t *testing.T) {
	s, waiting := newPollServer(t)
	s.declare("a")
	began := time.Now()
	if items := s.claim(`{"worker": "w", "types": ["a"], "wait": "250ms"}`); len(items) != 0 {
		t.Errorf("%+v", items)
	}
	if waited := time.Since(began); waited < 250*time.Millisecond {
		t.Errorf("it waited %v", waited)
	}
	waiting.reach(0)
	s.enqueue(`{"type": "a"}`)
	if items := s.claim(`{"worker": "w", "types": ["a"]}`); len(items) != 1 {
		t.Errorf("the poll that timed out took a job: %+v", items)
	}
}

// TestLongPollWaitsForDelayedJob waits until the engine makes the job ready.
func TestLongPollWaitsForDelayedJob(t *testing.T) {
	s := newServer(t, withEngine(t))
	s.declare("elsewhere")
	id := s.enqueue(`{"type": "elsewhere", "delay": "300ms"}`)
	got := s.poll(`{"worker": "w", "types": ["elsewhere"], "wait": "30s"}`)
	if items := read[api.Claimed](receive(t, got).is(200)).Items; len(items) != 1 || items[0].Job.ID.String() != id {
		t.Errorf("%+v", items)
	} else if early := items[0].Job.RunAt.Sub(items[0].Job.StartedAt.Time); early > 0 {
		t.Errorf("it started %v too early", early)
	}
}

// TestLongPollsAreServedInArrivalOrder enqueues five jobs for twenty polls: the first five get them,
// in order.
func TestLongPollsAreServedInArrivalOrder(t *testing.T) {
	s, waiting := newPollServer(t)
	s.declare("a")
	polls := make([]<-chan answer, 20)
	for i := range polls {
		polls[i] = s.poll(fmt.Sprintf(`{"worker": "w%d", "types": ["a"], "wait": "30s"}`, i))
		waiting.reach(i + 1)
	}
	batch := read[api.Batch](s.post("jobs/batch", `{"jobs": [`+strings.Repeat(`{"type": "a"},`, 4)+`{"type": "a"}]}`).is(201)).Items
	for i := range 5 {
		items := read[api.Claimed](receive(t, polls[i]).is(200)).Items
		if len(items) != 1 || items[0].Job.ID != batch[i].ID || string(items[0].Job.Worker) != fmt.Sprintf("w%d", i) {
			t.Errorf("%d has %+v", i, items)
		}
	}
	waiting.reach(15)
}

// TestLongPollDeliversEachJobOnce enqueues jobs concurrently. None is lost and none is delivered
// twice.
func TestLongPollDeliversEachJobOnce(t *testing.T) {
	const count = 200
	s, waiting := newPollServer(t)
	s.declare("a", "b")
	polls := make([]<-chan answer, count)
	for i := range polls {
		types := []string{`"a"`, `"b", "a"`, `"a", "b"`}[i%3]
		polls[i] = s.poll(fmt.Sprintf(`{"worker": "w%d", "types": [%s], "wait": "60s", "lease": "1h"}`, i, types))
	}
	waiting.reach(count)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for k := range count / 8 {
				if k%5 == 0 { // some in a batch, others one by one
					s.post("jobs/batch", `{"jobs": [`+strings.Repeat(`{"type": "a"},`, 4)+`{"type": "a"}]}`).is(201)
					continue
				}
				if k%5 < 4 && i%2 == 0 {
					s.enqueue(`{"type": "a"}`)
				}
			}
		})
	}
	group.Wait()
	made := len(s.all("jobs", 1000))
	for made < count {
		s.enqueue(`{"type": "a"}`)
		made++
	}
	seen := map[rota.ID]bool{}
	for _, p := range polls {
		items := read[api.Claimed](receive(t, p).is(200)).Items
		if len(items) != 1 || seen[items[0].Job.ID.ID] {
			t.Fatalf("%+v", items)
		}
		seen[items[0].Job.ID.ID] = true
	}
	waiting.reach(0)
	if left := s.claim(`{"worker": "w", "types": ["a"], "limit": 1000}`); len(left)+count != made {
		t.Errorf("%d jobs were created, %d delivered and %d are left", made, count, len(left))
	}
}

// TestIdleLongPollsDoNotCallStore counts the store calls of a thousand idle polls, and the claims for
// one job that all of them wait for.
func TestIdleLongPollsDoNotCallStore(t *testing.T) {
	const count = 1000
	store := &countingStore{}
	s, waiting := newPollServer(t, func(c *httpapi.Config) { store.Store, c.Store = c.Store, store })
	s.declare("a", "b")
	ctx, stop := context.WithCancel(t.Context())
	answers := make(chan *httptest.ResponseRecorder, count)
	for range count {
		go func() {
			r := httptest.NewRequestWithContext(ctx, "POST", "/api/v1/claim", strings.NewReader(`{"worker": "w", "types": ["a"], "wait": "60s"}`))
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, r)
			answers <- w
		}()
	}
	waiting.reach(count)
	in := func(act func()) (calls, claims int64) { // counts during act and a short idle time
		calls, claims = store.calls.Load(), store.claims.Load()
		began := time.Now()
		act()
		time.Sleep(500 * time.Millisecond)
		looks := int64(time.Since(began) / (5 * time.Second)) // periodic rechecks on a busy machine
		return store.calls.Load() - calls - looks, store.claims.Load() - claims - looks
	}
	in(func() {})
	arrival := store.claims.Load()
	idle, _ := in(func() { time.Sleep(500 * time.Millisecond) })
	_, one := in(func() { s.enqueue(`{"type": "a"}`); <-answers; waiting.reach(count - 1) })
	_, other := in(func() { s.enqueue(`{"type": "b"}`) })
	_, all := in(func() {
		s.post("jobs/batch", `{"jobs": [`+strings.Repeat(`{"type": "a"},`, count-2)+`{"type": "a"}]}`).is(201)
		waiting.reach(0)
	})
	t.Logf("%d claims when %d polls arrived, %d calls in an idle second, %d claims for one job, %d for a job of another type, %d for %d jobs",
		arrival, count, idle, one, other, all, count-1)
	if arrival > 3 || idle > 1 || one > 5 || other > 2 || all > 2*count { // each may include the recheck every 5 s
		t.Error("too many calls")
	}
	stop()
}

// TestLongPollWaitsForRateLimit checks that a poll continues when the rate limit admits a job, for
// which there is no wake-up.
func TestLongPollWaitsForRateLimit(t *testing.T) {
	s, waiting := newPollServer(t)
	s.declare("a")
	s.send("PUT", "limits", `{"types": {"a": {"rate": "1/1s"}}}`).is(200)
	s.post("jobs/batch", `{"jobs": [{"type": "a"}, {"type": "a"}]}`).is(201)
	first := s.claim(`{"worker": "w", "types": ["a"], "limit": 9}`)
	if len(first) != 1 {
		t.Fatalf("%d jobs", len(first))
	}
	second := s.claim(`{"worker": "w", "types": ["a"], "wait": "4s"}`)
	waiting.reach(0)
	if len(second) != 1 {
		t.Fatal("the poll timed out")
	}
	if apart := second[0].Job.StartedAt.Sub(first[0].Job.StartedAt.Time); apart < 900*time.Millisecond || apart > 3*time.Second {
		t.Errorf("they started %v apart", apart)
	}
}

// TestLongPollWaitsForConcurrencyLimit checks that the end of one run lets the next start.
func TestLongPollWaitsForConcurrencyLimit(t *testing.T) {
	s, waiting := newPollServer(t)
	s.declare("a")
	s.send("PUT", "limits", `{"types": {"a": {"concurrency": 1}}}`).is(200)
	s.post("jobs/batch", `{"jobs": [{"type": "a"}, {"type": "a"}]}`).is(201)
	first := s.claimOne("a")
	second := s.poll(`{"worker": "w", "types": ["a"], "wait": "30s"}`)
	waiting.reach(1)
	s.finish(first, `, "outcome": "completed"`)
	if items := read[api.Claimed](receive(t, second).is(200)).Items; len(items) != 1 {
		t.Errorf("%+v", items)
	}
}

func TestLongPollsEndEmptyWhenServerStops(t *testing.T) {
	s, waiting := newPollServer(t)
	s.declare("a")
	base, stop := context.WithCancel(context.Background())
	server := httptest.NewUnstartedServer(s.handler)
	server.Config.BaseContext = func(net.Listener) context.Context { return base }
	server.Start()
	defer server.Close()
	other := *s
	other.http = server
	var polls []<-chan answer
	for i := range 10 {
		var headers []string
		if i%2 == 0 {
			headers = []string{"Idempotency-Key", fmt.Sprint("k", i)}
		}
		polls = append(polls, other.poll(`{"worker": "w", "types": ["a"], "wait": "60s"}`, headers...))
	}
	waiting.reach(10)
	stop()
	for _, p := range polls {
		if a := receive(t, p).is(200); a.text != `{"items":[]}`+"\n" {
			t.Error(a.text)
		}
	}
	waiting.reach(0)
}

// TestPollsHaveTheirOwnLimit checks that waiting claims do not block other requests.
func TestPollsHaveTheirOwnLimit(t *testing.T) {
	s, waiting := newPollServer(t, func(c *httpapi.Config) { c.PollsMax, c.InFlightMax = 1, 1 })
	s.declare("a")
	first := s.poll(`{"worker": "w", "types": ["a"], "wait": "60s"}`)
	waiting.reach(1)
	a := s.post("claim", `{"worker": "w", "types": ["a"]}`)
	a.problem(503, "unavailable")
	if a.header.Get("Retry-After") == "" {
		t.Error("Retry-After is missing")
	}
	s.enqueue(`{"type": "a"}`)
	receive(t, first).is(200)
	s.claim(`{"worker": "w", "types": ["a"]}`)
}

// TestLongPollSurvivesStoreOutage checks that a poll keeps waiting while the store fails, and gets the
// jobs of a claim whose answer was lost.
func TestLongPollSurvivesStoreOutage(t *testing.T) {
	var broken atomic.Bool
	var lost atomic.Int64
	fault := wrap.Fault{
		Before: func(b rota.Batch) error {
			if broken.Load() && b.Commands[0].Verb() == rota.VerbClaim {
				return &rota.Error{Code: rota.Unavailable, Reason: "the disk is full"}
			}
			return nil
		},
		After: func(_ rota.Batch, results []rota.Result) error {
			if claimed, is := results[0].Reply.(*rota.Claimed); is && len(claimed.Jobs) > 0 && lost.Add(1) == 1 {
				return &rota.Error{Code: rota.Unavailable, Reason: "the answer is lost"}
			}
			return nil
		},
	}
	logText := &syncLog{}
	s, waiting := newPollServer(t, func(c *httpapi.Config) {
		c.Store, c.Logger = wrap.Flaky(c.Store, fault), slog.New(slog.NewTextHandler(logText, nil))
	})
	s.declare("a")
	broken.Store(true)
	s.post("claim", `{"worker": "w", "types": ["a"], "wait": "200ms"}`).problem(503, "unavailable")
	got := s.poll(`{"worker": "w", "types": ["a"], "wait": "60s"}`)
	waiting.reach(1)
	id := s.enqueue(`{"type": "a"}`)
	broken.Store(false)
	items := read[api.Claimed](receive(t, got).is(200)).Items
	if len(items) != 1 || items[0].Job.ID.String() != id || lost.Load() != 2 {
		t.Errorf("%d tries: %+v", lost.Load(), items)
	}
	if code := s.finish(items[0], `, "outcome": "completed"`); code != "ok" {
		t.Error(code)
	}
	if n := logText.count("claims of remote workers fail"); n < 1 || n > 3 {
		t.Errorf("the error is logged %d times", n)
	}
}

// syncLog is a log buffer for concurrent use.
type syncLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *syncLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *syncLog) count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

// panickingStore panics on claims.
type panickingStore struct {
	rota.Store
	panics atomic.Bool
}

func (f *panickingStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if f.panics.Load() && b.Commands[0].Verb() == rota.VerbClaim {
		panic(errors.New("oh no"))
	}
	return f.Store.Apply(ctx, b)
}

// TestLongPollSurvivesStorePanic checks that neither pollLoop nor the server ends.
func TestLongPollSurvivesStorePanic(t *testing.T) {
	store := &panickingStore{}
	s, waiting := newPollServer(t, func(c *httpapi.Config) { store.Store, c.Store = c.Store, store })
	s.declare("a")
	store.panics.Store(true)
	s.post("claim", `{"worker": "w", "types": ["a"], "wait": "100ms"}`).problem(500, "internal")
	got := s.poll(`{"worker": "w", "types": ["a"], "wait": "60s"}`)
	waiting.reach(1)
	store.panics.Store(false)
	s.enqueue(`{"type": "a"}`)
	receive(t, got).is(200)
}

// startAbortableClaim starts a claim that the test can abort.
func startAbortableClaim(s *server, body string, headers ...string) (leave context.CancelFunc, over <-chan struct{}) {
	ctx, leave := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "POST", s.http.URL+"/api/v1/claim", strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if got, err := s.http.Client().Do(r); err == nil {
			got.Body.Close()
		}
	}()
	return leave, done
}

// TestLongPollOfDisconnectedWorkerGetsNothing checks that the job goes to a connected worker.
func TestLongPollOfDisconnectedWorkerGetsNothing(t *testing.T) {
	s, waiting := newPollServer(t)
	s.declare("a")
	var leave []context.CancelFunc
	for i := range 5 {
		cut, _ := startAbortableClaim(s, `{"worker": "gone", "types": ["a"], "wait": "60s"}`)
		leave = append(leave, cut)
		waiting.reach(i + 1)
	}
	here := s.poll(`{"worker": "here", "types": ["a"], "wait": "60s"}`)
	waiting.reach(6)
	for _, cut := range leave {
		cut()
	}
	waiting.reach(1)
	s.enqueue(`{"type": "a"}`)
	if items := read[api.Claimed](receive(t, here).is(200)).Items; len(items) != 1 || items[0].Job.Worker != "here" || items[0].Job.Attempt != 1 {
		t.Errorf("%+v", items)
	}
}
