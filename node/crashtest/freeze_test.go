//go:build unix

package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

// TestFrozenServer stops the whole process for three leases, as a machine that
// sleeps does. Its runs continue and complete, and none runs twice. A worker that could
// not reach it meanwhile has the time of a lease for its next heartbeat.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	s := newServerDir(t)
	l, c, b := s.run(envStaleWorker+"=50ms:abandoned"), newCaller(s), newAnswerLog()
	c.must("PUT", "/types/abandoned", object{"max_retries": 0}, nil)
	c.must("POST", "/templates", object{"name": "tick", "type": "ledger"}, nil)
	c.must("POST", "/schedules", object{"name": "tick-allow", "template": "tick", "every": "1s", "catch_up": "all"}, nil)
	var ran []httpapi.Job
	for range 3 {
		mark := b.mark()
		ran = append(ran, c.enqueue(object{"behave": "sleep", "for": "1500ms", "mark": mark}, nil))
		b.acknowledge(mark, ran[len(ran)-1])
	}
	time.Sleep(rota.LeaseMin) // past the time that a start allows runs of earlier workers
	staleWorker := c.enqueue(nil, object{"type": "abandoned", "params": object{}})
	s.until("the stale worker has claimed the job", func() bool { return c.state(staleWorker) == "running" })

	l.signal(syscall.SIGSTOP)
	time.Sleep(3 * time.Second)
	resumed := time.Now()
	l.signal(syscall.SIGCONT)
	s.until("the run of the stale worker is reaped", func() bool { return c.state(staleWorker) == "failed" })
	stopped := time.Now()
	c.must("POST", "/schedules/tick-allow/pause", nil, nil)
	c.waitUntilIdle()
	l.stop()

	a := s.audit(b)
	defer a.store.Close()
	a.acknowledged()
	a.started()
	a.endings()
	a.schedules(stopped)
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
