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

// startWaiting starts a statement that runs until it is cancelled.
func (c *client) startWaiting(s *testServer) {
	c.Send(&pgproto3.Query{String: "wait"})
	_ = c.Flush()
	<-s.store.running
}

func (s *testServer) cancel(key pgproto3.CancelRequest) {
	wire := s.dial()
	raw, _ := key.Encode(nil)
	_, _ = wire.Write(raw)
	if got, _ := io.ReadAll(wire); len(got) > 0 {
		s.t.Errorf("a cancel request was answered with %q", got)
	}
}

func TestCancelRequestEndsRunningStatement(t *testing.T) {
	s := newTestServer(t)
	c, other := s.client(), s.client()
	c.startWaiting(s)
	wrong := c.key
	wrong.SecretKey = []byte{1, 2, 3, 4}
	s.cancel(wrong)
	s.cancel(other.key)
	s.cancel(pgproto3.CancelRequest{ProcessID: 1, SecretKey: []byte{0, 0, 0, 0}})
	select {
	case err := <-s.store.ended:
		t.Fatalf("the statement was ended by a wrong key: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	s.cancel(c.key)
	wantLines(t, c.receiveUntilReady(1), []string{"ERROR 57014 canceling statement due to user request", "ReadyForQuery I"})
	s.cancel(c.key) // nothing runs
	if got := c.query("rows 1"); got[len(got)-1] != "ReadyForQuery I" {
		t.Error(got)
	}
}

func TestCancelRequestEndsExtendedQuery(t *testing.T) {
	s := newTestServer(t)
	c := s.client()
	c.Send(&pgproto3.Parse{Query: "wait"})
	c.Send(&pgproto3.Bind{})
	c.Send(&pgproto3.Execute{})
	c.Send(&pgproto3.Sync{})
	_ = c.Flush()
	<-s.store.running
	s.cancel(c.key)
	wantLines(t, c.receiveUntilReady(1), []string{"ParseComplete", "BindComplete", "ERROR 57014 canceling statement due to user request", "ReadyForQuery I"})
}

func TestStatementTimeoutCancelsStatement(t *testing.T) {
	c := newTestServer(t).client()
	c.query("set statement_timeout=300")
	wantLines(t, c.query("wait"), []string{"ERROR 57014 canceling statement due to statement timeout", "ReadyForQuery I"})
	wantLines(t, c.query("begin; wait"), []string{"CommandComplete BEGIN", "ERROR 57014 canceling statement due to statement timeout", "ReadyForQuery E"})
}

// A disconnect cancels the running statement. After a Terminate message the server first runs the
// statements that were sent before it.
func TestDisconnectCancelsRunningStatement(t *testing.T) {
	s := newTestServer(t)
	c := s.client()
	c.startWaiting(s)
	_ = c.wire.Close()
	if err := <-s.store.ended; !errors.Is(err, errClientGone) {
		t.Errorf("the statement ended with %v", err)
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
	t.Error("the statement sent before Terminate was not run")
}

func TestShutdownFinishesRunningStatement(t *testing.T) {
	s := newTestServer(t)
	idle, busy, within := s.client(), s.client(), s.client()
	within.query("begin")
	busy.Send(&pgproto3.Query{String: "linger"})
	busy.Send(&pgproto3.Query{String: "write late"})
	_ = busy.Flush()
	<-s.store.running
	done := make(chan error)
	go func() { done <- s.stop() }()
	shutdownError := "FATAL 57P01 terminating connection due to administrator command"
	wantLines(t, idle.readToEnd(), []string{shutdownError, "closed"})
	wantLines(t, within.readToEnd(), []string{shutdownError, "closed"})
	wantLines(t, busy.readToEnd(), []string{"CommandComplete LINGER", "ReadyForQuery I", shutdownError, "closed"})
	if err := <-done; err != nil || s.store.String() != "" {
		t.Errorf("%v; written: %q", err, s.store)
	}
	if _, err := net.Dial("tcp", s.addr); err == nil {
		t.Error("the server still listens")
	}
}

func TestShutdownCancelsStatementAfterGrace(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.Grace = 50 * time.Millisecond })
	c := s.client()
	c.startWaiting(s)
	pending := s.dial()
	began := time.Now()
	if err := s.stop(); err != nil || time.Since(began) > 15*time.Second { // without a cancellation the statement takes 20 s
		t.Errorf("%v after %v", err, time.Since(began))
	}
	wantLines(t, c.readToEnd(), []string{"FATAL 57P01 terminating connection due to administrator command", "closed"})
	wantLines(t, readToEnd(pending), []string{"closed"})
}

func TestPanicEndsOnlyItsConnection(t *testing.T) {
	s := newTestServer(t)
	c, other := s.client(), s.client()
	wantLines(t, c.query("panic"), []string{"FATAL XX000 internal error; see the server log for details", "closed"})
	if got := other.query("rows 1"); len(got) != 4 {
		t.Error(got)
	}
	if n := s.server.sessions.count(); n > 1 {
		t.Errorf("%d sessions are counted", n)
	}
}

// Large answers arrive complete in both protocols.
func TestLargeAnswersArriveComplete(t *testing.T) {
	c := newTestServer(t).client()
	if got := c.query("wide 5000"); len(got) != 5003 {
		t.Errorf("%d lines", len(got))
	}
	got := c.exchange(&pgproto3.Parse{Query: "wide 5000"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{})
	if len(got) != 5004 || !strings.HasPrefix(got[2], "DataRow") {
		t.Errorf("%d lines", len(got))
	}
}

func TestCancelReason(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	other := errorf("42601", "", "wrong")
	if cancelReason(ctx, other) != error(other) || cancelReason(ctx, nil) != nil {
		t.Error("cancelReason changed the error of a statement that was not cancelled")
	}
	cancel(errCancelled)
	if cancelReason(ctx, other) != error(other) || stateOf(cancelReason(ctx, fmt.Errorf("select: %w", context.Canceled))) != "57014" {
		t.Error("cancelReason must replace only cancellation errors")
	}
}

func stateOf(err error) string {
	m, _ := response(err)
	return m.Code
}
