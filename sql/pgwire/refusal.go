package pgwire

import (
	"container/list"
	"net"
	"sync"
	"time"
)

const (
	refusalsMax = 512         // refused clients that the server waits for at the same time
	refusalTime = time.Second // for the startup packet of a refused client
)

// refusals are the connections that are being refused. PostgreSQL's clients show an error only if it follows their startup
// packet, so the server waits for that packet. If it waits for too many, it ends the wait for the oldest: a client sends the
// packet at once, so the oldest connection is most likely one that sends nothing.
type refusals struct {
	max  int
	time time.Duration

	mu    sync.Mutex
	conns list.List // of *conn, the oldest first
}

// add starts the time limit of a refused connection and returns the function that ends its refusal.
func (r *refusals) add(c *conn) (remove func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = c.raw.SetDeadline(time.Now().Add(r.time))
	if r.conns.Len() >= r.max {
		r.conns.Remove(r.conns.Front()).(*conn).stopReading()
	}
	place := r.conns.PushBack(c)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.conns.Remove(place)
	}
}

// refuse answers a connection above a limit. A request to cancel a statement is executed.
func (s *Server) refuse(wire net.Conn, h *connGroup, reason error) {
	c := newConn(s, wire, h)
	c.refusal = reason
	remove := s.refusals.add(c)
	h.conns.Go(func() {
		defer remove()
		c.serve()
	})
}

// refuseStartup reads the startup packet of a connection above a limit and returns the error for the client, also if the
// client sent nothing in time.
func (c *conn) refuseStartup() error {
	c.out.timeout = min(c.out.timeout, refusalTime)
	if _, err := c.readStartup(); err == errClientDone {
		return err
	}
	return c.refusal
}

// stopReading ends a read in progress and all later ones. The connection can still send.
func (c *conn) stopReading() {
	c.readingStopped.Store(true)
	_ = c.raw.SetReadDeadline(time.Now())
}
