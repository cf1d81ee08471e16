//go:build unix

package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestCrashOnPostgres has three servers on one PostgreSQL work under load. They
// are killed, frozen and cut off, their clocks go wrong, and PostgreSQL is
// restarted under them. In the end the test compares the database with the answers of
// the servers and the ledger of their handlers.
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
	f.declare()
	l := begin(f.caller, f.answers, clusterActions(), 10)
	until := crashTime(t)
	for round := 0; round == 0 || time.Now().Before(until); round++ {
		f.storm(!until.IsZero())
		if t.Failed() {
			break
		}
		store := f.open()
		verifyClean(f.serverDir, store) // while servers write
		_ = store.Close()
	}
	stopped := f.settle(l)
	a := f.audit()
	defer a.store.Close()
	a.acknowledged()
	a.started()
	a.endings()
	a.cancels()
	a.pauses()
	a.schedules(stopped)
	a.groups()
	a.reservations()
	a.losses(f)
	a.limits(f)
	a.clusterComplaints(f)
	a.count()
	f.sum(!until.IsZero())
}

// storm causes all kinds of faults in random order.
func (f *testCluster) storm(long bool) {
	all, some := points(), rand.Perm(len(f.servers))
	stages := []func(){
		func() {
			both(func() { f.freeze(f.servers[some[0]]) }, func() { f.partition(f.servers[some[1]]) })
			time.Sleep(clusterLease) // until they are notified of lost leases
		},
		func() { f.kill(f.any()) },
		func() { f.killAt(f.any(), all[rand.IntN(len(all))]) },
		func() { f.restart(pgtest.Fast, 0) },
		func() { both(func() { f.restart(pgtest.Immediate, 0) }, func() { f.kill(f.any()) }) },
		f.cut,
		func() {
			for _, s := range f.servers {
				f.skew(s, anySkew())
			}
		},
	}
	if long {
		stages = append(stages,
			func() {
				both(func() { f.freezeAt(f.servers[some[0]], all[rand.IntN(len(all))]) }, func() { f.kill(f.servers[some[1]]) })
			},
			func() { f.restart(pgtest.Fast, beyondLease()) },
		)
	}
	rand.Shuffle(len(stages), func(i, k int) { stages[i], stages[k] = stages[k], stages[i] })
	for _, stage := range stages {
		stage()
		if f.Failed() {
			return
		}
		time.Sleep(time.Duration(rand.IntN(600)) * time.Millisecond)
	}
}

// settle waits until all jobs have ended, and returns the time at which the schedules
// were paused.
func (f *testCluster) settle(l *load) time.Time {
	f.Helper()
	began := time.Now()
	l.end()
	answered := time.Since(began)
	stopped := f.caller.pauseTicks()
	f.caller.waitUntilIdle()
	f.until("no reservation is left", func() bool {
		list, err := f.reader().Reservations(f.Context(), rota.ID{}, 1)
		must(f, err)
		return len(list) == 0 || list[0].Status != rota.ReservationActive
	})
	f.Logf("within %s all requests were answered, within %s all jobs had ended", answered.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	f.stop()
	return stopped
}

// sum says what was done. What a test never saw it has shown nothing about.
func (f *testCluster) sum(long bool) {
	starts := 0
	for _, s := range f.servers {
		starts += s.starts
	}
	f.Logf("%d starts; faults %v; %d requests answered, %d of them sent again", starts, f.faults.counts(), f.caller.answered.Load(), f.caller.resent.Load())
	f.Logf("%v", f.answers.counts)
	all := []string{"jobs", "starts", "completed", "retries", "fires", "bounded", "directs", "triggers", "across", "sequences", "leases lost", "losers that lived"}
	if !long {
		all = all[:6] // there was no time for each of the others
	}
	for _, what := range all {
		if f.answers.counts[what] == 0 {
			f.Errorf("the test saw no %s, and proves nothing about them", what)
		}
	}
}
