package pgwire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota/access"
	"github.com/xdg-go/scram"
)

// conn is one connection. One goroutine answers its messages.
type conn struct {
	server  *Server
	group   *connGroup
	raw     net.Conn
	net     net.Conn // the same, or TLS over it
	secure  bool
	binding scram.ChannelBinding
	framer  *framer
	out     bufferedWriter

	commonName string // of the verified certificate of the client; empty: none
	user       string // that the client named; after the login the user of the identity
	identity   access.Identity

	attempt       access.Attempt       // to log in
	passwordCheck access.PasswordCheck // that has begun

	leavePending   func()      // ends the count among the connections that have not logged in; nil: not counted
	refusal        error       // why the connection is refused; nil: it is served
	readingStopped atomic.Bool // see stopReading

	closing <-chan struct{} // ends when no further message is to be answered
	ctx     context.Context // ends when the client disconnects, or the shutdown cancels statements
	end     context.CancelCauseFunc
	key     cancelKey
	mu      sync.Mutex
	running context.CancelCauseFunc // nil: no statement

	queue               *messageQueue
	reader              chan struct{} // closed when reading has ended; nil: not started
	session             Session
	sentParameters      map[string]string // settings as last sent to the client
	settings            formatSettings
	prepared            preparedSet
	implicitTransaction bool // statements commit together at the next Sync
	skippingToSync      bool // after an error, messages are ignored up to the next Sync
}

func newConn(s *Server, wire net.Conn, h *connGroup) *conn {
	c := &conn{server: s, group: h, raw: wire, net: wire, closing: h.draining.Done(), queue: newMessageQueue(), sentParameters: map[string]string{}}
	c.out = bufferedWriter{conn: wire, timeout: s.config.WriteTime}
	c.ctx, c.end = context.WithCancelCause(h.statements)
	return c
}

// serve serves the connection until it ends. A panic ends only this connection.
func (c *conn) serve() {
	stopWatching := context.AfterFunc(c.group.open, func() { _ = c.raw.Close() })
	defer stopWatching()
	defer c.cleanUp()
	defer func() {
		if p := recover(); p != nil {
			c.server.config.Logger.Error("the handler of a connection panicked", "panic", p, "stack", string(debug.Stack()))
			c.closeWith(fatalf(stateInternal, "see the server log for details", "internal error"))
		}
	}()
	c.closeWith(c.run())
}

func (c *conn) run() error {
	if c.refusal != nil {
		return c.refuseStartup()
	}
	if err := c.logIn(); err != nil {
		return err
	}
	c.leavePending()
	defer c.server.sessions.remove(c.identity.User)
	defer c.prepared.closePortals(nil)
	return c.serveMessages()
}

// cleanUp releases all resources of the connection.
func (c *conn) cleanUp() {
	c.end(errClientGone)
	_ = c.raw.Close()
	if c.leavePending != nil {
		c.leavePending()
	}
	close(c.queue.closed)
	if c.reader != nil {
		<-c.reader
	}
	if c.session != nil {
		c.session.Memory().Close()
	}
}

// logIn runs startup and authentication within Config.LoginTime. A shutdown interrupts it.
func (c *conn) logIn() error {
	_ = c.raw.SetDeadline(time.Now().Add(c.server.config.LoginTime))
	stopWatching := context.AfterFunc(c.group.draining, func() { _ = c.raw.SetDeadline(time.Now()) })
	defer stopWatching()
	m, err := c.readStartup()
	if err != nil {
		return err
	}
	user := m.Parameters["user"]
	if err := c.checkStartup(m); err != nil {
		return err
	}
	c.negotiateVersion(m)
	c.framer = newFramer(c.net, loginMessageMax, 0)
	if err := c.authenticate(user); err != nil {
		return err
	}
	if err := c.server.sessions.add(c.identity.User); err != nil {
		return err
	}
	if err := c.startSession(m.Parameters); err != nil {
		c.server.sessions.remove(c.identity.User)
		return err
	}
	return nil
}

// loginTimeout turns an exceeded deadline into the error that PostgreSQL sends.
func loginTimeout(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fatalf(stateCancelled, "", "canceling authentication due to timeout")
	}
	return err
}

// closeWith closes the connection. It first sends err to the client if err is a *fatal.
func (c *conn) closeWith(err error) {
	c.out.timeout = min(c.out.timeout, closeTimeout)
	var fatalErr *fatal
	if errors.As(err, &fatalErr) {
		m, _ := response(fatalErr)
		c.out.send(m)
		c.out.flush()
		c.discardInput()
		return
	}
	c.out.flush()
	_ = c.net.Close()
}

// discardTime is how long a client may take to read its last message.
const discardTime = 250 * time.Millisecond

// discardInput reads and discards what the client still sends. Closing a socket with unread
// input resets the connection, and the client would lose the last message.
func (c *conn) discardInput() {
	if half, can := c.net.(interface{ CloseWrite() error }); can {
		_ = half.CloseWrite()
	}
	if c.reader != nil {
		select {
		case <-c.reader:
		default:
			return // the reader still consumes the input
		}
	}
	_ = c.raw.SetReadDeadline(time.Now().Add(discardTime))
	if c.readingStopped.Load() { // stopReading may have set its deadline before
		return
	}
	_, _ = io.Copy(io.Discard, c.raw)
}
