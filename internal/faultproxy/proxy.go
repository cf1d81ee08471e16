// Package faultproxy is a TCP proxy for tests: it stands between a client and a server,
// and fails as networks do.
package faultproxy

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy has an address that stays the same while servers stop and start.
type Proxy struct {
	listener net.Listener

	mu      sync.Mutex
	target  string // address of the server; empty: none
	held    bool   // nothing passes, and no connection is closed
	resumed *sync.Cond
	open    map[net.Conn]bool
	closed  bool
}

// New opens a proxy without a target. It closes with the test.
func New(t testing.TB) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, open: map[net.Conn]bool{}}
	p.resumed = sync.NewCond(&p.mu)
	t.Cleanup(p.close)
	go p.accept()
	return p
}

// Addr is the address of the proxy: a host and a port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// SetTarget sets the server for new connections; empty: none. Open connections keep
// theirs.
func (p *Proxy) SetTarget(to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = to
}

// Hold lets nothing pass, in neither direction, without closing connections.
func (p *Proxy) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = true
}

// Resume lets pass what was held, with the delay.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = false
	p.resumed.Broadcast()
}

// Cut closes all open connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		_ = conn.Close()
	}
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.resumed.Broadcast()
	p.mu.Unlock()
	p.Cut()
}

func (p *Proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.forward(conn)
	}
}

// forward connects a client with the server.
func (p *Proxy) forward(client net.Conn) {
	defer p.closeConn(client)
	if !p.waitWhileHeld(client) {
		return
	}
	p.mu.Lock()
	to := p.target
	p.mu.Unlock()
	server, err := net.DialTimeout("tcp", to, time.Second)
	if err != nil {
		return // no server listens
	}
	defer p.closeConn(server)
	if !p.waitWhileHeld(server) {
		return
	}
	go func() {
		p.copy(server, client)
		_ = server.Close()
	}()
	p.copy(client, server)
}

// copy forwards one direction, chunk by chunk.
func (p *Proxy) copy(to io.Writer, from io.Reader) {
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		if n > 0 && p.waitWhileHeld(nil) {
			_, err = to.Write(chunk[:n])
		}
		if err != nil || !p.waitWhileHeld(nil) {
			return
		}
	}
}

// waitWhileHeld waits while the proxy is held, and reports whether it is still open. It
// notes conn, if not nil, as open.
func (p *Proxy) waitWhileHeld(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if conn != nil {
		p.open[conn] = true
	}
	for p.held && !p.closed {
		p.resumed.Wait()
	}
	return !p.closed
}

func (p *Proxy) closeConn(conn net.Conn) {
	_ = conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn)
}
