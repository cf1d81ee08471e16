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

// clusterLease is that of a fleet's servers, so short that a test can wait for
// its end.
const clusterLease = 4 * time.Second

// testCluster is some servers on one PostgreSQL. What they share is the site of the
// fleet, where the ledger is.
type testCluster struct {
	*serverDir
	cluster   *pgtest.Cluster
	database  string
	servers   []*testServer
	caller    *caller // asks any of them
	answers   *answerLog
	faults    faults
	readStore rota.Store // nil: nobody has looked yet
}

// testServer is one of the servers, with data of its own and on a way of its own to the
// database.
type testServer struct {
	*serverDir
	name  string
	proxy *pgtest.Proxy

	mu      sync.Mutex
	current *incarnation
	starts  int
	pids    map[int]*incarnation
}

// newTestCluster makes a fleet on a new database. Its servers have one configured
// name; settings are for all of them.
func newTestCluster(t *testing.T, cluster *pgtest.Cluster, servers int, settings ...string) *testCluster {
	t.Helper()
	f := &testCluster{serverDir: newServerDir(t), cluster: cluster, database: cluster.NewDatabase(t, ""), answers: newAnswerLog()}
	token := strings.Repeat("fleet", 8)
	f.setToken(token)
	for i := range servers {
		s := &testServer{serverDir: newServerDir(t), name: fmt.Sprint("ship-", i), proxy: cluster.Proxy(t), pids: map[int]*incarnation{}}
		s.setToken(token)
		s.env = append(s.env,
			"ROTA_STORE="+s.proxy.URL(f.database), envLedger+"="+f.path("ledger"), envClock+"="+s.path("clock"),
			"ROTA_LEASE="+clusterLease.String(), "ROTA_NAME=ship",
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
			t.Logf("what was done to them:%s", f.faults.summary())
		}
	})
	f.watchWaits()
	f.watchMachine()
	return f
}

// setToken gives a site its token before its server is there: whom a caller asks
// makes no difference then.
func (s *serverDir) setToken(token string) {
	s.Helper()
	must(s, os.MkdirAll(s.data, 0o700))
	must(s, os.WriteFile(filepath.Join(s.data, "admin.token"), []byte(token+"\n"), 0o600))
}

// where is the address of any server that listens.
func (f *testCluster) where() (addr string, moved <-chan struct{}) {
	for _, i := range rand.Perm(len(f.servers)) {
		if addr, moved = f.servers[i].where(); addr != "" {
			break
		}
	}
	return addr, moved
}

// of is a caller of one server alone.
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

// begin begins a life of a ship.
func (s *testServer) begin(settings ...string) *incarnation {
	l := s.start(settings...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = l
	s.starts++
	s.pids[l.cmd.Process.Pid] = l
	return l
}

// incarnation is that of now.
func (s *testServer) incarnation() *incarnation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// startUntilReady begins a life and waits until its server is ready. One that cannot have
// its database ends, and is started again, as whatever starts servers does.
func (s *testServer) startUntilReady(settings ...string) *incarnation {
	s.Helper()
	for deadline := time.Now().Add(waitMax); ; time.Sleep(250 * time.Millisecond) {
		l := s.begin(settings...)
		if l.becomesReady() {
			return l
		}
		if s.expectUnavailable(l); time.Now().After(deadline) {
			s.Fatalf("%s never gets ready\n%s", s.name, s.logTail())
		}
	}
}

// expectUnavailable expects of a life that ended before it was ready that its database was
// away.
func (s *testServer) expectUnavailable(l *incarnation) {
	s.Helper()
	if how := l.howItEnded(); how != fmt.Sprint("exit ", exitUnavailable) {
		s.Fatalf("%s ended with %s before it was ready\n%s", s.name, how, s.logTail())
	}
}

// stop ends all servers as a person would.
func (f *testCluster) stop() {
	f.Helper()
	for _, s := range f.servers {
		s.incarnation().stop()
	}
}

// open opens the store beside the servers, to look at it.
func (f *testCluster) open() rota.Store {
	f.Helper()
	store, err := postgres.OpenWith(f.cluster.URL(f.database), postgres.Config{ReadOnly: true, Logger: slog.New(slog.DiscardHandler)})
	must(f, err)
	return store
}

// reader is the store, to be looked at again and again.
func (f *testCluster) reader() rota.Store {
	f.Helper()
	if f.readStore == nil {
		f.readStore = f.open()
		f.Cleanup(func() { _ = f.readStore.Close() })
	}
	return f.readStore
}

// audit reads the store and the ledger. It does not matter whether servers run.
func (f *testCluster) audit() *audit {
	f.Helper()
	a := f.auditOf(f.open(), f.answers)
	a.shared = true
	return a
}

// ledgerOf are the lines of one job, as they are now.
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
