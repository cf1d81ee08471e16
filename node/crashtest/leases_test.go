//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// These tests are about leases of several processes on one store.

// TestReusedNameKeepsRunsOfOtherProcess: two servers have the same configured name. A
// server that starts does not recover the runs of the other. When one dies, the other
// reaps its runs.
func TestReusedNameKeepsRunsOfOtherProcess(t *testing.T) {
	t.Parallel()
	onSharedStores(t, func(t *testing.T, fail failFunc, newCluster newClusterFunc) {
		f := newCluster(t, 2)
		first, second := f.servers[0], f.servers[1]
		first.startUntilReady()
		job := f.enqueueHeld("open")
		for range 2 { // the second time the server has an earlier incarnation
			second.startUntilReady()
			time.Sleep(clusterLease + clusterLease/2)
			if n := len(f.chain(job)); n != 1 || f.caller.state(job) != "running" {
				fail(f, "after a server with the same name has started, job %s has %d attempts and is %s", job.ID, n, f.caller.state(job))
			}
			f.ensureKilled(second)
		}
		second.startUntilReady()
		f.ensureKilled(first)
		f.release("open")
		f.waitUntil("the other server has completed the job", func() bool { return len(f.chain(job)) == 2 && f.lastAttempt(job).State() == rota.StateCompleted })
		second.incarnation().stop()
		if a := f.chain(job)[0]; !reaped(a) {
			fail(f, "the first attempt was not reaped: it is %s with the error %q", a.State(), a.Run.Error)
		}
		f.checkConsistency()
	})
}

// TestResumedProcessChangesNothing: while a process was frozen, another attempt of its
// job started. The store refuses the result of the first attempt, because its lease is
// lost, and does not free the slot of the concurrency key a second time.
func TestResumedProcessChangesNothing(t *testing.T) {
	t.Parallel()
	onSharedStores(t, func(t *testing.T, fail failFunc, newCluster newClusterFunc) {
		f := newCluster(t, 2)
		first, second := f.servers[0], f.servers[1]
		first.startUntilReady()
		f.caller.mustWrite("PUT", "/limits", object{"keys": keyLimits}, nil)
		job := f.enqueueHeld("open", "concurrency_key", "one")
		second.startUntilReady()
		f.checkFirstAttempt(job, fail)
		frozen := f.faults.begin("freeze", first)
		first.incarnation().signal(syscall.SIGSTOP)
		c := f.callerOf(1)
		f.waitUntil("another attempt runs", func() bool { return len(f.chain(job)) == 2 && f.lastAttempt(job).State() == rota.StateRunning })
		f.release("open") // both attempts end
		f.waitUntil("the other attempt is done", func() bool { return f.lastAttempt(job).State() == rota.StateCompleted })
		before := f.chain(job)[0]
		first.incarnation().signal(syscall.SIGCONT)
		f.faults.end(frozen)
		for range 6 {
			mark := f.answers.newMark()
			f.answers.acknowledge(mark, c.enqueue(object{"behave": "sleep", "for": "100ms", "mark": mark}, object{"concurrency_key": "one"}))
		}
		f.waitUntil("the frozen server is notified", func() bool { return logsLostLease(first.log(), job.ID.ID) })
		c.waitUntilIdle()
		f.stopAll()
		after := f.chain(job)
		a := after[0]
		if !a.Run.FinishedAt.Equal(before.Run.FinishedAt) || a.Run.Outcome != before.Run.Outcome || a.Run.Error != before.Run.Error {
			t.Errorf("the resumed server changed the run that it had lost to %+v, it was %+v", a.Run, before.Run) // an error even on a slow machine
		}
		if len(after) != 2 || a.Run.Outcome != rota.OutcomeFailed || a.Run.ErrorCode != rota.CodeLeaseExpired {
			fail(f, "the job of the frozen server has %d attempts, the first is %+v", len(after), a.Run)
		}
		f.checkConsistency()
	})
}

// TestPartitionedProcessStopsItsRuns: a partitioned server cannot know whether other
// attempts of its jobs have started. When its leases expire it stops its runs by itself,
// before or when another attempt starts.
func TestPartitionedProcessStopsItsRuns(t *testing.T) {
	t.Parallel()
	onSharedStores(t, func(t *testing.T, fail failFunc, newCluster newClusterFunc) {
		f := newCluster(t, 2)
		first, second := f.servers[0], f.servers[1]
		first.startUntilReady()
		job := f.enqueueHeld("open")
		second.startUntilReady()
		f.checkFirstAttempt(job, fail)
		partitioned := f.faults.begin("partition", first)
		first.proxy.Hold()
		f.waitUntil("another attempt runs", func() bool { return len(f.chain(job)) == 2 && len(f.ledgerOf(f.lastAttempt(job).ID)) == 1 })
		began := f.ledgerOf(f.lastAttempt(job).ID)[0].at
		f.waitUntil("the first attempt has ended", func() bool { return len(f.ledgerOf(job.ID.ID)) == 2 })
		if end := f.ledgerOf(job.ID.ID)[1]; end.result != "stopped" || end.at.Sub(began) > clusterLease/3 {
			fail(f, "the first attempt ended %s, %s after another began", end.result, end.at.Sub(began))
		}
		f.release("open")
		f.waitUntil("the other attempt is done", func() bool { return f.lastAttempt(job).State() == rota.StateCompleted })
		first.proxy.Resume()
		f.faults.end(partitioned)
		f.waitUntil("the partitioned server is notified", func() bool { return logsLostLease(first.log(), job.ID.ID) })
		f.stopAll()
		f.checkConsistency()
	})
}

// TestClaimAnsweredAfterLeaseStartsNothing freezes a process right after its claim was
// applied, which is equal to a delayed answer. When the process continues, its lease has
// expired and another attempt runs.
func TestClaimAnsweredAfterLeaseStartsNothing(t *testing.T) {
	t.Parallel()
	onSharedStores(t, testClaimAnsweredAfterLease)
}

func testClaimAnsweredAfterLease(t *testing.T, _ failFunc, newCluster newClusterFunc) {
	f := newCluster(t, 2, "ROTA_WORKERS=1")
	late, other := f.servers[0], f.servers[1]
	other.startUntilReady()
	first := f.enqueueHeld("first") // the only slot is taken
	job := f.caller.enqueue(object{"until": f.path("second")}, nil)
	frozen := f.faults.begin("freeze", late)
	late.startProcess(envKill + "=claim:returned:1:freeze")
	f.waitUntil("the job is claimed", func() bool { return f.chain(job)[0].State() == rota.StateRunning })
	f.release("first")
	f.waitUntil("another attempt runs", func() bool { return len(f.chain(job)) == 2 && len(f.ledgerOf(f.lastAttempt(job).ID)) == 1 })
	late.incarnation().signal(syscall.SIGCONT)
	f.faults.end(frozen)
	f.waitUntil("the frozen server is notified", func() bool { return logsLostLease(late.log(), job.ID.ID) })
	if lines := f.ledgerOf(job.ID.ID); len(lines) > 0 {
		t.Errorf("the first attempt was started at %s, although its lease was lost at %s", lines[0].at, f.chain(job)[0].Run.FinishedAt)
	}
	f.release("second")
	f.waitUntil("both jobs are completed", func() bool {
		return f.caller.state(first) == "completed" && f.lastAttempt(job).State() == rota.StateCompleted
	})
}

// TestStoppingProcessKeepsItsLeases: a stopping server waits for its jobs and sends
// heartbeats meanwhile, so that no other server reaps them.
func TestStoppingProcessKeepsItsLeases(t *testing.T) {
	t.Parallel()
	onSharedStores(t, testStoppingProcess)
}

func testStoppingProcess(t *testing.T, _ failFunc, newCluster newClusterFunc) {
	f := newCluster(t, 2, "ROTA_SHUTDOWN_GRACE=30s")
	f.servers[0].startUntilReady()
	job := f.enqueueHeld("open")
	f.servers[1].startUntilReady()
	f.servers[0].incarnation().signal(syscall.SIGTERM)
	time.Sleep(3 * clusterLease)
	f.release("open")
	if p := f.servers[0].incarnation(); !p.endsWithin(waitMax) || p.exitStatus() != "exit 0" {
		t.Errorf("after the signal to stop, a server ended with %s", p.exitStatus())
	}
	f.servers[1].incarnation().stop()
	if chain := f.chain(job); f.countAttempts(chain) != 1 || chain[len(chain)-1].State() != rota.StateCompleted {
		t.Errorf("a job of a server that stops has %d attempts, the last of them %s", len(chain), chain[len(chain)-1].State())
	}
	f.checkConsistency()
}

// TestBrokenConnectionsLoseNoLease: PostgreSQL ends all connections repeatedly. The
// servers reconnect, no lease is lost and no job is retried.
func TestBrokenConnectionsLoseNoLease(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 2)
	f.startAll()
	var jobs []api.Job
	for i := range 4 {
		jobs = append(jobs, f.enqueueHeld(fmt.Sprint("open-", i)))
	}
	for range 8 {
		f.disconnectAll()
		time.Sleep(clusterLease / 4)
	}
	for i, job := range jobs {
		f.release(fmt.Sprint("open-", i))
		f.waitUntil("the job is done", func() bool { return f.lastAttempt(job).State() == rota.StateCompleted })
		if n := f.countAttempts(f.chain(job)); n != 1 {
			t.Errorf("job %s has %d attempts; a broken connection must not fail it", job.ID, n)
		}
	}
	f.stopAll()
	f.checkConsistency()
}

// enqueueHeld enqueues a job that runs until a file exists, and waits until it runs.
// Further fields of the request are given in pairs.
func (f *testCluster) enqueueHeld(file string, more ...string) api.Job {
	f.Helper()
	mark, body := f.answers.newMark(), object{}
	for i := 0; i < len(more); i += 2 {
		body[more[i]] = more[i+1]
	}
	job := f.caller.enqueue(object{"until": f.path(file), "mark": mark}, body)
	f.answers.acknowledge(mark, job)
	f.waitUntil("the job runs", func() bool { return len(f.ledgerOf(job.ID.ID)) == 1 })
	return job
}

// release creates the file that jobs wait for.
func (f *testCluster) release(file string) {
	f.Helper()
	must(f, os.WriteFile(f.path(file), nil, 0o600))
}

// checkFirstAttempt checks that the first attempt of a job is still running.
func (f *testCluster) checkFirstAttempt(job api.Job, fail failFunc) {
	f.Helper()
	if chain := f.chain(job); len(chain) != 1 || chain[0].State() != rota.StateRunning {
		fail(f, "before any fault, job %s has %d attempts, and the first is %s", job.ID, len(chain), chain[0].State())
	}
}

// chain returns the attempts at a job from the database.
func (f *testCluster) chain(job api.Job) []*rota.Job {
	f.Helper()
	chain, err := f.readOnlyStore().Execution(f.Context(), job.ID.ID)
	must(f, err)
	return chain
}

// lastAttempt returns the last attempt at a job.
func (f *testCluster) lastAttempt(job api.Job) *rota.Job {
	f.Helper()
	chain := f.chain(job)
	return chain[len(chain)-1]
}

// checkConsistency compares the database with the ledger after all servers have ended.
func (f *testCluster) checkConsistency() {
	f.Helper()
	a := f.audit()
	defer a.store.Close()
	a.checkAcknowledged()
	a.checkStarts()
	a.checkEndings()
	a.checkLostLeases(f)
	a.checkLimits(f)
	a.checkClusterLogs(f)
}

// log returns the log of the server.
func (s *serverDir) log() string {
	text, _ := os.ReadFile(s.path("log"))
	return string(text)
}
