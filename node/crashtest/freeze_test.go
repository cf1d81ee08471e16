//go:build unix

package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// TestFrozenServerLosesNoLease stops the whole process for three leases, as a machine
// that sleeps does. Its runs continue and complete, and none runs twice. A worker that
// could not reach the server meanwhile has the duration of a lease for its next
// heartbeat.
func TestFrozenServerLosesNoLease(t *testing.T) {
	t.Parallel()
	s := newServerDir(t)
	proc, c, answers := s.startUntilReady(envStaleWorker+"=50ms:abandoned"), newCaller(s), newAnswerLog()
	c.mustWrite("PUT", "/types/abandoned", object{"max_retries": 0}, nil)
	c.mustWrite("POST", "/templates", object{"name": "tick", "type": "ledger"}, nil)
	c.mustWrite("POST", "/schedules", object{"name": "tick-allow", "template": "tick", "every": "1s", "catch_up": "all"}, nil)
	var ran []api.Job
	for range 3 {
		mark := answers.newMark()
		ran = append(ran, c.enqueue(object{"behave": "sleep", "for": "1500ms", "mark": mark}, nil))
		answers.acknowledge(mark, ran[len(ran)-1])
	}
	time.Sleep(rota.LeaseMin) // until the grace period after a start, for runs of earlier workers, is over
	staleWorker := c.enqueue(nil, object{"type": "abandoned", "params": object{}})
	s.waitUntil("the stale worker has claimed the job", func() bool { return c.state(staleWorker) == "running" })

	proc.signal(syscall.SIGSTOP)
	time.Sleep(3 * time.Second)
	resumed := time.Now()
	proc.signal(syscall.SIGCONT)
	s.waitUntil("the run of the stale worker is reaped", func() bool { return c.state(staleWorker) == "failed" })
	stopped := time.Now()
	c.mustWrite("POST", "/schedules/tick-allow/pause", nil, nil)
	c.waitUntilIdle()
	proc.stop()

	a := s.audit(answers)
	defer a.store.Close()
	a.checkAcknowledged()
	a.checkStarts()
	a.checkEndings()
	a.checkSchedules(stopped)
	for _, job := range ran {
		if chain := a.chains[job.ID.ID]; len(chain) != 1 || chain[0].State() != rota.StateCompleted {
			t.Errorf("job %s has %d attempts and ended %s; a pause must not fail it", job.ID, len(chain), chain[0].State())
		}
	}
	run := a.jobs[staleWorker.ID.ID].Run
	if grace := run.FinishedAt.Sub(resumed); run.ErrorCode != rota.CodeLeaseExpired || grace < 9*rota.LeaseMin/10 {
		t.Errorf("the run of the stale worker was reaped as %q, %s after the pause", run.ErrorCode, grace)
	}
}
