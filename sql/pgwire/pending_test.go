package pgwire

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func (p *pendingConns) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// hold opens connections that send nothing, from an address of this machine.
func (s *testServer) hold(from string, n int) {
	s.t.Helper()
	want := s.server.pending.count() + n
	for range n {
		wire, err := dialerFrom(from)(context.Background(), "tcp", s.addr)
		if err != nil {
			s.t.Skipf("this machine has no address %s: %v", from, err)
		}
		s.t.Cleanup(func() { _ = wire.Close() })
	}
	s.waitPending(want)
}

func (s *testServer) waitPending(want int) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); s.server.pending.count() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%d connections are pending, want %d", s.server.pending.count(), want)
		}
	}
}

func dialerFrom(address string) pgconn.DialFunc {
	return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).DialContext
}

// logIn logs in from an address and returns the error. The connection stays open until the test ends.
func (s *testServer) logIn(from, options string) error {
	s.t.Helper()
	config, err := pgconn.ParseConfig(s.url(options))
	if err != nil {
		s.t.Fatal(err)
	}
	config.DialFunc = dialerFrom(from)
	conn, err := pgconn.ConnectConfig(context.Background(), config)
	if err == nil {
		s.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	}
	return err
}

func TestConnectionsWithoutLoginAreCappedPerAddressAndInAll(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.PendingPerAddressMax = 2; c.PendingMax = 3 })
	for range 5 { // a connection that has logged in does not count
		if err := s.logIn("127.0.0.1", ""); err != nil {
			t.Fatal(err)
		}
	}
	s.hold("127.0.0.1", 2)
	err := s.logIn("127.0.0.1", "")
	if codeOf(err) != "53300" || !strings.Contains(err.Error(), "too many connections from this address have not logged in yet: at most 2 are allowed") {
		t.Errorf("the address above its cap reads %v", err)
	}
	if err := s.logIn("127.0.0.2", ""); err != nil {
		t.Errorf("another address reads %v", err)
	}
	s.hold("127.0.0.2", 1)
	err = s.logIn("127.0.0.3", "")
	if codeOf(err) != "53300" || !strings.Contains(err.Error(), "too many connections have not logged in yet: at most 3 are allowed") {
		t.Errorf("a client above the cap of all reads %v", err)
	}
}

func TestRefusedClientReadsErrorWhateverItSends(t *testing.T) {
	s := newTestServer(t, func(c *Config) {
		c.PendingMax, c.PendingPerAddressMax = 9, 1
		c.TLS = &tls.Config{Certificates: []tls.Certificate{certificate(t, false)}}
	})
	s.limitRefusals(refusalsMax, 50*time.Millisecond)
	s.hold("127.0.0.1", 1)
	const want = "FATAL 53300 too many connections from this address have not logged in yet: at most 1 are allowed; wait until logins in progress have ended, then try again"
	wantLines(t, readToEnd(s.dial()), []string{want, "closed"}) // a client that sends nothing
	s.limitRefusals(refusalsMax, time.Hour)
	for _, mode := range []string{"disable", "prefer", "require"} {
		if err := s.connect(mode); codeOf(err) != "53300" {
			t.Errorf("with sslmode=%s a client reads %v", mode, err)
		}
	}
	s.psqlReads(t, "too many connections from this address have not logged in yet")
}

// connect connects with an sslmode and returns the error.
func (s *testServer) connect(sslmode string) error {
	_, err := pgconn.Connect(context.Background(), strings.Replace(s.url(""), "sslmode=disable", "sslmode="+sslmode, 1))
	return err
}

// psqlReads checks the error that psql prints. Its default is sslmode=prefer: it sends a request for TLS first.
func (s *testServer) psqlReads(t *testing.T, want string) {
	t.Run("psql", func(t *testing.T) {
		if _, err := exec.LookPath("psql"); err != nil {
			t.Fatal("psql is not installed; make test installs it")
		}
		out, err := exec.Command("psql", strings.Replace(s.url(""), "sslmode=disable", "sslmode=prefer", 1), "-c", "one").CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("psql prints %s", out)
		}
	})
}

// limitRefusals sets how many refused connections the server waits for, and how long.
func (s *testServer) limitRefusals(most int, wait time.Duration) {
	s.server.refusals.mu.Lock()
	defer s.server.refusals.mu.Unlock()
	s.server.refusals.max, s.server.refusals.time = most, wait
}

// A client that sends its packets reads the error also while the server waits for as many refused connections as it may.
// The connection that waited longest without a packet then reads its error at once.
func TestRefusalsOfSilentClientsDoNotDisturbOthers(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.PendingMax = 1 })
	s.limitRefusals(2, time.Hour)
	s.hold("127.0.0.1", 1)
	fill := func() (oldest, silent net.Conn) {
		t.Helper()
		s.waitRefusals(0)
		oldest = s.dial()
		s.waitRefusals(1)
		silent = s.dial()
		s.waitRefusals(2)
		return oldest, silent
	}
	oldest, silent := fill()
	wire := s.dial()
	if got := readToEnd(oldest); !strings.HasPrefix(got[0], "FATAL 53300") {
		t.Error(got)
	}
	send(t, wire, startupPacket(tlsRequestCode, ""))
	var answer [1]byte
	if _, err := io.ReadFull(wire, answer[:]); err != nil || answer[0] != 'N' {
		t.Fatalf("the request for TLS is answered with %q, %v", answer, err)
	}
	send(t, wire, startupPacket(protocol30, "user\x00admin\x00\x00"))
	if got := readToEnd(wire); !strings.HasPrefix(got[0], "FATAL 53300") {
		t.Error(got)
	}
	_ = silent.Close()
	fill()
	s.psqlReads(t, "too many connections from this address have not logged in yet")
}

func (s *testServer) waitRefusals(want int) {
	s.t.Helper()
	count := func() int {
		s.server.refusals.mu.Lock()
		defer s.server.refusals.mu.Unlock()
		return s.server.refusals.conns.Len()
	}
	for deadline := time.Now().Add(20 * time.Second); count() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%d connections are being refused, want %d", count(), want)
		}
	}
}

func TestSlowLoginFreesItsPlace(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.PendingMax = 1; c.LoginTime = 300 * time.Millisecond })
	wire := s.dial()
	send(t, wire, []byte{0, 0})
	wantLines(t, readToEnd(wire), []string{"closed"})
	s.waitPending(0)
}

func TestCancelRequestIsExecutedAboveTheCap(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.PendingMax = 1 })
	c := s.client()
	s.waitPending(0)
	s.hold("127.0.0.1", 1)
	c.startWaiting(s)
	s.cancel(c.key)
	wantLines(t, c.receiveUntilReady(1), []string{"ERROR 57014 canceling statement due to user request", "ReadyForQuery I"})
}
