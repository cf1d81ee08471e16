package dyntest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Proxy stands between a client and a server, fails as DynamoDB does, and counts. Each method takes effect for the requests after it, at any
// time and from any goroutine. A request has at most one fault: that of the first Fail, FailNext or Deny that applies, or that of Limit, or that
// of Every.
type Proxy struct {
	server   *Server
	endpoint string
	http     *http.Server
	client   *http.Client // of the server

	mu      sync.Mutex
	plan    failurePlan
	limiter limiter
	watch   Watch // nil: none
	counts  Counts
	healed  chan struct{} // closed by Heal: it releases frozen requests
	conns   map[net.Conn]bool
}

// failurePlan is how a proxy fails. The zero value does not.
type failurePlan struct {
	refuses        bool
	freezes        bool // requests wait before the server has them
	freezesAnswers bool // answers wait before the client has them
	delay          time.Duration
	failures       []*failure
	every          int // every n-th request fails; 0: none
	rotation       []Fault
	seen, next     int // requests counted for every, and the next of the rotation
	date           func(http.Header)
}

// Watch is called before the server has a request, and again, with answered set, before the client has the answer. The request waits for it.
// It reports whether to close the connection in place of passing the request or the answer on.
type Watch func(operation string, body []byte, answered bool) (drop bool)

// failure is a fault of some operations.
type failure struct {
	fault      Fault
	operations []string // empty: all
	left       int      // how many requests still fail; negative: all
}

// Counts are what has passed a proxy.
type Counts struct {
	Requests map[string]int // by operation, with those that failed
	Faults   map[string]int // by the name of the fault, which Fault.String returns; Limit counts as Throttled
	Units
}

// Proxy starts a proxy that ends with the test. The server must be one of this machine: DynamoDB refuses requests that were signed for the
// address of a proxy.
func (s *Server) Proxy(t testing.TB) *Proxy {
	t.Helper()
	p, err := s.OpenProxy()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// OpenProxy starts a proxy outside of tests.
func (s *Server) OpenProxy() (*Proxy, error) {
	if s.kind == DynamoDB {
		return nil, errors.New("DynamoDB refuses requests through a proxy; start a server with dyntest.Start")
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		server: s, endpoint: "http://" + listener.Addr().String(), conns: map[net.Conn]bool{}, healed: make(chan struct{}),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true}},
	}
	p.limiter.now = time.Now
	p.counts = newCounts()
	p.http = &http.Server{Handler: http.HandlerFunc(p.serve), ConnState: p.noteConn, ErrorLog: discardLog}
	go func() { _ = p.http.Serve(listener) }()
	return p, nil
}

// Close ends the proxy.
func (p *Proxy) Close() {
	p.Heal()
	_ = p.http.Close()
	p.client.CloseIdleConnections()
}

// Endpoint returns the URL of the proxy.
func (p *Proxy) Endpoint() string { return p.endpoint }

// URL returns the URL of the store in a table, through the proxy.
func (p *Proxy) URL(table string) string { return storeURL(table, p.server.region, p.endpoint) }

// Client returns a client through the proxy that sends each request once.
func (p *Proxy) Client(t testing.TB, options ...func(*dynamodb.Options)) *dynamodb.Client {
	t.Helper()
	return p.server.clientAt(t, p.endpoint, options...)
}

// Heal ends all failures, delays and limits, and lets pass what was frozen. It keeps the counts.
func (p *Proxy) Heal() {
	p.change(func(plan *failurePlan) {
		close(p.healed)
		p.healed = make(chan struct{})
		*plan = failurePlan{}
		p.limiter.perSecond = 0
	})
}

// Fail has all requests of the operations fail, or all requests if none is named.
func (p *Proxy) Fail(fault Fault, operations ...string) { p.FailNext(-1, fault, operations...) }

// FailNext has the next n requests of the operations fail.
func (p *Proxy) FailNext(n int, fault Fault, operations ...string) {
	p.change(func(plan *failurePlan) { plan.failures = append(plan.failures, &failure{fault, operations, n}) })
}

// Deny has requests of the operations fail as if the account had no right to them.
func (p *Proxy) Deny(operations ...string) { p.Fail(Denied, operations...) }

// Every has every n-th request fail, with one of the faults after the other, or with TransientFaults if none is given. 0 ends it.
func (p *Proxy) Every(n int, faults ...Fault) {
	if len(faults) == 0 {
		faults = TransientFaults()
	}
	p.change(func(plan *failurePlan) { plan.every, plan.rotation, plan.seen, plan.next = n, faults, 0, 0 })
}

// Limit throttles what is more than a number of requests in a second. 0 ends it.
func (p *Proxy) Limit(perSecond int) {
	p.change(func(*failurePlan) { p.limiter.perSecond = perSecond })
}

// Delay makes each round trip longer: by one half before the server has the request, and by the other before the client has the answer.
func (p *Proxy) Delay(d time.Duration) { p.change(func(plan *failurePlan) { plan.delay = d }) }

// Watch has a function called at every request that reaches the server. A nil function ends it.
func (p *Proxy) Watch(watch Watch) { p.change(func(*failurePlan) { p.watch = watch }) }

// Freeze accepts requests, which neither reach the server nor are answered until Heal.
func (p *Proxy) Freeze() { p.change(func(plan *failurePlan) { plan.freezes = true }) }

// FreezeAnswers forwards requests, whose answers the client does not get until Heal.
func (p *Proxy) FreezeAnswers() { p.change(func(plan *failurePlan) { plan.freezesAnswers = true }) }

// Refuse closes all connections, and new ones at once, until Heal.
func (p *Proxy) Refuse() {
	p.change(func(plan *failurePlan) {
		plan.refuses = true
		for conn := range p.conns {
			_ = conn.Close()
		}
	})
}

// ShiftDate adds an offset to the header Date of answers, as if the clock of the service were wrong.
func (p *Proxy) ShiftDate(offset time.Duration) {
	p.setDate(func(h http.Header) {
		date, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			date = time.Now()
		}
		h.Set("Date", date.Add(offset).UTC().Format(http.TimeFormat))
	})
}

// SetDate replaces the header Date of answers, which need not be a time.
func (p *Proxy) SetDate(text string) { p.setDate(func(h http.Header) { h.Set("Date", text) }) }

// OmitDate removes the header Date from answers. A nil value keeps the server from adding one.
func (p *Proxy) OmitDate() { p.setDate(func(h http.Header) { h["Date"] = nil }) }

func (p *Proxy) setDate(date func(http.Header)) {
	p.change(func(plan *failurePlan) { plan.date = date })
}

func (p *Proxy) change(change func(*failurePlan)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.plan)
}

// Counts returns what has passed since the start, or since ResetCounts.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts.clone()
}

// ResetCounts sets the counts to zero and returns what they were.
func (p *Proxy) ResetCounts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := p.counts
	p.counts = newCounts()
	return counts
}

// noteConn keeps the open connections, which Refuse closes.
func (p *Proxy) noteConn(conn net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch state {
	case http.StateNew:
		p.conns[conn] = true
		if p.plan.refuses {
			_ = conn.Close()
		}
	case http.StateClosed, http.StateHijacked:
		delete(p.conns, conn)
	}
}

// choose counts a request and returns its fault, or nil.
func (p *Proxy) choose(operation string) *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.Requests[operation]++
	fault := p.chooseLocked(operation)
	if fault != nil {
		p.counts.Faults[fault.name]++
	}
	return fault
}

func (p *Proxy) chooseLocked(operation string) *Fault {
	for _, f := range p.plan.failures {
		if f.left != 0 && f.fault.happensTo(operation) && (len(f.operations) == 0 || slices.Contains(f.operations, operation)) {
			f.left--
			return &f.fault
		}
	}
	if p.limiter.exceeded() {
		return &Throttled
	}
	return p.plan.nextOfRotation(operation)
}

// nextOfRotation returns the fault of every n-th request. It passes over those that do not happen to the operation.
func (plan *failurePlan) nextOfRotation(operation string) *Fault {
	if plan.every == 0 {
		return nil
	}
	if plan.seen++; plan.seen%plan.every != 0 {
		return nil
	}
	for range plan.rotation {
		fault := &plan.rotation[plan.next%len(plan.rotation)]
		plan.next++
		if fault.happensTo(operation) {
			return fault
		}
	}
	return nil
}

// errFrozen ends a request whose client has left while it was frozen.
var errFrozen = errors.New("the client has left")

// waitWhile waits until Heal if the proxy is frozen.
func (p *Proxy) waitWhile(ctx context.Context, frozen func(*failurePlan) bool) error {
	p.mu.Lock()
	healed, frozenNow := p.healed, frozen(&p.plan)
	p.mu.Unlock()
	if !frozenNow {
		return nil
	}
	select {
	case <-healed:
		return nil
	case <-ctx.Done():
		return errFrozen
	}
}
