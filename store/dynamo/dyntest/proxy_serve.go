package dyntest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"maps"
	"net/http"
	"strings"
	"time"
)

// discardLog keeps the reports of closed connections, which are meant, out of the output of tests.
var discardLog = log.New(io.Discard, "", 0)

// request is a request of a client.
type request struct {
	ctx       context.Context
	header    http.Header
	body      []byte
	operation string // such as PutItem
	document  document
}

// response is what the client gets. A nil response closes its connection.
type response struct {
	status int
	header http.Header
	body   []byte
}

// serve handles one request. It ends without a response by http.ErrAbortHandler, which closes the connection.
func (p *Proxy) serve(w http.ResponseWriter, in *http.Request) {
	r, err := readRequest(in)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has left
	}
	out := p.respond(r)
	if out == nil {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), out.header)
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body) // the client may have left
}

func readRequest(in *http.Request) (*request, error) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(in.Header.Get("X-Amz-Target"), ".")
	r := &request{ctx: in.Context(), header: in.Header, body: body, operation: operation}
	_ = json.Unmarshal(body, &r.document) // the server refuses what is not valid
	return r, nil
}

// respond passes a request to the server, unless the plan has it fail.
func (p *Proxy) respond(r *request) *response {
	fault := p.choose(r.operation)
	if p.waitWhile(r.ctx, func(plan *failurePlan) bool { return plan.freezes }) != nil || !p.halfDelay(r) {
		return nil
	}
	var out *response
	if fault != nil {
		out = fault.respond(p, r)
	} else {
		out = p.forward(r)
	}
	if p.waitWhile(r.ctx, func(plan *failurePlan) bool { return plan.freezesAnswers }) != nil || !p.halfDelay(r) {
		return nil
	}
	if out != nil {
		p.stamp(out.header)
	}
	return out
}

// halfDelay waits for one direction of the delay, and reports whether the client is still there.
func (p *Proxy) halfDelay(r *request) bool {
	p.mu.Lock()
	delay := p.plan.delay / 2
	p.mu.Unlock()
	if delay == 0 {
		return true
	}
	select {
	case <-time.After(delay):
		return true
	case <-r.ctx.Done():
		return false
	}
}

// stamp changes the header Date. Without a change an answer of the proxy gets the time of this machine from the HTTP server.
func (p *Proxy) stamp(h http.Header) {
	p.mu.Lock()
	date := p.plan.date
	p.mu.Unlock()
	if date != nil {
		date(h)
	}
}

// forward sends a request to the server and counts its units. It returns nil if the server does not answer. A client that leaves does not
// stop the request: it would reach DynamoDB all the same.
func (p *Proxy) forward(r *request) *response {
	if p.show(r, false) {
		return nil
	}
	out, err := http.NewRequestWithContext(context.WithoutCancel(r.ctx), http.MethodPost, p.server.endpoint, bytes.NewReader(r.body))
	if err != nil {
		return nil
	}
	out.Header = r.header
	in, err := p.client.Do(out)
	if err != nil {
		return nil
	}
	defer in.Body.Close()
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return nil
	}
	p.countUnits(r, body)
	if p.show(r, true) {
		return nil
	}
	return &response{in.StatusCode, in.Header, body}
}

// show calls the function of Watch.
func (p *Proxy) show(r *request, answered bool) (drop bool) {
	p.mu.Lock()
	watch := p.watch
	p.mu.Unlock()
	return watch != nil && watch(r.operation, r.body, answered)
}

func (p *Proxy) countUnits(r *request, body []byte) {
	var a answer
	_ = json.Unmarshal(body, &a) // an answer that is not JSON has no items
	units := unitsOf(r.operation, &r.document, &a)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.Read += units.Read
	p.counts.Write += units.Write
}

func newCounts() Counts { return Counts{Requests: map[string]int{}, Faults: map[string]int{}} }

func (c *Counts) clone() Counts {
	return Counts{Requests: maps.Clone(c.Requests), Faults: maps.Clone(c.Faults), Units: c.Units}
}

// limiter counts requests in windows of a second.
type limiter struct {
	perSecond int // 0: no limit
	now       func() time.Time
	window    time.Time // start of the current second
	used      int
}

// exceeded counts a request, and reports whether it is too many.
func (l *limiter) exceeded() bool {
	if l.perSecond == 0 {
		return false
	}
	if now := l.now(); now.Sub(l.window) >= time.Second {
		l.window, l.used = now, 0
	}
	l.used++
	return l.used > l.perSecond
}
