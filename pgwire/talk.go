package pgwire

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/console"
)

// talk answers messages until there are no more.
func (c *conn) talk() error {
	c.key = c.server.keys.take(c)
	defer c.server.keys.give(c.key)
	_ = c.raw.SetDeadline(time.Time{})
	c.framer.most, c.framer.time = c.server.config.MessageMax, c.server.config.MessageTime
	c.out.send(&pgproto3.BackendKeyData{ProcessID: c.key.process, SecretKey: c.key.secret[:]})
	c.ready()
	c.reader = make(chan struct{})
	go c.readAhead()
	for {
		f, err := c.next()
		if err != nil {
			return err
		}
		if f.kind == 'X' {
			return nil
		}
		if err := c.answer(f); err != nil {
			return err
		}
		if c.out.err != nil {
			return c.out.err
		}
	}
}

// readAhead reads messages until there are no more.
func (c *conn) readAhead() {
	err := c.readAll()
	close(c.reader)
	c.inbox.finish(err)
}

// readAll says why there are no more messages. If the client has hung up without a
// word, what it asked for is ended.
func (c *conn) readAll() error {
	for {
		f, err := c.framer.next()
		if err != nil {
			var last *fatal
			if !errors.As(err, &last) && !errors.Is(err, os.ErrDeadlineExceeded) {
				c.end(errGone)
			}
			return slow(err)
		}
		if !c.inbox.put(f) || f.kind == 'X' {
			return io.EOF
		}
	}
}

// slow says what happened to somebody who sent half a message.
func slow(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fatally(stateProtocol, "", "the rest of a message did not come in time")
	}
	return err
}

// next takes the next message, having sent what was answered before.
func (c *conn) next() (frame, error) {
	if err := c.wait(); err != nil {
		return frame{}, err
	}
	f, _, err := c.inbox.take()
	return f, err
}

// wait waits until there is a message, and no longer than a client may be idle.
func (c *conn) wait() error {
	var idle <-chan time.Time
	for {
		select {
		case <-c.closing:
			return fatally(stateShutdown, "", "%s", errShutdown)
		default:
		}
		if _, some, end := c.inbox.peek(); some || end != nil {
			return end
		}
		if idle == nil {
			limit := c.idleTime()
			if limit > 0 {
				timer := time.NewTimer(limit)
				defer timer.Stop()
				idle = timer.C
			}
		}
		select {
		case <-c.inbox.ready:
		case <-c.closing:
		case <-idle:
			return c.tooIdle()
		}
	}
}

// idleTime is how long the client may say nothing, as it has set itself and
// the server allows.
func (c *conn) idleTime() time.Duration {
	if c.session.Status() == console.Idle {
		return stricter(c.milliseconds("idle_session_timeout"), c.server.config.IdleTime)
	}
	return stricter(c.milliseconds("idle_in_transaction_session_timeout"), max(c.server.config.IdleInTransaction, 0))
}

// stricter is the shorter of two limits, of which 0 is none.
func stricter(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (c *conn) tooIdle() error {
	if c.session.Status() == console.Idle {
		return fatally(stateIdle, "", "terminating connection due to idle-session timeout")
	}
	return fatally(stateIdleInWork, "", "terminating connection due to idle-in-transaction timeout")
}
