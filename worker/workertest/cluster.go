//go:build unix

package workertest

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Site is where a server lives through its lives: its data, and the relays that
// lead to it.
type Site struct {
	testing.TB
	Caller
	dir     string
	env     []string
	server  *Process
	servers int

	mu     sync.Mutex
	addr   string // empty: nobody listens
	relays []*Relay
}

// New starts a server. It has leases of one second and retries nothing later than
// it has to; settings such as ROTA_LEASE=5s say otherwise.
func New(t testing.TB, settings ...string) *Site {
	t.Helper()
	s := Vacant(t, settings...)
	s.Restart()
	return s
}

// Vacant is a site whose server was not started yet.
func Vacant(t testing.TB, settings ...string) *Site {
	t.Helper()
	s := &Site{TB: t, dir: t.TempDir()}
	s.env = append([]string{
		"ROTA_DATA=" + s.Path("data"), "ROTA_HTTP=127.0.0.1:0", "ROTA_LEASE=1s", "ROTA_WORKERS=2", "ROTA_SHUTDOWN_GRACE=1s",
	}, settings...)
	s.Caller = newCaller(t, s.Relay().URL(), s.Token)
	return s
}

// Path is a file beside the data of the server.
func (s *Site) Path(name string) string { return filepath.Join(s.dir, name) }

// Token is that of the admin.
func (s *Site) Token() string {
	text, _ := os.ReadFile(s.Path("data/admin.token")) // it is there when the server is
	return strings.TrimSpace(string(text))
}

// Relay opens a way to the server, whichever it is.
func (s *Site) Relay() *Relay {
	s.Helper()
	r := NewRelay(s.TB)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.relays = append(s.relays, r)
	r.SetTarget(s.addr)
	return r
}

// Restart kills the server, if there is one, and starts the next. It returns when
// that is ready.
func (s *Site) Restart() {
	s.Helper()
	s.Kill()
	s.server = Program(s.TB, programServer, s.env...)
	s.servers++
	s.lead(s.server.Line("ready "))
}

// Kill kills the server with SIGKILL.
func (s *Site) Kill() {
	if s.server != nil {
		s.server.Kill()
		s.lead("")
	}
}

func (s *Site) lead(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addr = addr
	for _, r := range s.relays {
		r.SetTarget(addr)
	}
}

// Until waits for something that has to be asked for.
func (s *Site) Until(what string, holds func() bool) {
	s.Helper()
	Until(s.TB, what, holds)
}

// Until waits for something that has to be asked for.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// Address is where the server listens just now.
func (s *Site) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// SetToken gives a server that was not started yet the token of its admin.
func (s *Site) SetToken(token string) {
	s.Helper()
	if err := os.MkdirAll(s.Path("data"), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(s.Path("data/admin.token"), []byte(token+"\n"), 0o600); err != nil {
		s.Fatal(err)
	}
}
