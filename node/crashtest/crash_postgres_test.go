//go:build unix

package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestCrashOnPostgres runs three servers on one PostgreSQL under load. The test kills,
// freezes and partitions servers, sets their clocks wrong, and restarts PostgreSQL. In
// the end it compares the database with the answers of the servers and the ledger of
// their handlers.
func TestCrashOnPostgres(t *testing.T) {
	t.Parallel()
	cluster, err := pgtest.Start("", pgtest.Options{Durable: true})
	must(t, err)
	t.Cleanup(cluster.Close)
	f := newTestCluster(t, cluster, 3)
	for _, s := range f.servers {
		s.env = append(s.env, envStaleWorker+"=600ms:ledger:late")
	}
	f.startAll()
	f.declareLimitsAndSchedules()
	l := startLoad(f.caller, f.answers, clusterActions(), 10)
	until := crashTime(t)
	for round := 0; round == 0 || time.Now().Before(until); round++ {
		f.injectFaults(!until.IsZero())
		if t.Failed() {
			break
		}
		f.verifyWhileServersWrite()
	}
	stopped := f.drain(l)
	f.auditAll(stopped)
	f.logSummary(!until.IsZero())
}

// verifyWhileServersWrite checks every invariant of the store.
func (f *testCluster) verifyWhileServersWrite() {
	f.Helper()
	store := f.openStore()
	defer store.Close()
	verifyStore(f.serverDir, store)
}

// auditAll compares the store with the answers of the servers and the ledger of their
// handlers, after all servers have ended.
func (f *testCluster) auditAll(stopped time.Time) {
	f.Helper()
	a := f.audit()
	defer a.store.Close()
	a.checkAcknowledged()
	a.checkStarts()
	a.checkEndings()
	a.checkCancels()
	a.checkPauses()
	a.checkSchedules(stopped)
	a.checkGroups()
	a.checkReservations()
	a.checkLostLeases(f)
	a.checkLimits(f)
	a.checkClusterLogs(f)
	a.addCounts()
}

// injectFaults causes all kinds of faults in random order.
func (f *testCluster) injectFaults(long bool) {
	all, some := killPoints(), rand.Perm(len(f.servers))
	stages := []func(){
		func() {
			concurrently(func() { f.freeze(f.servers[some[0]]) }, func() { f.partition(f.servers[some[1]]) })
			time.Sleep(clusterLease) // until both servers are notified of lost leases
		},
		func() { f.killAndRestart(f.randomServer()) },
		func() { f.killAtPoint(f.randomServer(), all[rand.IntN(len(all))]) },
		func() { f.restartDatabase(pgtest.Fast, 0) },
		func() {
			concurrently(func() { f.restartDatabase(pgtest.Immediate, 0) }, func() { f.killAndRestart(f.randomServer()) })
		},
		f.disconnectAll,
		func() {
			for _, s := range f.servers {
				f.setClockOffset(s, randomSkew())
			}
		},
	}
	if long {
		stages = append(stages,
			func() {
				concurrently(func() { f.freezeAtPoint(f.servers[some[0]], all[rand.IntN(len(all))]) }, func() { f.killAndRestart(f.servers[some[1]]) })
			},
			func() { f.restartDatabase(pgtest.Fast, longerThanLease()) },
		)
	}
	f.runStages(stages)
}

// runStages runs stages in random order until the test fails.
func (f *testCluster) runStages(stages []func()) {
	rand.Shuffle(len(stages), func(i, k int) { stages[i], stages[k] = stages[k], stages[i] })
	for _, stage := range stages {
		stage()
		if f.Failed() {
			return
		}
		time.Sleep(time.Duration(rand.IntN(600)) * time.Millisecond)
	}
}

// drain waits until all jobs have ended, and returns the time at which the schedules
// were paused.
func (f *testCluster) drain(l *load) time.Time {
	f.Helper()
	began := time.Now()
	l.stop()
	answered := time.Since(began)
	stopped := f.caller.pauseTicks()
	f.caller.waitUntilIdle()
	f.waitUntil("no reservation is left", func() bool {
		list, err := f.readOnlyStore().Reservations(f.Context(), rota.ID{}, 1)
		must(f, err)
		return len(list) == 0 || list[0].Status != rota.ReservationActive
	})
	f.Logf("within %s all requests were answered, within %s all jobs had ended", answered.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	f.stopAll()
	return stopped
}

// logSummary logs a summary. The test fails if one of the expected counts is zero,
// because it then proves nothing about it.
func (f *testCluster) logSummary(long bool) {
	starts := 0
	for _, s := range f.servers {
		starts += s.starts
	}
	f.Logf("%d starts; faults %v; %d requests answered, %d of them sent again", starts, f.faults.counts(), f.caller.answered.Load(), f.caller.resent.Load())
	f.Logf("%v", f.answers.counts)
	all := []string{"jobs", "starts", "completed", "retries", "fires", "starts under a limit", "directs", "triggers", "reads at another server", "sequences", "leases lost", "lost leases of live processes"}
	if !long {
		all = all[:6] // a short test may not reach the others
	}
	for _, what := range all {
		if f.answers.counts[what] == 0 {
			f.Errorf("the test saw no %s, so it proves nothing about them", what)
		}
	}
}
