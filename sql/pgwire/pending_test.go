package pgwire

import (
	"context"
	"crypto/tls"
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
	s.hold("127.0.0.1", 1)
	const want = "FATAL 53300 too many connections from this address have not logged in yet: at most 1 are allowed; wait until logins in progress have ended, then try again"
	wantLines(t, readToEnd(s.dial()), []string{want, "closed"}) // a client that sends nothing
	for _, mode := range []string{"disable", "prefer", "require"} {
		config, err := pgconn.ParseConfig(strings.Replace(s.url(""), "sslmode=disable", "sslmode="+mode, 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pgconn.ConnectConfig(context.Background(), config); codeOf(err) != "53300" {
			t.Errorf("with sslmode=%s a client reads %v", mode, err)
		}
	}
	if _, err := exec.LookPath("psql"); err != nil {
		return
	}
	out, err := exec.Command("psql", strings.Replace(s.url(""), "sslmode=disable", "sslmode=prefer", 1), "-c", "one").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "too many connections from this address have not logged in yet") {
		t.Errorf("psql prints %s", out)
	}
}

// The error reaches clients also while more connections are refused than the server answers with patience.
func TestRefusalsAreBounded(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.PendingMax = 1 })
	s.hold("127.0.0.1", 1)
	for range refusalsMax {
		s.server.refusals <- struct{}{}
	}
	got := readToEnd(s.dial())
	if !strings.HasPrefix(got[0], "FATAL 53300") {
		t.Error(got)
	}
	for range refusalsMax {
		<-s.server.refusals
	}
}

func TestSlowLoginFreesItsPlace(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.PendingMax = 1; c.LoginTime = 300 * time.Millisecond })
	wire := s.dial()
	send(t, wire, []byte{0, 0})
	wantLines(t, readToEnd(wire), []string{"closed"})
	s.waitPending(0)
}

func TestCancelRequestIsObeyedAboveTheCap(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.PendingMax = 1 })
	c := s.client()
	s.waitPending(0)
	s.hold("127.0.0.1", 1)
	c.startWaiting(s)
	s.cancel(c.key)
	wantLines(t, c.receiveUntilReady(1), []string{"ERROR 57014 canceling statement due to user request", "ReadyForQuery I"})
}

func TestAddressGroup(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7:5000": "192.0.2.7", "[::ffff:192.0.2.7]:5000": "192.0.2.7", "[2001:db8:1:2:3::9]:1": "2001:db8:1:2::/64", "[2001:db8:1:2:ffff::1]:1": "2001:db8:1:2::/64",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := addressGroup(tcp); got != want {
			t.Errorf("%s counts as %s, want %s", address, got, want)
		}
	}
}
