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

// faultRecord is a fault that the test caused or measured in a cluster.
type faultRecord struct {
	kind     string
	server   *testServer // nil: all servers
	from, to time.Time
	detail   string
}

// faults is the list of all faults of a test.
type faults struct {
	mu   sync.Mutex
	list []*faultRecord
}

// begin records the start of a fault.
func (f *faults) begin(kind string, s *testServer) *faultRecord {
	record := &faultRecord{kind: kind, server: s, from: time.Now()}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, record)
	return record
}

// end records the end of a fault.
func (f *faults) end(record *faultRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	record.to = time.Now()
}

// overlaps reports whether a fault overlaps a span of time.
func (r *faultRecord) overlaps(from, to time.Time) bool {
	return r.from.Before(to) && (r.to.IsZero() || r.to.After(from))
}

// isolates reports whether a fault may separate a server from its database for long. A
// wrong clock does not, and the server replaces broken connections at once.
func (r *faultRecord) isolates(s *testServer) bool {
	return r.kind != "skew" && r.kind != "disconnect" && r.kind != faultLockWait && (r.server == nil || r.server == s)
}

// mayHoldLocks reports whether a fault stops a server while it may hold locks. A slow
// machine may do that, too.
func (r *faultRecord) mayHoldLocks() bool {
	return r.kind == "freeze" || r.kind == "freeze at a point" || r.kind == "partition" || r.kind == faultSlowMachine
}

// isolating returns the fault that may have separated a server from its database within
// a span: its own fault, locks held by another server that was frozen or partitioned, or
// a slow machine.
func (f *faults) isolating(s *testServer, from, to time.Time) *faultRecord {
	f.mu.Lock()
	defer f.mu.Unlock()
	var held, stuck, slow *faultRecord
	for _, record := range f.list {
		switch {
		case !record.overlaps(from, to):
		case record.isolates(s) && record.kind == faultSlowMachine:
			slow = record
		case record.isolates(s):
			return record
		case record.kind == faultLockWait:
			held = record
		case record.mayHoldLocks():
			stuck = record
		}
	}
	if stuck != nil && held != nil {
		return held
	}
	return slow
}

// undisturbedSince returns the end of the first lease duration after a time in which the
// server had no fault. By then it has sent a heartbeat.
func (f *faults) undisturbedSince(s *testServer, after time.Time) time.Time {
	for {
		last := f.isolating(s, after, after.Add(clusterLease))
		if last == nil || last.to.Before(after) {
			return after.Add(clusterLease)
		}
		after = last.to.Add(time.Millisecond)
	}
}

// explainsOutage reports whether a fault explains why a server logs at a time that it
// cannot reach its database.
func (f *faults) explainsOutage(s *testServer, at time.Time) bool {
	from := at.Add(-outageTail)
	if f.isolating(s, from, at) != nil {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(record *faultRecord) bool { return record.kind == "disconnect" && record.overlaps(from, at) })
}

// explainsExpiredLease reports whether shortly before a time the machine was slow, or
// locks were held for at least half a lease. The answer to a claim may then arrive so
// late that little of the lease is left.
func (f *faults) explainsExpiredLease(at time.Time) bool {
	if f.machineSlow(at.Add(-clusterLease), at) {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(record *faultRecord) bool {
		return record.kind == faultLockWait && record.overlaps(at.Add(-clusterLease), at) && record.to.Sub(record.from) >= clusterLease/2
	})
}

// summary lists the faults in the order of their start.
func (f *faults) summary() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text strings.Builder
	for _, record := range f.list {
		server := "all servers"
		if record.server != nil {
			server = record.server.name
		}
		fmt.Fprintf(&text, "\n%s to %s: %s of %s %s", record.from.UTC().Format(clockTime), record.to.UTC().Format(clockTime), record.kind, server, record.detail)
	}
	return text.String()
}

const clockTime = "15:04:05.000"

// counts returns the number of faults by kind.
func (f *faults) counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := map[string]int{}
	for _, record := range f.list {
		n[record.kind]++
	}
	return n
}

// randomServer returns a random server.
func (f *testCluster) randomServer() *testServer { return f.servers[rand.IntN(len(f.servers))] }

// longerThanLease returns a duration longer than a lease and the time until the run is
// reaped.
func longerThanLease() time.Duration {
	return clusterLease + clusterLease/2 + time.Duration(rand.IntN(1500))*time.Millisecond
}

// killAndRestart kills a server and starts it again.
func (f *testCluster) killAndRestart(s *testServer) {
	f.ensureKilled(s)
	s.startUntilReady()
}

// killAtPoint has a server kill itself at a point, kills it if it does not reach the
// point in time, and starts it again.
func (f *testCluster) killAtPoint(s *testServer, p killPoint) {
	f.ensureKilled(s)
	record := f.faults.begin("kill at a point", s)
	s.startProcess(p.env()).endsWithin(2 * time.Second)
	f.ensureKilled(s)
	f.faults.end(record)
	s.startUntilReady()
}

// ensureKilled kills a server, unless it has already killed itself.
func (f *testCluster) ensureKilled(s *testServer) {
	record := f.faults.begin("kill", s)
	defer f.faults.end(record)
	s.incarnation().kill()
	if how := s.incarnation().exitStatus(); how != "killed" && how != fmt.Sprint("exit ", exitUnavailable) {
		f.Errorf("%s was not killed but ended with %s\n%s", s.name, how, s.logTail())
	}
}

// freeze stops a whole process for longer than its leases last.
func (f *testCluster) freeze(s *testServer) {
	record := f.faults.begin("freeze", s)
	s.incarnation().signal(syscall.SIGSTOP)
	time.Sleep(longerThanLease())
	s.incarnation().signal(syscall.SIGCONT)
	f.faults.end(record)
}

// freezeAtPoint has a server freeze itself at a point for longer than its leases last. A
// server that has not reached the point by then is killed: it could freeze itself later.
func (f *testCluster) freezeAtPoint(s *testServer, p killPoint) {
	f.ensureKilled(s)
	before := len(s.log())
	record := f.faults.begin("freeze at a point", s)
	proc := s.startProcess(p.env() + ":freeze")
	time.Sleep(time.Second + longerThanLease())
	if !strings.Contains(s.log()[before:], logFrozen) {
		f.ensureKilled(s)
		f.faults.end(record)
		s.startUntilReady()
		return
	}
	proc.signal(syscall.SIGCONT)
	f.faults.end(record)
	if !proc.waitReady() {
		s.expectUnavailable(proc)
		s.startUntilReady()
	}
}

// partition separates a server from the database for longer than its leases last. Then
// the delayed data arrives, or the connections break.
func (f *testCluster) partition(s *testServer) {
	record := f.faults.begin("partition", s)
	s.proxy.Hold()
	time.Sleep(longerThanLease())
	if rand.IntN(2) == 0 {
		s.proxy.Cut()
	}
	s.proxy.Resume()
	f.faults.end(record)
}

// restartDatabase stops PostgreSQL and starts it again after a downtime.
func (f *testCluster) restartDatabase(mode string, downtime time.Duration) {
	record := f.faults.begin("restart "+mode, nil)
	must(f, f.postgres().cluster.Stop(mode))
	time.Sleep(downtime)
	must(f, f.postgres().cluster.Restart(mode))
	f.faults.end(record)
}

// disconnectAll has PostgreSQL end all connections of the servers.
func (f *testCluster) disconnectAll() {
	record := f.faults.begin("disconnect", nil)
	pgtest.Query(f, f.postgres().cluster.SocketURL("postgres"),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+f.postgres().database+"'")
	f.faults.end(record)
}

// skewMax is the largest clock offset of a server.
const skewMax = 5 * time.Second

// setClockOffset sets the clock of a server. The clock of the database stays right.
func (f *testCluster) setClockOffset(s *testServer, by time.Duration) {
	record := f.faults.begin("skew", s)
	set := s.path("clock.new")
	must(f, os.WriteFile(set, []byte(by.String()+"\n"), 0o600))
	must(f, os.Rename(set, s.path("clock")))
	f.faults.end(record)
}

// randomSkew returns a clock offset of at most skewMax in either direction.
func randomSkew() time.Duration {
	return time.Duration(rand.Int64N(int64(2*skewMax+1))) - skewMax
}

// concurrently runs two functions concurrently.
func concurrently(first, second func()) {
	var wg sync.WaitGroup
	wg.Go(second)
	first()
	wg.Wait()
}
