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

// fleetLease is that of a fleet's servers, so short that a test can wait for
// its end.
const fleetLease = 4 * time.Second

// fleet is some servers on one PostgreSQL. What they share is the site of the
// fleet, where the ledger is.
type fleet struct {
	*site
	cluster  *pgtest.Cluster
	database string
	ships    []*ship
	caller   *caller // asks any of them
	book     *book
	faults   faults
	looks    rota.Store // nil: nobody has looked yet
}

// ship is one of the servers, with data of its own and on a way of its own to the
// database.
type ship struct {
	*site
	name string
	way  *pgtest.Proxy

	mu    sync.Mutex
	now   *incarnation
	lives int
	pids  map[int]*incarnation
}

// newFleet makes a fleet on a new database. Its servers have one configured
// name; settings are for all of them.
func newFleet(t *testing.T, cluster *pgtest.Cluster, ships int, settings ...string) *fleet {
	t.Helper()
	f := &fleet{site: newSite(t), cluster: cluster, database: cluster.NewDatabase(t, ""), book: newBook()}
	token := strings.Repeat("fleet", 8)
	f.carries(token)
	for i := range ships {
		s := &ship{site: newSite(t), name: fmt.Sprint("ship-", i), way: cluster.Proxy(t), pids: map[int]*incarnation{}}
		s.carries(token)
		s.env = append(s.env,
			"ROTA_STORE="+s.way.URL(f.database), envLedger+"="+f.path("ledger"), envClock+"="+s.path("clock"),
			"ROTA_LEASE="+fleetLease.String(), "ROTA_NAME=ship",
		)
		s.env = append(s.env, settings...)
		f.ships = append(f.ships, s)
	}
	f.caller = newCaller(f.site)
	f.caller.where = f.where
	f.caller.patience = 2 * fleetLease
	must(t, os.WriteFile(f.path("ledger"), nil, 0o600))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what was done to them:%s", f.faults.story())
		}
	})
	f.watchWaits()
	f.watchMachine()
	return f
}

// carries gives a site its token before its server is there: whom a caller asks
// makes no difference then.
func (s *site) carries(token string) {
	s.Helper()
	must(s, os.MkdirAll(s.data, 0o700))
	must(s, os.WriteFile(filepath.Join(s.data, "admin.token"), []byte(token+"\n"), 0o600))
}

// where is the address of any server that listens.
func (f *fleet) where() (addr string, moved <-chan struct{}) {
	for _, i := range rand.Perm(len(f.ships)) {
		if addr, moved = f.ships[i].where(); addr != "" {
			break
		}
	}
	return addr, moved
}

// of is a caller of one server alone.
func (f *fleet) of(i int) *caller {
	c := newCaller(f.site)
	c.where = f.ships[i].where
	return c
}

// sail starts all servers at once, and waits until they are ready.
func (f *fleet) sail() {
	f.Helper()
	var wg sync.WaitGroup
	for _, s := range f.ships {
		wg.Go(func() { s.rise() })
	}
	wg.Wait()
}

// begin begins a life of a ship.
func (s *ship) begin(settings ...string) *incarnation {
	l := s.start(settings...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = l
	s.lives++
	s.pids[l.cmd.Process.Pid] = l
	return l
}

// incarnation is that of now.
func (s *ship) incarnation() *incarnation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// rise begins a life and waits until its server is ready. One that cannot have
// its database ends, and is started again, as whatever starts servers does.
func (s *ship) rise(settings ...string) *incarnation {
	s.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(250 * time.Millisecond) {
		l := s.begin(settings...)
		if l.becomesReady() {
			return l
		}
		if s.ends(l); time.Now().After(deadline) {
			s.Fatalf("%s never gets ready\n%s", s.name, s.logTail())
		}
	}
}

// ends expects of a life that ended before it was ready that its database was
// away.
func (s *ship) ends(l *incarnation) {
	s.Helper()
	if how := l.howItEnded(); how != fmt.Sprint("exit ", exitUnavailable) {
		s.Fatalf("%s ended with %s before it was ready\n%s", s.name, how, s.logTail())
	}
}

// stop ends all servers as a person would.
func (f *fleet) stop() {
	f.Helper()
	for _, s := range f.ships {
		s.incarnation().stop()
	}
}

// open opens the store beside the servers, to look at it.
func (f *fleet) open() rota.Store {
	f.Helper()
	store, err := postgres.OpenWith(f.cluster.URL(f.database), postgres.Config{ReadOnly: true, Logger: slog.New(slog.DiscardHandler)})
	must(f, err)
	return store
}

// looker is the store, to be looked at again and again.
func (f *fleet) looker() rota.Store {
	f.Helper()
	if f.looks == nil {
		f.looks = f.open()
		f.Cleanup(func() { _ = f.looks.Close() })
	}
	return f.looks
}

// audit reads the store and the ledger. It does not matter whether servers run.
func (f *fleet) audit() *audit {
	f.Helper()
	a := f.auditOf(f.open(), f.book)
	a.shared = true
	return a
}

// ledgerOf are the lines of one job, as they are now.
func (f *fleet) ledgerOf(id rota.ID) (lines []line) {
	f.Helper()
	a := &audit{site: f.site}
	a.readLedger()
	for _, l := range a.lines {
		if l.job == id {
			lines = append(lines, l)
		}
	}
	return lines
}
