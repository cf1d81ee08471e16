package pgwire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/xdg-go/scram"
)

// conn is one connection. What is said on it is answered by one goroutine.
type conn struct {
	server  *Server
	hall    *hall
	raw     net.Conn
	net     net.Conn // the same, or TLS over it
	secure  bool
	binding scram.ChannelBinding
	framer  *framer
	out     outlet

	closing <-chan struct{} // ends when no further message is to be answered
	ctx     context.Context // ends when the client hangs up, or the server can wait no longer
	end     context.CancelCauseFunc
	key     key
	mu      sync.Mutex
	running context.CancelCauseFunc // nil: no statement

	inbox     *inbox
	reader    chan struct{} // closed when nothing more is read; nil: it has not begun
	session   Session
	told      map[string]string // settings, as the client knows them
	values    values
	names     names
	gathering bool // statements are done together at the next Sync
	skipping  bool // an error has come before the next Sync
}

func newConn(s *Server, wire net.Conn, h *hall) *conn {
	c := &conn{server: s, hall: h, raw: wire, net: wire, closing: h.closing.Done(), inbox: newInbox(), told: map[string]string{}}
	c.out = outlet{conn: wire, time: s.config.WriteTime}
	c.ctx, c.end = context.WithCancelCause(h.cut)
	return c
}

// serve is the life of a connection. Whatever goes wrong in it ends it alone.
func (c *conn) serve() {
	unhook := context.AfterFunc(c.hall.gone, func() { _ = c.raw.Close() })
	defer unhook()
	defer c.settle()
	defer func() {
		if p := recover(); p != nil {
			c.server.config.Logger.Error("a connection panicked", "panic", p, "stack", string(debug.Stack()))
			c.goodbye(fatally(stateInternal, "the log of the server says more", "an error that should not be"))
		}
	}()
	c.goodbye(c.live())
}

func (c *conn) live() error {
	if err := c.welcome(); err != nil {
		return err
	}
	defer c.server.leave()
	defer c.names.forgetPortals(nil)
	return c.talk()
}

// settle leaves nothing behind.
func (c *conn) settle() {
	c.end(errGone)
	_ = c.raw.Close()
	close(c.inbox.shut)
	if c.reader != nil {
		<-c.reader
	}
}

// welcome is everything up to the proof, in bounded time. Who is still at the door
// when the server ends is not waited for.
func (c *conn) welcome() error {
	_ = c.raw.SetDeadline(time.Now().Add(c.server.config.LoginTime))
	stay := context.AfterFunc(c.hall.closing, func() { _ = c.raw.SetDeadline(time.Now()) })
	defer stay()
	m, err := c.greet()
	if err != nil {
		return err
	}
	user := m.Parameters["user"]
	if err := c.check(m); err != nil {
		return err
	}
	c.negotiate(m)
	c.framer = newFramer(c.net, proofMost, 0)
	if err := c.prove(user); err != nil {
		if errors.Is(err, errWrong) {
			return c.refuseLogin(user)
		}
		return timely(err)
	}
	if err := c.server.enter(); err != nil {
		return err
	}
	if err := c.introduce(user, m.Parameters); err != nil {
		c.server.leave()
		return err
	}
	return nil
}

// timely says what happened to somebody who took too long.
func timely(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fatally(stateCancelled, "", "canceling authentication due to timeout")
	}
	return err
}

// goodbye ends the connection, with an error if the client is to know one.
func (c *conn) goodbye(err error) {
	c.out.time = min(c.out.time, farewell)
	var last *fatal
	if errors.As(err, &last) {
		m, _ := response(last)
		c.out.send(m)
		c.out.flush()
		c.linger()
		return
	}
	c.out.flush()
	_ = c.net.Close()
}

// lingerTime is how long a client has to read its last message.
const lingerTime = 250 * time.Millisecond

// linger throws away what the client still sends: if it stayed unread, closing the
// connection would take back the last message as well.
func (c *conn) linger() {
	if half, can := c.net.(interface{ CloseWrite() error }); can {
		_ = half.CloseWrite()
	}
	if c.reader != nil {
		select {
		case <-c.reader:
		default:
			return // it reads everything
		}
	}
	_ = c.raw.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.Copy(io.Discard, c.raw)
}
