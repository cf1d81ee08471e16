//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// Each of these tests is about a failure that only several processes can show.

// TestReusedNameKeepsRunsOfOtherProcess: two servers have the same configured name. One
// that starts does not recover the runs of the other, and when one dies the other reaps
// its runs.
func TestReusedNameKeepsRunsOfOtherProcess(t *testing.T) {
	t.Parallel()
	retryIfSlow(t, func(t *testing.T, fail failFunc) {
		f := newTestCluster(t, pgtest.Shared(t), 2)
		first, second := f.servers[0], f.servers[1]
		first.startUntilReady()
		job := f.enqueueHeld("open")
		for range 2 { // the second time it has an earlier incarnation
			second.startUntilReady()
			time.Sleep(clusterLease + clusterLease/2)
			if n := len(f.chain(job)); n != 1 || f.caller.state(job) != "running" {
				fail(f, "a server with the same name started: job %s has %d attempts and is %s", job.ID, n, f.caller.state(job))
			}
			f.ensureKilled(second)
		}
		second.startUntilReady()
		f.ensureKilled(first)
		f.release("open")
		f.until("the other server has rescued the job", func() bool { return len(f.chain(job)) == 2 && f.lastAttempt(job).State() == rota.StateCompleted })
		second.incarnation().stop()
		if a := f.chain(job)[0]; !reaped(a) {
			fail(f, "the first attempt ended %s %q", a.State(), a.Run.Error)
		}
		f.checkConsistency()
	})
}

// TestResumedProcessChangesNothing: while a process was frozen, another attempt of its
// job started. The result of the first is refused because its lease is lost, and the
// slot of the lease is not freed a second time.
func TestResumedProcessChangesNothing(t *testing.T) {
	t.Parallel()
	retryIfSlow(t, func(t *testing.T, fail failFunc) {
		f := newTestCluster(t, pgtest.Shared(t), 2)
		first, second := f.servers[0], f.servers[1]
		first.startUntilReady()
		f.caller.must("PUT", "/limits", object{"keys": keyLimits}, nil)
		job := f.enqueueHeld("open", "concurrency_key", "one")
		second.startUntilReady()
		f.checkFirstAttempt(job, fail)
		frozen := f.faults.begin("freeze", first)
		first.incarnation().signal(syscall.SIGSTOP)
		c := f.of(1)
		f.until("another attempt runs", func() bool { return len(f.chain(job)) == 2 && f.lastAttempt(job).State() == rota.StateRunning })
		f.release("open") // both of them find it
		f.until("the other attempt is done", func() bool { return f.lastAttempt(job).State() == rota.StateCompleted })
		before := f.chain(job)[0]
		first.incarnation().signal(syscall.SIGCONT)
		f.faults.end(frozen)
		for range 6 {
			mark := f.answers.mark()
			f.answers.acknowledge(mark, c.enqueue(object{"behave": "sleep", "for": "100ms", "mark": mark}, object{"concurrency_key": "one"}))
		}
		f.until("the frozen server is notified", func() bool { return reportsLost(first.log(), job.ID.ID) })
		c.waitUntilIdle()
		f.stop()
		after := f.chain(job)
		a := after[0]
		if !a.Run.FinishedAt.Equal(before.Run.FinishedAt) || a.Run.Outcome != before.Run.Outcome || a.Run.Error != before.Run.Error {
			t.Errorf("it came back, and the job that it had lost is %+v, %+v before", a.Run, before.Run) // however slow the machine is
		}
		if len(after) != 2 || a.Run.Outcome != rota.OutcomeFailed || a.Run.ErrorCode != rota.CodeLeaseExpired {
			fail(f, "the job that it had lost has %d attempts, the first %+v", len(after), a.Run)
		}
		f.checkConsistency()
	})
}

// TestPartitionedProcessStopsItsRuns: a partitioned server cannot know whether other
// attempts of its jobs have started. When its leases expire it stops its runs by itself,
// before or when another attempt starts.
func TestPartitionedProcessStopsItsRuns(t *testing.T) {
	t.Parallel()
	retryIfSlow(t, func(t *testing.T, fail failFunc) {
		f := newTestCluster(t, pgtest.Shared(t), 2)
		first, second := f.servers[0], f.servers[1]
		first.startUntilReady()
		job := f.enqueueHeld("open")
		second.startUntilReady()
		f.checkFirstAttempt(job, fail)
		parted := f.faults.begin("partition", first)
		first.proxy.Hold()
		f.until("another attempt runs", func() bool { return len(f.chain(job)) == 2 && len(f.ledgerOf(f.lastAttempt(job).ID)) == 1 })
		began := f.ledgerOf(f.lastAttempt(job).ID)[0].at
		f.until("the first attempt has ended", func() bool { return len(f.ledgerOf(job.ID.ID)) == 2 })
		if end := f.ledgerOf(job.ID.ID)[1]; end.how != "stopped" || end.at.Sub(began) > clusterLease/3 {
			fail(f, "the first attempt ended %s, %s after another began", end.how, end.at.Sub(began))
		}
		f.release("open")
		f.until("the other attempt is done", func() bool { return f.lastAttempt(job).State() == rota.StateCompleted })
		first.proxy.Resume()
		f.faults.end(parted)
		f.until("the partitioned server is notified", func() bool { return reportsLost(first.log(), job.ID.ID) })
		f.stop()
		f.checkConsistency()
	})
}

// TestClaimAnsweredAfterLeaseStartsNothing: a process freezes, or its answer
// is delayed, right after its claim was applied. When it continues, its lease has
// expired and another attempt runs.
func TestClaimAnsweredAfterLeaseStartsNothing(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 2, "ROTA_WORKERS=1")
	late, other := f.servers[0], f.servers[1]
	other.startUntilReady()
	first := f.enqueueHeld("first") // the only slot is taken
	job := f.caller.enqueue(object{"until": f.path("second")}, nil)
	frozen := f.faults.begin("freeze", late)
	late.begin(envKill + "=claim:taken:1:freeze")
	f.until("it is claimed", func() bool { return f.chain(job)[0].State() == rota.StateRunning })
	f.release("first")
	f.until("another attempt runs", func() bool { return len(f.chain(job)) == 2 && len(f.ledgerOf(f.lastAttempt(job).ID)) == 1 })
	late.incarnation().signal(syscall.SIGCONT)
	f.faults.end(frozen)
	f.until("the frozen server is notified", func() bool { return reportsLost(late.log(), job.ID.ID) })
	if lines := f.ledgerOf(job.ID.ID); len(lines) > 0 {
		t.Errorf("the first attempt was started at %s, when its lease had been lost since %s", lines[0].at, f.chain(job)[0].Run.FinishedAt)
	}
	f.release("second")
	f.until("all is done", func() bool {
		return f.caller.state(first) == "completed" && f.lastAttempt(job).State() == rota.StateCompleted
	})
}

// TestStoppingProcessKeepsItsLeases: a stopping server waits for its jobs and sends
// heartbeats meanwhile, so that no other server reaps them.
func TestStoppingProcessKeepsItsLeases(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 2, "ROTA_SHUTDOWN_GRACE=30s")
	f.servers[0].startUntilReady()
	job := f.enqueueHeld("open")
	f.servers[1].startUntilReady()
	f.servers[0].incarnation().signal(syscall.SIGTERM)
	time.Sleep(3 * clusterLease)
	f.release("open")
	if l := f.servers[0].incarnation(); !l.diesWithin(waitMax) || l.howItEnded() != "exit 0" {
		t.Errorf("after the signal to stop, a server ended with %s", l.howItEnded())
	}
	f.servers[1].incarnation().stop()
	if chain := f.chain(job); f.tried(chain) != 1 || chain[len(chain)-1].State() != rota.StateCompleted {
		t.Errorf("a job of a server that stops has %d attempts, the last of them %s", len(chain), chain[len(chain)-1].State())
	}
	f.checkConsistency()
}

// TestBrokenConnectionsLoseNoLease: PostgreSQL ends all connections again and
// again. The servers reconnect, no lease is lost and no job is retried.
func TestBrokenConnectionsLoseNoLease(t *testing.T) {
	t.Parallel()
	f := newTestCluster(t, pgtest.Shared(t), 2)
	f.startAll()
	var jobs []httpapi.Job
	for i := range 4 {
		jobs = append(jobs, f.enqueueHeld(fmt.Sprint("open-", i)))
	}
	for range 8 {
		f.cut()
		time.Sleep(clusterLease / 4)
	}
	for i, job := range jobs {
		f.release(fmt.Sprint("open-", i))
		f.until("the job is done", func() bool { return f.lastAttempt(job).State() == rota.StateCompleted })
		if n := f.tried(f.chain(job)); n != 1 {
			t.Errorf("job %s has %d attempts; a broken connection must not fail it", job.ID, n)
		}
	}
	f.stop()
	f.checkConsistency()
}

// enqueueHeld enqueues a job that runs until a file exists, and waits until it runs.
// Further fields of the request are given in pairs.
func (f *testCluster) enqueueHeld(file string, more ...string) httpapi.Job {
	f.Helper()
	mark, body := f.answers.mark(), object{}
	for i := 0; i < len(more); i += 2 {
		body[more[i]] = more[i+1]
	}
	job := f.caller.enqueue(object{"until": f.path(file), "mark": mark}, body)
	f.answers.acknowledge(mark, job)
	f.until("the job runs", func() bool { return len(f.ledgerOf(job.ID.ID)) == 1 })
	return job
}

// release creates the file that jobs wait for.
func (f *testCluster) release(file string) {
	f.Helper()
	must(f, os.WriteFile(f.path(file), nil, 0o600))
}

// checkFirstAttempt checks that the first attempt of a job is still running.
func (f *testCluster) checkFirstAttempt(job httpapi.Job, fail failFunc) {
	f.Helper()
	if chain := f.chain(job); len(chain) != 1 || chain[0].State() != rota.StateRunning {
		fail(f, "nothing was done to job %s, and it has %d attempts, the first %s", job.ID, len(chain), chain[0].State())
	}
}

// chain are the attempts at a job, as the database has them.
func (f *testCluster) chain(job httpapi.Job) []*rota.Job {
	f.Helper()
	chain, err := f.reader().Execution(f.Context(), job.ID.ID)
	must(f, err)
	return chain
}

// lastAttempt is the last attempt at a job.
func (f *testCluster) lastAttempt(job httpapi.Job) *rota.Job {
	f.Helper()
	chain := f.chain(job)
	return chain[len(chain)-1]
}

// checkConsistency compares the database with the ledger after all servers have ended.
func (f *testCluster) checkConsistency() {
	f.Helper()
	a := f.audit()
	defer a.store.Close()
	a.acknowledged()
	a.started()
	a.endings()
	a.losses(f)
	a.limits(f)
	a.clusterComplaints(f)
}

// log is the log of a server.
func (s *serverDir) log() string {
	text, _ := os.ReadFile(s.path("log"))
	return string(text)
}
