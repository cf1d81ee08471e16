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

// Cluster is a server that a test can kill and restart: its data, and the proxies that lead
// to it.
type Cluster struct {
	testing.TB
	Client
	dir     string
	env     []string
	server  *Process
	servers int

	mu      sync.Mutex
	addr    string // empty: no server listens
	proxies []*Proxy
}

// New starts a server with leases of one second. Settings such as ROTA_LEASE=5s override the
// defaults of the tests.
func New(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	s := NewStopped(t, settings...)
	s.Restart()
	return s
}

// NewStopped returns a cluster whose server is not started yet.
func NewStopped(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	s := &Cluster{TB: t, dir: t.TempDir()}
	s.env = append([]string{
		"ROTA_DATA=" + s.Path("data"), "ROTA_HTTP=127.0.0.1:0", "ROTA_LEASE=1s", "ROTA_WORKERS=2", "ROTA_SHUTDOWN_GRACE=1s",
	}, settings...)
	s.Client = newClient(t, s.NewProxy().URL(), s.Token)
	return s
}

// Path is the path of a file beside the data of the server.
func (s *Cluster) Path(name string) string { return filepath.Join(s.dir, name) }

// Token is the token of the admin.
func (s *Cluster) Token() string {
	text, _ := os.ReadFile(s.Path("data/admin.token")) // it exists once the server has started
	return strings.TrimSpace(string(text))
}

// NewProxy opens a proxy to the server; it follows restarts.
func (s *Cluster) NewProxy() *Proxy {
	s.Helper()
	r := NewProxy(s.TB)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proxies = append(s.proxies, r)
	r.SetTarget(s.addr)
	return r
}

// Restart kills the server, if it runs, and starts it again. It returns when the server is
// ready.
func (s *Cluster) Restart() {
	s.Helper()
	s.Kill()
	s.server = StartProgram(s.TB, programServer, s.env...)
	s.servers++
	s.setTargets(s.server.AwaitLine("ready "))
}

// Stop stops the server with SIGTERM. Requests that wait are answered.
func (s *Cluster) Stop() {
	s.Helper()
	s.server.Stop()
	s.setTargets("")
}

// Kill kills the server with SIGKILL.
func (s *Cluster) Kill() {
	if s.server != nil {
		s.server.Kill()
		s.setTargets("")
	}
}

func (s *Cluster) setTargets(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addr = addr
	for _, r := range s.proxies {
		r.SetTarget(addr)
	}
}

// Eventually polls for a condition.
func (s *Cluster) Eventually(what string, holds func() bool) {
	s.Helper()
	Eventually(s.TB, what, holds)
}

// Eventually polls for a condition.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(WaitMax); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", WaitMax, what)
		}
	}
}

// Address is where the server listens now.
func (s *Cluster) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// SetToken sets the token of the admin before the server is started.
func (s *Cluster) SetToken(token string) {
	s.Helper()
	if err := os.MkdirAll(s.Path("data"), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(s.Path("data/admin.token"), []byte(token+"\n"), 0o600); err != nil {
		s.Fatal(err)
	}
}
