//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// clusterLease is the lease of the servers, short enough for a test to wait until it
// expires.
const clusterLease = 4 * time.Second

// testCluster is several servers on one store. Its serverDir holds the ledger that they
// share.
type testCluster struct {
	*serverDir
	shared  sharedStore
	servers []*testServer
	caller  *caller // sends each request to any of the servers
	answers *answerLog
	faults  faults
	opened  rota.Store // opened by readOnlyStore; nil before
}

// testServer is one of the servers, with its own data directory and its own proxy to
// the database.
type testServer struct {
	*serverDir
	name  string
	proxy faultProxy

	mu      sync.Mutex
	current *incarnation
	starts  int
	pids    map[int]*incarnation
}

// newTestCluster creates a cluster on a new database of PostgreSQL.
func newTestCluster(t *testing.T, cluster *pgtest.Cluster, servers int, settings ...string) *testCluster {
	t.Helper()
	f := newClusterOn(t, &postgresStore{cluster, cluster.NewDatabase(t, "")}, servers, settings...)
	f.recordLockWaits()
	return f
}

// newClusterOn creates a cluster on a store. All servers have the same configured name and
// settings.
func newClusterOn(t *testing.T, shared sharedStore, servers int, settings ...string) *testCluster {
	t.Helper()
	f := &testCluster{serverDir: newServerDir(t), shared: shared, answers: newAnswerLog()}
	token := strings.Repeat("token", 8)
	f.setToken(token)
	for i := range servers {
		s := &testServer{serverDir: newServerDir(t), name: fmt.Sprint("server-", i), pids: map[int]*incarnation{}}
		url := ""
		s.proxy, url = shared.connect(f)
		s.setToken(token)
		s.env = append(s.env,
			"ROTA_STORE="+url, envLedger+"="+f.path("ledger"), envClock+"="+s.path("clock"),
			"ROTA_LEASE="+clusterLease.String(), "ROTA_NAME=server",
		)
		s.env = append(s.env, settings...)
		f.servers = append(f.servers, s)
	}
	f.caller = newCaller(f.serverDir)
	f.caller.address = f.address
	f.caller.timeout = 2 * clusterLease
	must(t, os.WriteFile(f.path("ledger"), nil, 0o600))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("faults:%s", f.faults.summary())
		}
	})
	f.measureMachine()
	return f
}

// setToken writes the token file before the server starts, so that all servers have the
// same token.
func (s *serverDir) setToken(token string) {
	s.Helper()
	must(s, os.MkdirAll(s.data, 0o700))
	must(s, os.WriteFile(filepath.Join(s.data, "admin.token"), []byte(token+"\n"), 0o600))
}

// address returns the address of any server that listens.
func (f *testCluster) address() (addr string, changed <-chan struct{}) {
	for _, i := range rand.Perm(len(f.servers)) {
		if addr, changed = f.servers[i].address(); addr != "" {
			break
		}
	}
	return addr, changed
}

// callerOf returns a caller of one server.
func (f *testCluster) callerOf(i int) *caller {
	c := newCaller(f.serverDir)
	c.address = f.servers[i].address
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

// startProcess starts the server.
func (s *testServer) startProcess(settings ...string) *incarnation {
	p := s.start(settings...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = p
	s.starts++
	s.pids[p.cmd.Process.Pid] = p
	return p
}

// incarnation returns the current incarnation.
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
		p := s.startProcess(settings...)
		if p.waitReady() {
			return p
		}
		if s.expectUnavailable(p); time.Now().After(deadline) {
			s.Fatalf("%s does not become ready\n%s", s.name, s.logTail())
		}
	}
}

// expectUnavailable checks that a server that ended before it was ready could not reach
// its database.
func (s *testServer) expectUnavailable(p *incarnation) {
	s.Helper()
	if how := p.exitStatus(); how != fmt.Sprint("exit ", exitUnavailable) {
		s.Fatalf("%s ended with %s before it was ready\n%s", s.name, how, s.logTail())
	}
}

// stopAll stops all servers with SIGTERM.
func (f *testCluster) stopAll() {
	f.Helper()
	for _, s := range f.servers {
		s.incarnation().stop()
	}
}

// postgres returns the store of a cluster on PostgreSQL.
func (f *testCluster) postgres() *postgresStore { return f.shared.(*postgresStore) }

// openStore opens the store read-only, while servers use it.
func (f *testCluster) openStore() rota.Store {
	f.Helper()
	store, err := f.shared.open(f)
	must(f, err)
	return store
}

// readOnlyStore returns a read-only store that stays open until the test ends.
func (f *testCluster) readOnlyStore() rota.Store {
	f.Helper()
	if f.opened == nil {
		f.opened = f.openStore()
		f.Cleanup(func() { _ = f.opened.Close() })
	}
	return f.opened
}

// audit reads the store and the ledger. Servers may be running.
func (f *testCluster) audit() *audit {
	f.Helper()
	a := f.auditOf(f.openStore(), f.answers)
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
