//go:build unix

package main

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// clusterLease is the lease of the servers, short enough for a test to wait until it
// expires.
const clusterLease = 4 * time.Second

// testCluster is several servers on one PostgreSQL. Its serverDir holds the ledger that
// they share.
type testCluster struct {
	*serverDir
	cluster   *pgtest.Cluster
	database  string
	servers   []*testServer
	caller    *caller // client of any of the servers
	answers   *answerLog
	faults    faults
	readStore rota.Store // opened by reader; nil before
}

// testServer is one of the servers, with its own data directory and its own proxy to
// the database.
type testServer struct {
	*serverDir
	name  string
	proxy *pgtest.Proxy

	mu      sync.Mutex
	current *incarnation
	starts  int
	pids    map[int]*incarnation
}

// newTestCluster creates a cluster on a new database. All servers have the same
// configured name and settings.
func newTestCluster(t *testing.T, cluster *pgtest.Cluster, servers int, settings ...string) *testCluster {
	t.Helper()
	f := &testCluster{serverDir: newServerDir(t), cluster: cluster, database: cluster.NewDatabase(t, ""), answers: newAnswerLog()}
	token := strings.Repeat("token", 8)
	f.setToken(token)
	for i := range servers {
		s := &testServer{serverDir: newServerDir(t), name: fmt.Sprint("server-", i), proxy: cluster.Proxy(t), pids: map[int]*incarnation{}}
		s.setToken(token)
		s.env = append(s.env,
			"ROTA_STORE="+s.proxy.URL(f.database), envLedger+"="+f.path("ledger"), envClock+"="+s.path("clock"),
			"ROTA_LEASE="+clusterLease.String(), "ROTA_NAME=server",
		)
		s.env = append(s.env, settings...)
		f.servers = append(f.servers, s)
	}
	f.caller = newCaller(f.serverDir)
	f.caller.where = f.where
	f.caller.patience = 2 * clusterLease
	must(t, os.WriteFile(f.path("ledger"), nil, 0o600))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("faults:%s", f.faults.summary())
		}
	})
	f.watchWaits()
	f.watchMachine()
	return f
}

// setToken writes the token file before the server starts, so that all servers have the
// same token.
func (s *serverDir) setToken(token string) {
	s.Helper()
	must(s, os.MkdirAll(s.data, 0o700))
	must(s, os.WriteFile(filepath.Join(s.data, "admin.token"), []byte(token+"\n"), 0o600))
}

// where returns the address of any server that listens.
func (f *testCluster) where() (addr string, moved <-chan struct{}) {
	for _, i := range rand.Perm(len(f.servers)) {
		if addr, moved = f.servers[i].where(); addr != "" {
			break
		}
	}
	return addr, moved
}

// of returns a client of one server.
func (f *testCluster) of(i int) *caller {
	c := newCaller(f.serverDir)
	c.where = f.servers[i].where
	return c
}

// startAll starts all servers at once, and waits until they are ready.
func (f *testCluster) startAll() {
	f.Helper()
	var wg sync.WaitGroup
	for _, s := range f.servers {
		wg.Go(func() { s.startUntilReady() })
	}
	wg.Wait()
}

// begin starts the server.
func (s *testServer) begin(settings ...string) *incarnation {
	l := s.start(settings...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = l
	s.starts++
	s.pids[l.cmd.Process.Pid] = l
	return l
}

// incarnation is the current incarnation.
func (s *testServer) incarnation() *incarnation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// startUntilReady starts the server and waits until it is ready. A server that cannot
// reach its database exits, and is started again, as a service manager would do.
func (s *testServer) startUntilReady(settings ...string) *incarnation {
	s.Helper()
	for deadline := time.Now().Add(waitMax); ; time.Sleep(250 * time.Millisecond) {
		l := s.begin(settings...)
		if l.becomesReady() {
			return l
		}
		if s.expectUnavailable(l); time.Now().After(deadline) {
			s.Fatalf("%s does not become ready\n%s", s.name, s.logTail())
		}
	}
}

// expectUnavailable checks that a server that ended before it was ready could not reach
// its database.
func (s *testServer) expectUnavailable(l *incarnation) {
	s.Helper()
	if how := l.howItEnded(); how != fmt.Sprint("exit ", exitUnavailable) {
		s.Fatalf("%s ended with %s before it was ready\n%s", s.name, how, s.logTail())
	}
}

// stop stops all servers with SIGTERM.
func (f *testCluster) stop() {
	f.Helper()
	for _, s := range f.servers {
		s.incarnation().stop()
	}
}

// open opens the store read-only, while servers use it.
func (f *testCluster) open() rota.Store {
	f.Helper()
	store, err := postgres.OpenWith(f.cluster.URL(f.database), postgres.Config{ReadOnly: true, Logger: slog.New(slog.DiscardHandler)})
	must(f, err)
	return store
}

// reader returns a read-only store that stays open until the test ends.
func (f *testCluster) reader() rota.Store {
	f.Helper()
	if f.readStore == nil {
		f.readStore = f.open()
		f.Cleanup(func() { _ = f.readStore.Close() })
	}
	return f.readStore
}

// audit reads the store and the ledger. Servers may be running.
func (f *testCluster) audit() *audit {
	f.Helper()
	a := f.auditOf(f.open(), f.answers)
	a.shared = true
	return a
}

// ledgerOf returns the current lines of one job.
func (f *testCluster) ledgerOf(id rota.ID) (lines []line) {
	f.Helper()
	a := &audit{serverDir: f.serverDir}
	a.readLedger()
	for _, l := range a.lines {
		if l.job == id {
			lines = append(lines, l)
		}
	}
	return lines
}
