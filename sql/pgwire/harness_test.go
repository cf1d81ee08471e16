package pgwire

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/access"
)

const password = "correct horse"

var verifier = access.NewVerifier(password)

// testServer is a server with fake sessions, on a port of this machine.
type testServer struct {
	t      testing.TB
	server *Server
	store  *fakeStore
	addr   string
	stop   func() error // what Serve returned
}

// passwordOf returns the verifier of the test password for some users.
func passwordOf(users ...string) func(context.Context, string) (access.Verifier, access.Identity, error) {
	return func(_ context.Context, user string) (access.Verifier, access.Identity, error) {
		if !slices.Contains(users, user) {
			return access.Verifier{}, access.Identity{}, nil
		}
		return verifier, access.Identity{User: user}, nil
	}
}

// newTestServer starts a server until the test ends, and then checks that no goroutine is left.
func newTestServer(t testing.TB, change ...func(*Config)) *testServer {
	t.Helper()
	s := &testServer{t: t, store: newFakeStore()}
	config := Config{
		Session:    func(access.Identity) Session { return newFakeSession(s.store) },
		Verifier:   passwordOf("admin"),
		GuessDelay: time.Millisecond,
		Version:    "0.9",
	}
	for _, one := range change {
		one(&config)
	}
	server, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- server.Serve(ctx, listener) }()
	s.server, s.addr = server, listener.Addr().String()
	s.stop = func() error {
		cancel()
		err := <-result
		result <- err
		return err
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if _, fuzzing := t.(*testing.F); !fuzzing { // the fuzzer has goroutines of its own
			waitForGoroutines(t, before)
		}
	})
	return s
}

// waitForGoroutines waits for goroutines to end that are about to.
func waitForGoroutines(t testing.TB, before int) {
	t.Helper()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	all := make([]byte, 1<<16)
	t.Errorf("%d goroutines are left:\n%s", runtime.NumGoroutine()-before, all[:runtime.Stack(all, true)])
}

func (s *testServer) url(more string) string {
	return fmt.Sprintf("postgres://admin:%s@%s/rota?sslmode=disable%s", strings.ReplaceAll(password, " ", "%20"), s.addr, more)
}

// dial opens a bare connection.
func (s *testServer) dial() net.Conn {
	s.t.Helper()
	wire, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = wire.SetDeadline(time.Now().Add(20 * time.Second))
	s.t.Cleanup(func() { _ = wire.Close() })
	return wire
}

// client is a connection that has logged in, spoken message by message.
type client struct {
	t    testing.TB
	wire net.Conn
	*pgproto3.Frontend
	key pgproto3.CancelRequest
}

func (s *testServer) client() *client { return s.clientOf("admin") }

// clientOf logs in as a user with the test password.
func (s *testServer) clientOf(user string) *client {
	s.t.Helper()
	conn, err := pgconn.Connect(context.Background(), strings.Replace(s.url(""), "admin", user, 1))
	if err != nil {
		s.t.Fatal(err)
	}
	taken, err := conn.Hijack()
	if err != nil {
		s.t.Fatal(err)
	}
	_ = taken.Conn.SetDeadline(time.Now().Add(20 * time.Second))
	s.t.Cleanup(func() { _ = taken.Conn.Close() })
	return &client{s.t, taken.Conn, taken.Frontend, pgproto3.CancelRequest{ProcessID: taken.PID, SecretKey: taken.SecretKey}}
}

// exchange sends messages and returns the answers up to the last ReadyForQuery that
// they ask for, or to the end of the connection, one on a line.
func (c *client) exchange(list ...pgproto3.FrontendMessage) []string {
	c.t.Helper()
	ready := 0
	for _, m := range list {
		switch m.(type) {
		case *pgproto3.Query, *pgproto3.Sync, *pgproto3.FunctionCall:
			ready++
		}
		c.Send(m)
	}
	if err := c.Flush(); err != nil {
		c.t.Log(err)
	}
	return c.receiveUntilReady(ready)
}

func (c *client) receiveUntilReady(ready int) (lines []string) {
	c.t.Helper()
	for ready > 0 {
		m, err := c.Receive()
		if err != nil {
			return append(lines, ended(err))
		}
		lines = append(lines, formatMessage(m))
		if _, is := m.(*pgproto3.ReadyForQuery); is {
			ready--
		}
	}
	return lines
}

func (c *client) query(text string) []string {
	c.t.Helper()
	return c.exchange(&pgproto3.Query{String: text})
}

func ended(err error) string {
	if stray, is := err.(net.Error); is && stray.Timeout() {
		return "timeout"
	}
	return "closed"
}

// formatMessage writes a message on one line.
func formatMessage(m pgproto3.BackendMessage) string {
	switch m := m.(type) {
	case *pgproto3.RowDescription:
		var fields []string
		for _, f := range m.Fields {
			fields = append(fields, fmt.Sprintf("%s:%d/%d/%d", f.Name, f.DataTypeOID, f.DataTypeSize, f.Format))
		}
		return "RowDescription " + strings.Join(fields, " ")
	case *pgproto3.DataRow:
		var list []string
		for _, v := range m.Values {
			if v == nil {
				list = append(list, "NULL")
				continue
			}
			list = append(list, fmt.Sprintf("%q", v))
		}
		return "DataRow " + strings.Join(list, " ")
	case *pgproto3.CommandComplete:
		return "CommandComplete " + string(m.CommandTag)
	case *pgproto3.ReadyForQuery:
		return "ReadyForQuery " + string(m.TxStatus)
	case *pgproto3.ErrorResponse:
		line := fmt.Sprintf("%s %s %s", m.Severity, m.Code, m.Message)
		if m.Position > 0 {
			line += fmt.Sprintf(" at %d", m.Position)
		}
		if m.Hint != "" {
			line += "; " + m.Hint
		}
		return line
	case *pgproto3.NoticeResponse:
		return fmt.Sprintf("%s %s %s", m.Severity, m.Code, m.Message)
	case *pgproto3.ParameterStatus:
		return "ParameterStatus " + m.Name + "=" + m.Value
	case *pgproto3.ParameterDescription:
		return fmt.Sprint("ParameterDescription ", m.ParameterOIDs)
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m), "*pgproto3.")
}

// readToEnd reads what comes until the connection is closed, as messages.
func readToEnd(wire net.Conn) []string {
	return readFrontendToEnd(pgproto3.NewFrontend(wire, io.Discard))
}

// readToEnd reads what comes until the connection is closed. It does not read the wire itself:
// on a slow machine the Frontend has buffered some of the messages already.
func (c *client) readToEnd() []string { return readFrontendToEnd(c.Frontend) }

func readFrontendToEnd(f *pgproto3.Frontend) (lines []string) {
	for {
		m, err := f.Receive()
		if err != nil {
			return append(lines, ended(err))
		}
		lines = append(lines, formatMessage(m))
	}
}

func wantLines(t *testing.T, got, want []string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}
