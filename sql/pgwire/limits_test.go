package pgwire

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

func TestMessageLimits(t *testing.T) {
	small := func(c *Config) { c.MessageMax = 2000; c.MessageTime = 300 * time.Millisecond }
	for _, test := range []struct {
		name, raw, want string
	}{
		{"too long", "Q\x00\x00\x10\x00", "FATAL 08P01 message of 4092 bytes exceeds the limit of 2000 bytes; split it into smaller messages"},
		{"huge", "Q\xff\xff\xff\xff", "FATAL 08P01 message of 4294967291 bytes exceeds the limit of 2000 bytes; split it into smaller messages"},
		{"too short", "Q\x00\x00\x00\x03", "FATAL 08P01 invalid message length"},
		{"unknown type", "!\x00\x00\x00\x04", "FATAL 08P01 invalid frontend message type 33"},
		{"incomplete header", "Q\x00\x00", "FATAL 08P01 the rest of the message did not arrive within 300ms"},
		{"incomplete body", "Q\x00\x00\x00\x09one", "FATAL 08P01 the rest of the message did not arrive within 300ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newTestServer(t, small).client()
			send(t, c.wire, []byte(test.raw))
			wantLines(t, c.readToEnd(), []string{test.want, "closed"})
		})
	}
	t.Run("maximum length", func(t *testing.T) {
		c := newTestServer(t, small).client()
		got := c.query("rows 1" + strings.Repeat(" ", 1993))
		if got[len(got)-1] != "ReadyForQuery I" {
			t.Error(got)
		}
	})
}

// A client that keeps sending a message that is too long can read the error.
func TestOversizedMessageErrorReachesClient(t *testing.T) {
	c := newTestServer(t, func(c *Config) { c.MessageMax = 1 << 20 }).client()
	m, _ := (&pgproto3.Query{String: strings.Repeat("x", 20<<20)}).Encode(nil)
	send(t, c.wire, m)
	got := c.readToEnd()
	if !strings.HasPrefix(got[0], "FATAL 08P01") {
		t.Error(got)
	}
}

func TestIdleClientIsDisconnected(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.IdleTime = 100 * time.Millisecond; c.IdleInTransaction = time.Hour })
	wantLines(t, s.client().readToEnd(), []string{"FATAL 57P05 terminating connection due to idle-session timeout", "closed"})
	s = newTestServer(t, func(c *Config) { c.IdleTime = time.Hour; c.IdleInTransaction = 200 * time.Millisecond })
	c := s.client()
	c.query("begin")
	wantLines(t, c.readToEnd(), []string{"FATAL 25P03 terminating connection due to idle-in-transaction timeout", "closed"})
	c = s.client()
	c.query("set idle_session_timeout=20") // 20 ms instead of the server's hour
	wantLines(t, c.readToEnd(), []string{"FATAL 57P05 terminating connection due to idle-session timeout", "closed"})
}

func TestLoginTimeout(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.LoginTime = 500 * time.Millisecond })
	wire := s.dial()
	send(t, wire, []byte{0, 0})
	wantLines(t, readToEnd(wire), []string{"closed"})
	h := s.handshake("admin", false)
	h.receive()
	if got := formatMessage(h.receive()); got != "FATAL 57014 canceling authentication due to timeout" {
		t.Error(got)
	}
	newTestServer(t, func(c *Config) { c.LoginTime = 20 * time.Second }).client() // a login in time succeeds
}

func TestConnectionLimitRefusesLogin(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.ConnectionsMax = 2; c.PendingMax = 3 })
	one, two := s.client(), s.client()
	_, err := pgconn.Connect(context.Background(), s.url(""))
	if codeOf(err) != "53300" {
		t.Errorf("got %v", err)
	}
	one.Send(&pgproto3.Terminate{})
	_ = one.Flush()
	for deadline := time.Now().Add(20 * time.Second); s.server.sessions.count() != 1 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	three := s.client()
	wantLines(t, three.query("begin"), []string{"CommandComplete BEGIN", "ReadyForQuery T"})
	wantLines(t, two.query("begin"), []string{"CommandComplete BEGIN", "ReadyForQuery T"})
}

func TestPreparedStatementAndPortalLimits(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.MessageMax = 10_000 })
	c := s.client()
	parse := func(n int, text string) []string {
		return c.exchange(&pgproto3.Parse{Name: fmt.Sprint("s", n), Query: text}, &pgproto3.Sync{})
	}
	for n := range statementsMax {
		if got := parse(n, "one"); got[0] != "ParseComplete" {
			t.Fatal(n, got)
		}
	}
	if got := parse(statementsMax, "one"); got[0] != "ERROR 54000 too many prepared statements: a connection can have at most 1000; close prepared statements that are no longer needed" {
		t.Error(got)
	}
	c.query("begin")
	for n := range portalsMax + 1 {
		got := c.exchange(&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", n), PreparedStatement: "s1"}, &pgproto3.Sync{})
		if (got[0] == "BindComplete") != (n < portalsMax) {
			t.Fatal(n, got)
		}
	}
	c.query("rollback")
	c.query("forget")
	if got := parse(1, "one"); got[0] != "ParseComplete" {
		t.Error(got)
	}
	if got := parse(1, "one"); !strings.Contains(got[0], "42P05") {
		t.Error(got)
	}
}

// Arguments of portals, prepared statements and messages count, and the connection stays usable after a refusal.
func TestIdleConnectionsKeepBoundedMemory(t *testing.T) {
	s := newTestServer(t)
	argument := bytes.Repeat([]byte("x"), 10<<20)
	var clients []*client
	refused := map[string]bool{}
	for range 6 {
		c := s.client()
		clients = append(clients, c)
		c.query("begin")
		c.exchange(&pgproto3.Parse{Name: "e", Query: "echo"}, &pgproto3.Sync{})
		for n := range 5 {
			got := c.exchange(&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", n), PreparedStatement: "e", Parameters: [][]byte{argument}}, &pgproto3.Sync{})
			for _, state := range []string{"54000", "53200"} {
				if strings.HasPrefix(got[0], "ERROR "+state) && strings.Contains(got[0], "; ") {
					refused[state] = true
				}
			}
			if got[0] != "BindComplete" && !strings.HasPrefix(got[0], "ERROR 5") {
				t.Fatal(got)
			}
		}
		if kept := s.store.memory.Load(); kept > 256<<20 {
			t.Fatalf("idle connections keep %d bytes", kept)
		}
	}
	if !refused["54000"] || !refused["53200"] {
		t.Errorf("refused with %v, want 54000 for one connection and 53200 for all", refused)
	}
	for _, c := range clients {
		wantLines(t, c.query("rollback"), []string{"CommandComplete ROLLBACK", "ReadyForQuery I"})
		wantLines(t, c.query("one")[1:2], []string{`DataRow "1" "x y" "t"`})
	}
	if kept := s.store.memory.Load(); kept != 0 {
		t.Errorf("%d bytes are counted for closed portals", kept)
	}
}

// The text of a refused message is not kept; its client gets an error and goes on.
func TestMessageWithoutMemoryIsRefused(t *testing.T) {
	s := newTestServer(t)
	s.store.memory.Store(256 << 20) // other sessions keep everything
	c := s.client()
	long := "one " + strings.Repeat(" ", 1<<20)
	if got := c.query(long); len(got) != 2 || !strings.HasPrefix(got[0], "ERROR 53200") || got[1] != "ReadyForQuery I" {
		t.Errorf("%.200q", got)
	}
	if got := c.exchange(&pgproto3.Parse{Name: "s", Query: long}, &pgproto3.Sync{}); !strings.HasPrefix(got[0], "ERROR 53200") {
		t.Errorf("%.200q", got)
	}
	if got := c.query("one"); got[len(got)-1] != "ReadyForQuery I" || strings.HasPrefix(got[0], "ERROR") {
		t.Errorf("a short query is refused: %.200q", got)
	}
	s.store.memory.Store(0)
	if got := c.query(long); strings.HasPrefix(got[0], "ERROR") {
		t.Errorf("%.200q", got)
	}
}

func TestClientThatDoesNotReadIsDisconnected(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.WriteTime = 200 * time.Millisecond })
	c := s.client()
	c.Send(&pgproto3.Query{String: "wide 50000"})
	_ = c.Flush()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if s.server.sessions.count() == 0 {
			return
		}
	}
	t.Error("the connection is still open")
}

// A client sends without end while a statement runs.
func TestReadAheadIsBounded(t *testing.T) {
	s := newTestServer(t)
	c := s.client()
	c.Send(&pgproto3.Query{String: "wait"})
	_ = c.Flush()
	<-s.store.running
	m, _ := (&pgproto3.Query{String: "one " + strings.Repeat(" ", 100_000)}).Encode(nil)
	_ = c.wire.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
	sent := 0
	for sent < 1000 {
		if _, err := c.wire.Write(m); err != nil {
			break
		}
		sent++
	}
	if sent == 1000 {
		t.Error("100 MB were read ahead")
	}
	_ = c.wire.Close()
}
