package pgwire

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

func TestLimitsOfMessages(t *testing.T) {
	small := func(c *Config) { c.MessageMax = 2000; c.MessageTime = 300 * time.Millisecond }
	for _, test := range []struct {
		name, raw, want string
	}{
		{"too long", "Q\x00\x00\x10\x00", "FATAL 08P01 a message of 4092 bytes is longer than the 2000 that are taken; send less at once"},
		{"huge", "Q\xff\xff\xff\xff", "FATAL 08P01 a message of 4294967291 bytes is longer than the 2000 that are taken; send less at once"},
		{"too short", "Q\x00\x00\x00\x03", "FATAL 08P01 invalid message length"},
		{"a type that is none", "!\x00\x00\x00\x04", "FATAL 08P01 invalid frontend message type 33"},
		{"half of one", "Q\x00\x00", "FATAL 08P01 the rest of a message did not come in time"},
		{"the body missing", "Q\x00\x00\x00\x09one", "FATAL 08P01 the rest of a message did not come in time"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newSite(t, small).client()
			send(t, c.wire, []byte(test.raw))
			same(t, c.rest(), []string{test.want, "closed"})
		})
	}
	t.Run("as long as may be", func(t *testing.T) {
		c := newSite(t, small).client()
		got := c.query("rows 1" + strings.Repeat(" ", 1993))
		if got[len(got)-1] != "ReadyForQuery I" {
			t.Error(got)
		}
	})
}

// TestTheRefusalArrives holds that a client that goes on sending a message which is
// too long reads why it was refused.
func TestTheRefusalArrives(t *testing.T) {
	c := newSite(t, func(c *Config) { c.MessageMax = 1 << 20 }).client()
	m, _ := (&pgproto3.Query{String: strings.Repeat("x", 20<<20)}).Encode(nil)
	send(t, c.wire, m)
	got := c.rest()
	if !strings.HasPrefix(got[0], "FATAL 08P01") {
		t.Error(got)
	}
}

func TestIdleClients(t *testing.T) {
	s := newSite(t, func(c *Config) { c.IdleTime = 100 * time.Millisecond; c.IdleInTransaction = time.Hour })
	same(t, s.client().rest(), []string{"FATAL 57P05 terminating connection due to idle-session timeout", "closed"})
	s = newSite(t, func(c *Config) { c.IdleTime = time.Hour; c.IdleInTransaction = 200 * time.Millisecond })
	c := s.client()
	c.query("begin")
	same(t, c.rest(), []string{"FATAL 25P03 terminating connection due to idle-in-transaction timeout", "closed"})
	c = s.client()
	c.query("set idle_session_timeout=20") // milliseconds, not the hour that the server has
	same(t, c.rest(), []string{"FATAL 57P05 terminating connection due to idle-session timeout", "closed"})
}

func TestSlowLogins(t *testing.T) {
	s := newSite(t, func(c *Config) { c.LoginTime = 500 * time.Millisecond })
	wire := s.dial()
	send(t, wire, []byte{0, 0})
	same(t, rest(wire), []string{"closed"})
	h := s.handshake("admin", false)
	h.hear()
	if got := spell(h.hear()); got != "FATAL 57014 canceling authentication due to timeout" {
		t.Error(got)
	}
	newSite(t, func(c *Config) { c.LoginTime = 20 * time.Second }).client() // who is in time stays
}

func TestTooManyConnections(t *testing.T) {
	s := newSite(t, func(c *Config) { c.ConnectionsMax = 2; c.PendingMax = 3 })
	one, two := s.client(), s.client()
	_, err := pgconn.Connect(context.Background(), s.url(""))
	if codeOf(err) != "53300" {
		t.Errorf("got %v", err)
	}
	one.Send(&pgproto3.Terminate{})
	_ = one.Flush()
	for deadline := time.Now().Add(20 * time.Second); s.server.sessions.Load() != 1 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	three := s.client()
	same(t, three.query("begin"), []string{"CommandComplete BEGIN", "ReadyForQuery T"})
	same(t, two.query("begin"), []string{"CommandComplete BEGIN", "ReadyForQuery T"})
}

func TestTooManyAtTheDoor(t *testing.T) {
	s := newSite(t, func(c *Config) { c.PendingMax = 2 })
	s.dial()
	s.dial()
	for s.server.open.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	same(t, rest(s.dial()), []string{"FATAL 53300 sorry, too many clients already; try again later", "closed"})
}

func TestLimitsOfNames(t *testing.T) {
	s := newSite(t, func(c *Config) { c.MessageMax = 10_000 })
	c := s.client()
	parse := func(n int, text string) []string {
		return c.say(&pgproto3.Parse{Name: fmt.Sprint("s", n), Query: text}, &pgproto3.Sync{})
	}
	for n := range statementsMost {
		if got := parse(n, "one"); got[0] != "ParseComplete" {
			t.Fatal(n, got)
		}
	}
	if got := parse(statementsMost, "one"); got[0] != "ERROR 54000 a connection has at most 1000 prepared statements; close those that are not needed" {
		t.Error(got)
	}
	c.query("begin")
	for n := range portalsMost + 1 {
		got := c.say(&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", n), PreparedStatement: "s1"}, &pgproto3.Sync{})
		if (got[0] == "BindComplete") != (n < portalsMost) {
			t.Fatal(n, got)
		}
	}
	c.query("rollback")
	c.query("forget")
	for n := range 3 {
		got := parse(n, "one "+strings.Repeat("x", 9_000))
		if (got[0] == "ParseComplete") != (n < 2) {
			t.Error(n, got)
		}
	}
	if got := parse(1, "one"); !strings.Contains(got[0], "42P05") {
		t.Error(got)
	}
	c.query("forget")
	c.query("begin")
	c.say(&pgproto3.Parse{Name: "e", Query: "echo"}, &pgproto3.Sync{})
	for n := range 3 {
		got := c.say(&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", n), PreparedStatement: "e", Parameters: [][]byte{bytes.Repeat([]byte("x"), 9_000)}, ParameterFormatCodes: []int16{1}}, &pgproto3.Sync{})
		if (got[0] == "BindComplete") != (n < 2) {
			t.Error(n, got)
		}
	}
}

// TestAClientThatDoesNotRead is let go of.
func TestAClientThatDoesNotRead(t *testing.T) {
	s := newSite(t, func(c *Config) { c.WriteTime = 200 * time.Millisecond })
	c := s.client()
	c.Send(&pgproto3.Query{String: "wide 50000"})
	_ = c.Flush()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if s.server.open.Load() == 0 {
			return
		}
	}
	t.Error("it is still there")
}

// TestReadingAheadIsBounded sends for ever while a statement runs.
func TestReadingAheadIsBounded(t *testing.T) {
	s := newSite(t)
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

// TestRowsThatAreNotFetchedAreBounded: of one connection, and given back in the end.
func TestRowsThatAreNotFetchedAreBounded(t *testing.T) {
	s := newSite(t)
	c := s.client()
	c.query("begin")
	c.say(&pgproto3.Parse{Name: "wide", Query: "wide 40000"}, &pgproto3.Sync{})
	fetch := func(portal string) []string {
		return c.say(&pgproto3.Bind{DestinationPortal: portal, PreparedStatement: "wide"}, &pgproto3.Execute{Portal: portal, MaxRows: 1}, &pgproto3.Sync{})
	}
	if got := fetch("a"); !slices.Contains(got, "PortalSuspended") {
		t.Fatal(got)
	}
	if got := fetch("b"); !strings.HasPrefix(got[len(got)-2], "ERROR 54000 rows that were not fetched") {
		t.Errorf("%.200q", got)
	}
	if held := s.server.kept.Load(); held < 40_000_000 || held > keptMost {
		t.Errorf("%d bytes are held", held)
	}
	c.query("rollback")
	if held := s.server.kept.Load(); held != 0 {
		t.Errorf("%d bytes are held of portals that are gone", held)
	}
}
