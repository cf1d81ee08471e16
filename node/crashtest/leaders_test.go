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

// TestSchedulesFireOnceWhileProcessesAreKilled kills any of three servers before it
// fires, after it fired, or at any other moment: each planned time is fired once.
func TestSchedulesFireOnceWhileProcessesAreKilled(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 3)
	f.startAll()
	f.caller.declareTicks()
	for i, when := range []string{"before", "after", "before", "after", "after"} {
		f.killAt(f.servers[i%len(f.servers)], point{verb: string(rota.VerbFire), when: when, often: 2})
		f.kill(f.servers[(i+1)%len(f.servers)])
	}
	a := f.auditTicks()
	defer a.store.Close()
	a.limits(f)
	a.clusterComplaints(f)
}

// auditTicks ends the ticking and the servers, and looks at what they left.
func (f *testCluster) auditTicks() *audit {
	f.Helper()
	stopped := f.caller.pauseTicks()
	f.caller.waitUntilIdle()
	f.stop()
	a := f.audit()
	a.started()
	a.endings()
	a.schedules(stopped)
	a.losses(f)
	return a
}

// TestSkewedClocksFireNothingTwice: of three servers one is ahead and one is
// behind, by more than a lease and than the time between two fires. Nothing is
// fired before its time by the database's clock, nothing twice, and no lease is
// lost.
func TestSkewedClocksFireNothingTwice(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 3)
	f.startAll()
	f.of(0).declareTicks()
	f.skew(f.servers[1], skewMost)
	f.skew(f.servers[2], -skewMost)
	job := f.enqueueHeld("open")
	time.Sleep(3 * clusterLease)
	f.skew(f.servers[1], -skewMost) // set while it runs
	time.Sleep(clusterLease)
	f.release("open")
	a := f.auditTicks()
	defer a.store.Close()
	a.clusterComplaints(f)
	if n := f.tried(a.chains[job.ID.ID]); n != 1 {
		t.Errorf("a job was tried %d times; clocks are not its fault", n)
	}
	for _, j := range a.jobs {
		if j.CreatedAt.Before(j.PlanTime) {
			t.Errorf("schedule %s was fired at %s for %s", j.Schedule, j.CreatedAt, j.PlanTime)
		}
	}
}

// TestHungDatabaseIsReported: what is sent to the database gets no answer, and
// no connection breaks. No schedule can fire then; the server logs that and is not
// ready, and continues by itself afterwards. It stops runs whose lease expires, since
// another attempt may have started, and they are retried.
func TestHungDatabaseIsReported(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 1)
	c := f.ticking("1s")
	job := f.enqueueHeld("open")
	f.hangs(c)
	f.release("open")
	f.until("the job was stopped", func() bool { return c.state(job) == "failed" })
	stopped := c.pause("tick-allow")
	c.waitUntilIdle()
	f.stop()
	a := f.audit()
	defer a.store.Close()
	a.acknowledged()
	a.started()
	a.endings()
	a.schedules(stopped)
	a.clusterComplaints(f)
	if n := len(a.chains[job.ID.ID]); n < 2 {
		t.Errorf("a job that was stopped was tried %d times", n)
	}
}

// TestHungDatabaseIsReportedWhileIdle: no job runs, so no heartbeat fails. It is the
// hung call of river #1251.
func TestHungDatabaseIsReportedWhileIdle(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 1)
	c := f.ticking("3s")
	c.waitUntilIdle()
	time.Sleep(500 * time.Millisecond) // until the next fire there is nothing to do
	f.hangs(c)
	f.stop()
}

// ticking starts a cluster of one server with a schedule that has fired.
func (f *testCluster) ticking(every string) *caller {
	f.Helper()
	f.startAll()
	c := f.of(0)
	c.must("POST", "/templates", object{"name": "tick", "type": "ledger"}, nil)
	c.must("POST", "/schedules", object{"name": "tick-allow", "template": "tick", "every": every, "catch_up": "all"}, nil)
	c.waitForTicks("tick-allow", time.Now(), 1)
	return c
}

// hangs lets the database hang until the server has reported it, and checks that the schedule continues
// afterwards.
func (f *testCluster) hangs(c *caller) {
	f.Helper()
	s := f.servers[0]
	hung := f.faults.begin("partition", s)
	s.proxy.Hold()
	logged, unready := false, false
	for !(logged && unready) && time.Since(hung.from) < hungMost {
		time.Sleep(100 * time.Millisecond)
		if !logged && strings.Contains(s.log(), "level=ERROR") {
			logged = true
			f.Logf("after %s the log says so", time.Since(hung.from).Round(100*time.Millisecond))
		}
		if status, _ := c.ready(); !unready && status == http.StatusServiceUnavailable {
			unready = true
			f.Logf("after %s the server is not ready", time.Since(hung.from).Round(100*time.Millisecond))
		}
	}
	if !logged || !unready {
		f.Errorf("the database has hung for %s; the log says so: %t, the server is not ready: %t", hungMost, logged, unready)
	}
	s.proxy.Resume()
	f.faults.end(hung)
	f.until("the server is ready", func() bool { status, _ := c.ready(); return status == http.StatusOK })
	c.waitForTicks("tick-allow", time.Now(), 2)
}

// hungMost is how long the server may take to report the problem.
const hungMost = 30 * time.Second

// TestEnqueuedJobIsVisibleAtEveryServer: dkron #1080 answered 404 right after a job
// was created. The test reads each job only once.
func TestEnqueuedJobIsVisibleAtEveryServer(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 2)
	f.startAll()
	for i := range 20 {
		job := f.of(i%2).enqueue(object{"until": f.path("open")}, nil)
		addr, _ := f.servers[1-i%2].where()
		a, err := f.caller.once(t.Context(), "GET", "http://"+addr+"/api/v1/jobs/"+job.ID.String(), nil, "")
		must(t, err)
		if a.status != http.StatusOK {
			t.Errorf("job %d was made at one server, and the other answers %d: %s", i, a.status, a.body)
		}
	}
	f.release("open")
	f.caller.waitUntilIdle()
	f.stop()
}
