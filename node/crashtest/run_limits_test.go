//go:build unix

package main

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestStoppedRunFreesItsLimit: the stale worker ignores the cancel of its run, so the
// server ends the run after the grace, and the next job of the concurrency key starts. The
// ledger never contains an end of the first run, and the check of the limits accepts that.
func TestStoppedRunFreesItsLimit(t *testing.T) {
	t.Parallel()
	retryIfSlow(t, func(t *testing.T, fail failFunc) {
		f := newTestCluster(t, pgtest.Shared(t), 1)
		f.servers[0].startUntilReady(envStaleWorker + "=50ms:abandoned")
		f.caller.mustWrite("PUT", "/types/abandoned", object{"max_retries": 0}, nil)
		f.caller.mustWrite("PUT", "/limits", object{"keys": keyLimits}, nil)
		first := f.caller.enqueue(nil, object{"type": "abandoned", "params": object{}, "concurrency_key": "one"})
		f.waitUntil("the stale worker has claimed the job", func() bool { return len(f.ledgerOf(first.ID.ID)) == 1 })
		f.caller.mustWrite("POST", "/jobs/"+first.ID.String()+"/cancel", nil, nil)
		mark := f.answers.newMark()
		second := f.caller.enqueue(object{"behave": "succeed", "mark": mark}, object{"concurrency_key": "one"})
		f.answers.acknowledge(mark, second)
		f.waitUntil("the next job is done", func() bool { return f.lastAttempt(second).State() == rota.StateCompleted })
		f.stopAll()
		if j := f.lastAttempt(first); !stoppedByServer(j) { // no lease counts as expired during the first lease after the start of the server
			fail(f, "the cancelled run ended %s with the error %q", j.State(), j.Run.Error)
		}
		f.checkConsistency()
	})
}

// TestRunWithoutEndInLedger checks which runs count as ended for a limit although their
// handler has not recorded an end.
func TestRunWithoutEndInLedger(t *testing.T) {
	end := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, runner, error string
		at                  time.Time
		want                bool
	}{
		{"the lease expired", "server-1", "lease expired: server-1 was last heard of at 12:00", end.Add(time.Second), true},
		{"the lease expired later", "server-1", "lease expired: server-1 was last heard of at 12:00", end, false},
		{"the server stopped the stale worker", staleWorkerName, "cancelled; worker stale-worker did not stop within 200ms", end.Add(time.Second), true},
		{"the server stopped the stale worker at its timeout", staleWorkerName, "timed out after 50ms; worker stale-worker did not stop within 200ms", end.Add(time.Second), true},
		{"the server stopped the stale worker later", staleWorkerName, "cancelled; worker stale-worker did not stop within 200ms", end, false},
		{"the server stopped the run of an engine", "server-1", "cancelled; worker server-1 did not stop within 200ms", end.Add(time.Second), false},
		{"the engine cancelled the run", "server-1", "cancelled", end.Add(time.Second), false},
		{"the stale worker completed the run", staleWorkerName, "", end.Add(time.Second), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := &rota.Job{ID: rota.NewID(), Run: &rota.Run{Runner: c.runner, Error: c.error, FinishedAt: end}}
			a := &audit{jobs: map[rota.ID]*rota.Job{j.ID: j}}
			if got := a.endedBy(&testCluster{}, line{job: j.ID}, c.at); got != c.want {
				t.Errorf("the run counts as ended: %t, want %t", got, c.want)
			}
		})
	}
}
