package pgwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// wait has a statement run that ends when it is told to.
func (c *client) wait(s *site) {
	c.Send(&pgproto3.Query{String: "wait"})
	_ = c.Flush()
	<-s.store.running
}

func (s *site) cancel(key pgproto3.CancelRequest) {
	wire := s.dial()
	raw, _ := key.Encode(nil)
	_, _ = wire.Write(raw)
	if got, _ := io.ReadAll(wire); len(got) > 0 {
		s.t.Errorf("a request to cancel was answered with %q", got)
	}
}

func TestCancel(t *testing.T) {
	s := newSite(t)
	c, other := s.client(), s.client()
	c.wait(s)
	wrong := c.key
	wrong.SecretKey = []byte{1, 2, 3, 4}
	s.cancel(wrong)
	s.cancel(other.key)
	s.cancel(pgproto3.CancelRequest{ProcessID: 1, SecretKey: []byte{0, 0, 0, 0}})
	select {
	case err := <-s.store.ended:
		t.Fatalf("it was ended by another's key: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	s.cancel(c.key)
	same(t, c.hear(1), []string{"ERROR 57014 canceling statement due to user request", "ReadyForQuery I"})
	s.cancel(c.key) // nothing runs
	if got := c.query("rows 1"); got[len(got)-1] != "ReadyForQuery I" {
		t.Error(got)
	}
}

func TestCancelInTheExtendedProtocol(t *testing.T) {
	s := newSite(t)
	c := s.client()
	c.Send(&pgproto3.Parse{Query: "wait"})
	c.Send(&pgproto3.Bind{})
	c.Send(&pgproto3.Execute{})
	c.Send(&pgproto3.Sync{})
	_ = c.Flush()
	<-s.store.running
	s.cancel(c.key)
	same(t, c.hear(1), []string{"ParseComplete", "BindComplete", "ERROR 57014 canceling statement due to user request", "ReadyForQuery I"})
}

func TestStatementTimeout(t *testing.T) {
	c := newSite(t).client()
	c.query("set statement_timeout=300")
	same(t, c.query("wait"), []string{"ERROR 57014 canceling statement due to statement timeout", "ReadyForQuery I"})
	same(t, c.query("begin; wait"), []string{"CommandComplete BEGIN", "ERROR 57014 canceling statement due to statement timeout", "ReadyForQuery E"})
}

// TestHangingUpEndsTheStatement unless the client has said that it goes.
func TestHangingUpEndsTheStatement(t *testing.T) {
	s := newSite(t)
	c := s.client()
	c.wait(s)
	_ = c.wire.Close()
	if err := <-s.store.ended; !errors.Is(err, errGone) {
		t.Errorf("it ended because of %v", err)
	}
	c = s.client()
	c.Send(&pgproto3.Query{String: "linger"})
	c.Send(&pgproto3.Query{String: "write behind"})
	c.Send(&pgproto3.Terminate{})
	_ = c.Flush()
	_ = c.wire.Close()
	<-s.store.running
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if s.store.String() == "behind!" {
			return
		}
	}
	t.Error("what was sent before the end was not done")
}

func TestShutdown(t *testing.T) {
	s := newSite(t)
	idle, busy, within := s.client(), s.client(), s.client()
	within.query("begin")
	busy.Send(&pgproto3.Query{String: "linger"})
	busy.Send(&pgproto3.Query{String: "write late"})
	_ = busy.Flush()
	<-s.store.running
	done := make(chan error)
	go func() { done <- s.stop() }()
	told := "FATAL 57P01 terminating connection due to administrator command"
	same(t, idle.rest(), []string{told, "closed"})
	same(t, within.rest(), []string{told, "closed"})
	same(t, busy.rest(), []string{"CommandComplete LINGER", "ReadyForQuery I", told, "closed"})
	if err := <-done; err != nil || s.store.String() != "" {
		t.Errorf("%v, and it wrote %q", err, s.store)
	}
	if _, err := net.Dial("tcp", s.addr); err == nil {
		t.Error("it still listens")
	}
}

func TestShutdownEndsWhatTakesTooLong(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Grace = 50 * time.Millisecond })
	c := s.client()
	c.wait(s)
	door := s.dial()
	began := time.Now()
	if err := s.stop(); err != nil || time.Since(began) > 15*time.Second { // left alone it waits for 20
		t.Errorf("%v after %v", err, time.Since(began))
	}
	same(t, c.rest(), []string{"FATAL 57P01 terminating connection due to administrator command", "closed"})
	same(t, rest(door), []string{"closed"})
}

func TestAPanicEndsOneConnection(t *testing.T) {
	s := newSite(t)
	c, other := s.client(), s.client()
	same(t, c.query("panic"), []string{"FATAL XX000 an error that should not be; the log of the server says more", "closed"})
	if got := other.query("rows 1"); len(got) != 4 {
		t.Error(got)
	}
	if n := s.server.sessions.Load(); n > 1 {
		t.Errorf("%d sessions are counted", n)
	}
}

// TestLargeAnswers come whole, in both protocols.
func TestLargeAnswers(t *testing.T) {
	c := newSite(t).client()
	if got := c.query("wide 5000"); len(got) != 5003 {
		t.Errorf("%d lines", len(got))
	}
	got := c.say(&pgproto3.Parse{Query: "wide 5000"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{})
	if len(got) != 5004 || !strings.HasPrefix(got[2], "DataRow") {
		t.Errorf("%d lines", len(got))
	}
}

func TestBecause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	other := refuse("42601", "", "wrong")
	if because(ctx, other) != error(other) || because(ctx, nil) != nil {
		t.Error("an error was made up")
	}
	cancel(errCancelled)
	if because(ctx, other) != error(other) || codeIn(because(ctx, fmt.Errorf("select: %w", context.Canceled))) != "57014" {
		t.Error("only what was cancelled is said to be")
	}
}

func codeIn(err error) string {
	m, _ := response(err)
	return m.Code
}
