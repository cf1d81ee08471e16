// Package relay is a stretch of network for tests: what goes to a server goes
// through it, and it can fail as networks do.
package faultproxy

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy has an address that stays while servers come and go.
type Proxy struct {
	listener net.Listener

	mu     sync.Mutex
	to     string // the server's address; empty: nobody listens
	stuck  bool   // nothing passes, and nobody is told
	passes *sync.Cond
	open   map[net.Conn]bool
	closed bool
}

// New opens a relay that leads nowhere yet. It closes with the test.
func New(t testing.TB) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Proxy{listener: listener, open: map[net.Conn]bool{}}
	r.passes = sync.NewCond(&r.mu)
	t.Cleanup(r.close)
	go r.accept()
	return r
}

// Addr is where the relay is reached: a host and a port.
func (r *Proxy) Addr() string { return r.listener.Addr().String() }

// SetTarget leads to another server from now on, or to none. Connections that are
// open stay with the one they had.
func (r *Proxy) SetTarget(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = to
}

// Hold lets nothing pass any more, in neither direction, and tells nobody.
func (r *Proxy) Hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stuck = true
}

// Heal lets pass what was held, as late as it comes.
func (r *Proxy) Heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stuck = false
	r.passes.Broadcast()
}

// Cut breaks all connections that are open.
func (r *Proxy) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.open {
		_ = conn.Close()
	}
}

func (r *Proxy) close() {
	_ = r.listener.Close()
	r.mu.Lock()
	r.closed = true
	r.passes.Broadcast()
	r.mu.Unlock()
	r.Cut()
}

func (r *Proxy) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		go r.carry(conn)
	}
}

// carry joins a caller with the server.
func (r *Proxy) carry(caller net.Conn) {
	defer r.drop(caller)
	if !r.pass(caller) {
		return
	}
	r.mu.Lock()
	to := r.to
	r.mu.Unlock()
	server, err := net.DialTimeout("tcp", to, time.Second)
	if err != nil {
		return // nobody is there
	}
	defer r.drop(server)
	if !r.pass(server) {
		return
	}
	go func() {
		r.copy(server, caller)
		_ = server.Close()
	}()
	r.copy(caller, server)
}

// copy carries one direction, piece by piece.
func (r *Proxy) copy(to io.Writer, from io.Reader) {
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 && r.pass(nil) {
			_, err = to.Write(piece[:n])
		}
		if err != nil || !r.pass(nil) {
			return
		}
	}
}

// pass waits while nothing passes, and reports whether anything ever will. A
// connection is noted as open.
func (r *Proxy) pass(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if conn != nil {
		r.open[conn] = true
	}
	for r.stuck && !r.closed {
		r.passes.Wait()
	}
	return !r.closed
}

func (r *Proxy) drop(conn net.Conn) {
	_ = conn.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, conn)
}
