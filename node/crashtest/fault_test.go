//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// fault is a fault that the test caused or measured in a cluster.
type fault struct {
	what       string
	testServer *testServer // nil: all of them
	from, to   time.Time
	more       string
}

// faults is the list of all faults of a test.
type faults struct {
	mu   sync.Mutex
	list []*fault
}

// begin records the start of a fault.
func (f *faults) begin(what string, s *testServer) *fault {
	one := &fault{what: what, testServer: s, from: time.Now()}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, one)
	return one
}

// end records the end of a fault.
func (f *faults) end(one *fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.to = time.Now()
}

// touches reports whether a fault overlaps a span of time.
func (o *fault) touches(from, to time.Time) bool {
	return o.from.Before(to) && (o.to.IsZero() || o.to.After(from))
}

// hits reports whether a fault may have kept a server from its database for long. A
// wrong clock does not, and broken connections are replaced at once.
func (o *fault) hits(s *testServer) bool {
	return o.what != "skew" && o.what != "cut" && o.what != heldLocks && (o.testServer == nil || o.testServer == s)
}

// sticks reports whether a fault stops a server while it may hold locks. A slow
// machine does.
func (o *fault) sticks() bool {
	return o.what == "freeze" || o.what == "freeze at a point" || o.what == "partition" || o.what == slowMachine
}

// during returns the fault that may have kept a server from its database within a
// span: its own fault, locks held by another server that was frozen or partitioned, or
// a slow machine.
func (f *faults) during(s *testServer, from, to time.Time) *fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	var held, stuck, slow *fault
	for _, one := range f.list {
		switch {
		case !one.touches(from, to):
		case one.hits(s) && one.what == slowMachine:
			slow = one
		case one.hits(s):
			return one
		case one.what == heldLocks:
			held = one
		case one.sticks():
			stuck = one
		}
	}
	if stuck != nil && held != nil {
		return held
	}
	return slow
}

// undisturbedSince is the first time after which a server had no fault for the length
// of a lease: by then it has sent a heartbeat.
func (f *faults) undisturbedSince(s *testServer, after time.Time) time.Time {
	for {
		last := f.during(s, after, after.Add(clusterLease))
		if last == nil || last.to.Before(after) {
			return after.Add(clusterLease)
		}
		after = last.to.Add(time.Millisecond)
	}
}

// explain reports whether a fault explains that a server logs at some time that it
// cannot reach its database.
func (f *faults) explain(s *testServer, at time.Time) bool {
	from := at.Add(-outageTail)
	if f.during(s, from, at) != nil {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(one *fault) bool { return one.what == "cut" && one.touches(from, at) })
}

// slow says whether the machine was slow, or locks were held so long, shortly before
// some time, that a lease may have been half over when the answer that lent it came.
func (f *faults) slow(at time.Time) bool {
	if f.slowed(at.Add(-clusterLease), at) {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(one *fault) bool {
		return one.what == heldLocks && one.touches(at.Add(-clusterLease), at) && one.to.Sub(one.from) >= clusterLease/2
	})
}

// summary is what was done, in the order in which it began.
func (f *faults) summary() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text strings.Builder
	for _, one := range f.list {
		worker := "all"
		if one.testServer != nil {
			worker = one.testServer.name
		}
		fmt.Fprintf(&text, "\n%s to %s: %s of %s %s", one.from.UTC().Format(clockTime), one.to.UTC().Format(clockTime), one.what, worker, one.more)
	}
	return text.String()
}

const clockTime = "15:04:05.000"

// counts is the number of faults by kind.
func (f *faults) counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := map[string]int{}
	for _, one := range f.list {
		n[one.what]++
	}
	return n
}

// any returns a random server.
func (f *testCluster) any() *testServer { return f.servers[rand.IntN(len(f.servers))] }

// beyondLease is longer than a lease and the time until it is reaped.
func beyondLease() time.Duration {
	return clusterLease + clusterLease/2 + time.Duration(rand.IntN(1500))*time.Millisecond
}

// kill kills a server and starts it again.
func (f *testCluster) kill(s *testServer) {
	f.ensureKilled(s)
	s.startUntilReady()
}

// killAt has a server kill itself at a point, if it gets there, and starts it
// again.
func (f *testCluster) killAt(s *testServer, p point) {
	f.ensureKilled(s)
	one := f.faults.begin("kill at a point", s)
	s.begin(p.setting()).diesWithin(2 * time.Second)
	f.ensureKilled(s)
	f.faults.end(one)
	s.startUntilReady()
}

// ensureKilled kills a server, if it has not done so itself.
func (f *testCluster) ensureKilled(s *testServer) {
	one := f.faults.begin("kill", s)
	defer f.faults.end(one)
	s.incarnation().kill()
	if how := s.incarnation().howItEnded(); how != "killed" && how != fmt.Sprint("exit ", exitUnavailable) {
		f.Errorf("%s was not killed but ended with %s\n%s", s.name, how, s.logTail())
	}
}

// freeze stops a whole process for longer than its leases last.
func (f *testCluster) freeze(s *testServer) {
	one := f.faults.begin("freeze", s)
	s.incarnation().signal(syscall.SIGSTOP)
	time.Sleep(beyondLease())
	s.incarnation().signal(syscall.SIGCONT)
	f.faults.end(one)
}

// freezeAt has a server freeze itself at a point, if it gets there, for longer than
// its leases last.
func (f *testCluster) freezeAt(s *testServer, p point) {
	f.ensureKilled(s)
	one := f.faults.begin("freeze at a point", s)
	l := s.begin(p.setting() + ":freeze")
	time.Sleep(time.Second + beyondLease())
	l.signal(syscall.SIGCONT)
	f.faults.end(one)
	if !l.becomesReady() {
		s.expectUnavailable(l)
		s.startUntilReady()
	}
}

// partition separates a server from the database for longer than its leases last. Then
// the delayed data arrives, or the connections break.
func (f *testCluster) partition(s *testServer) {
	one := f.faults.begin("partition", s)
	s.proxy.Hold()
	time.Sleep(beyondLease())
	if rand.IntN(2) == 0 {
		s.proxy.Cut()
	}
	s.proxy.Resume()
	f.faults.end(one)
}

// restart stops PostgreSQL and starts it again, some time later.
func (f *testCluster) restart(mode string, later time.Duration) {
	one := f.faults.begin("restart "+mode, nil)
	must(f, f.cluster.Stop(mode))
	time.Sleep(later)
	must(f, f.cluster.Restart(mode))
	f.faults.end(one)
}

// cut has PostgreSQL end all connections.
func (f *testCluster) cut() {
	one := f.faults.begin("cut", nil)
	pgtest.Query(f, f.cluster.SocketURL("postgres"),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+f.database+"'")
	f.faults.end(one)
}

// skewMost is how wrong a server's clock may be.
const skewMost = 5 * time.Second

// skew sets the clock of a server. The database's stays right.
func (f *testCluster) skew(s *testServer, by time.Duration) {
	one := f.faults.begin("skew", s)
	set := s.path("clock.new")
	must(f, os.WriteFile(set, []byte(by.String()+"\n"), 0o600))
	must(f, os.Rename(set, s.path("clock")))
	f.faults.end(one)
}

// anySkew is as wrong as a clock may be, in either direction.
func anySkew() time.Duration {
	return time.Duration(rand.Int64N(int64(2*skewMost+1))) - skewMost
}

// both runs two functions concurrently.
func both(first, second func()) {
	var wg sync.WaitGroup
	wg.Go(second)
	first()
	wg.Wait()
}
