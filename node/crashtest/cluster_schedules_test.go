//go:build unix

package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestSchedulesFireOnceWhileProcessesAreKilled kills each of three servers before it
// fires, after it has fired, or at a random time: each planned time is fired once.
func TestSchedulesFireOnceWhileProcessesAreKilled(t *testing.T) {
	t.Parallel()
	onSharedStores(t, testSchedulesFireOnce)
}

func testSchedulesFireOnce(t *testing.T, _ failFunc, newCluster newClusterFunc) {
	f := newCluster(t, 3)
	f.startAll()
	f.caller.declareTicks()
	for i, when := range []string{"before", "after", "before", "after", "after"} {
		f.killAtPoint(f.servers[i%len(f.servers)], killPoint{verb: string(rota.VerbFire), when: when, passes: 2})
		f.killAndRestart(f.servers[(i+1)%len(f.servers)])
	}
	a := f.auditTicks()
	defer a.store.Close()
	a.checkLimits(f)
	a.checkClusterLogs(f)
}

// auditTicks pauses the schedules, stops the servers, and audits the store.
func (f *testCluster) auditTicks() *audit {
	f.Helper()
	stopped := f.caller.pauseTicks()
	f.caller.waitUntilIdle()
	f.stopAll()
	a := f.audit()
	a.checkStarts()
	a.checkEndings()
	a.checkSchedules(stopped)
	a.checkLostLeases(f)
	return a
}

// TestSkewedClocksFireNothingTwice sets the clock of one of three servers ahead and of
// another back, by an hour. By the
// clock of the database nothing is fired before its time. Nothing is fired twice, and no
// lease is lost.
func TestSkewedClocksFireNothingTwice(t *testing.T) {
	t.Parallel()
	onSharedStores(t, testSkewedClocks)
}

func testSkewedClocks(t *testing.T, _ failFunc, newCluster newClusterFunc) {
	f := newCluster(t, 3)
	f.startAll()
	f.callerOf(0).declareTicks()
	f.setClockOffset(f.servers[1], time.Hour)
	f.setClockOffset(f.servers[2], -time.Hour)
	job := f.enqueueHeld("open")
	time.Sleep(3 * clusterLease)
	f.setClockOffset(f.servers[1], -time.Hour) // while it runs
	time.Sleep(clusterLease)
	f.release("open")
	a := f.auditTicks()
	defer a.store.Close()
	a.checkClusterLogs(f)
	if n := f.countAttempts(a.chains[job.ID.ID]); n != 1 {
		t.Errorf("a job has %d attempts; a wrong clock must not fail it", n)
	}
	for _, j := range a.jobs {
		if j.CreatedAt.Before(j.PlanTime) {
			t.Errorf("schedule %s was fired at %s for %s", j.Schedule, j.CreatedAt, j.PlanTime)
		}
	}
}

// TestHungDatabaseIsReported: the database answers nothing, and no connection breaks. No
// schedule can fire then. The server logs that and is not ready, and continues by itself
// afterwards. It stops runs whose lease expires, because another attempt may have
// started, and they are retried.
func TestHungDatabaseIsReported(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 1)
	c := f.startWithSchedule("1s")
	job := f.enqueueHeld("open")
	f.hangDatabase(c)
	f.release("open")
	f.waitUntil("the job was stopped", func() bool { return c.state(job) == "failed" })
	stopped := c.pause("tick-allow")
	c.waitUntilIdle()
	f.stopAll()
	a := f.audit()
	defer a.store.Close()
	a.checkAcknowledged()
	a.checkStarts()
	a.checkEndings()
	a.checkSchedules(stopped)
	a.checkClusterLogs(f)
	if n := len(a.chains[job.ID.ID]); n < 2 {
		t.Errorf("a job that was stopped has %d attempts", n)
	}
}

// TestHungDatabaseIsReportedWhileIdle: no job runs, so no heartbeat of a run fails. See
// the hung call of river #1251.
func TestHungDatabaseIsReportedWhileIdle(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 1)
	c := f.startWithSchedule("3s")
	c.waitUntilIdle()
	time.Sleep(500 * time.Millisecond) // the server has nothing to do until the next fire
	f.hangDatabase(c)
	f.stopAll()
}

// startWithSchedule starts a cluster of one server with a schedule, and waits until the
// schedule has fired.
func (f *testCluster) startWithSchedule(every string) *caller {
	f.Helper()
	f.startAll()
	c := f.callerOf(0)
	c.mustWrite("POST", "/templates", object{"name": "tick", "type": "ledger"}, nil)
	c.mustWrite("POST", "/schedules", object{"name": "tick-allow", "template": "tick", "every": every, "catch_up": "all"}, nil)
	c.waitForTicks("tick-allow", time.Now(), 1)
	return c
}

// hangDatabase holds the connection to the database until the server has reported it,
// and checks that the schedule continues afterwards.
func (f *testCluster) hangDatabase(c *caller) {
	f.Helper()
	s := f.servers[0]
	hung := f.faults.begin("partition", s)
	s.proxy.Hold()
	logged, unready := false, false
	for !(logged && unready) && time.Since(hung.from) < hungReportMax {
		time.Sleep(100 * time.Millisecond)
		if !logged && strings.Contains(s.log(), "level=ERROR") {
			logged = true
			f.Logf("after %s the server logged an error", time.Since(hung.from).Round(100*time.Millisecond))
		}
		if status, _ := c.ready(); !unready && status == http.StatusServiceUnavailable {
			unready = true
			f.Logf("after %s the server was not ready", time.Since(hung.from).Round(100*time.Millisecond))
		}
	}
	if !logged || !unready {
		f.Errorf("the database has hung for %s; error logged: %t, server not ready: %t", hungReportMax, logged, unready)
	}
	s.proxy.Resume()
	f.faults.end(hung)
	f.waitUntil("the server is ready", func() bool { status, _ := c.ready(); return status == http.StatusOK })
	c.waitForTicks("tick-allow", time.Now(), 2)
}

// hungReportMax is how long the server may take to report the problem.
const hungReportMax = 30 * time.Second

// TestEnqueuedJobIsVisibleAtEveryServer reads each job once, right after it was created:
// dkron #1080 answered 404 then.
func TestEnqueuedJobIsVisibleAtEveryServer(t *testing.T) {
	t.Parallel()
	onSharedStores(t, testJobIsVisibleAtEveryServer)
}

func testJobIsVisibleAtEveryServer(t *testing.T, _ failFunc, newCluster newClusterFunc) {
	f := newCluster(t, 2)
	f.startAll()
	for i := range 20 {
		job := f.callerOf(i%2).enqueue(object{"until": f.path("open")}, nil)
		addr, _ := f.servers[1-i%2].address()
		a, err := f.caller.sendOnce(t.Context(), "GET", "http://"+addr+"/api/v1/jobs/"+job.ID.String(), nil, "")
		must(t, err)
		if a.status != http.StatusOK {
			t.Errorf("job %d was enqueued at one server, but the other answers %d: %s", i, a.status, a.body)
		}
	}
	f.release("open")
	f.caller.waitUntilIdle()
	f.stopAll()
}
