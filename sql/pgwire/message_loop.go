package pgwire

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/sql/session"
)

// serveMessages answers messages until the connection ends.
func (c *conn) serveMessages() error {
	c.key = c.server.cancelKeys.register(c)
	defer c.server.cancelKeys.unregister(c.key)
	_ = c.raw.SetDeadline(time.Time{})
	c.framer.max, c.framer.timeout, c.framer.memory = c.server.config.MessageMax, c.server.config.MessageTime, c.session.Memory()
	c.out.send(&pgproto3.BackendKeyData{ProcessID: c.key.process, SecretKey: c.key.secret[:]})
	c.ready()
	c.reader = make(chan struct{})
	go c.readAhead()
	for {
		f, err := c.nextMessage()
		if err != nil {
			return err
		}
		if f.kind == 'X' {
			return nil
		}
		if err := c.handle(f); err != nil {
			return err
		}
		c.session.Memory().Release(bodyCopies * len(f.body))
		if c.out.err != nil {
			return c.out.err
		}
	}
}

// readAhead reads messages into the queue until the connection ends.
func (c *conn) readAhead() {
	err := c.readAll()
	close(c.reader)
	c.queue.finish(err)
}

// readAll returns the reason why reading ended. If the client disconnected without a Terminate
// message, it cancels the running statement.
func (c *conn) readAll() error {
	for {
		f, err := c.framer.next()
		if err != nil {
			var fatalErr *fatal
			if !errors.As(err, &fatalErr) && !errors.Is(err, os.ErrDeadlineExceeded) {
				c.end(errClientGone)
			}
			return messageTimeout(err, c.framer.timeout)
		}
		if !c.queue.put(f) || f.kind == 'X' {
			return io.EOF
		}
	}
}

// messageTimeout turns an exceeded read deadline into a protocol error.
func messageTimeout(err error, limit time.Duration) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fatalf(stateProtocol, "", "the rest of the message did not arrive within %v", limit)
	}
	return err
}

// nextMessage waits for the next message and takes it from the queue.
func (c *conn) nextMessage() (frame, error) {
	if err := c.waitForMessage(); err != nil {
		return frame{}, err
	}
	return c.queue.take(), nil
}

// waitForMessage waits until queue.next is set, at most for the idle limit.
func (c *conn) waitForMessage() error {
	select {
	case <-c.closing:
		return fatalf(stateShutdown, "", "%s", errShutdown)
	default:
	}
	if c.queue.next != nil {
		return nil
	}
	select {
	case f, more := <-c.queue.frames:
		return c.queue.received(f, more)
	default:
	}
	var idle <-chan time.Time
	if limit := c.idleLimit(); limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		idle = timer.C
	}
	check := time.NewTicker(c.server.config.CheckEvery)
	defer check.Stop()
	for {
		select {
		case f, more := <-c.queue.frames:
			return c.queue.received(f, more)
		case <-c.closing:
			return fatalf(stateShutdown, "", "%s", errShutdown)
		case <-idle:
			return c.idleTimeout()
		case <-check.C:
			if err := c.checkIdentity(); err != nil {
				return err
			}
		}
	}
}

// rights returns what the identity of the connection may do now. An identity that is not valid any more ends the connection.
func (c *conn) rights() (access.Stamp, error) {
	if c.server.config.Rights == nil {
		return access.Stamp{}, nil
	}
	stamp, err := c.server.config.Rights(c.ctx, c.identity)
	return stamp, cancelReason(c.ctx, err)
}

// checkIdentity ends an idle connection whose identity is not valid any more. If the store cannot be read, the connection
// stays: its next statement is checked.
func (c *conn) checkIdentity() error {
	_, err := c.rights()
	var fatalErr *fatal
	if errors.As(err, &fatalErr) {
		return err
	}
	return nil
}

// idleLimit is how long the client may be idle: the shorter one of its own setting and the
// server's limit.
func (c *conn) idleLimit() time.Duration {
	if c.session.Status() == session.Idle {
		return stricter(c.milliseconds("idle_session_timeout"), c.server.config.IdleTime)
	}
	return stricter(c.milliseconds("idle_in_transaction_session_timeout"), max(c.server.config.IdleInTransaction, 0))
}

// stricter returns the shorter of two limits; 0 means no limit.
func stricter(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (c *conn) idleTimeout() error {
	if c.session.Status() == session.Idle {
		return fatalf(stateIdle, "", "terminating connection due to idle-session timeout")
	}
	return fatalf(stateIdleInTransaction, "", "terminating connection due to idle-in-transaction timeout")
}
