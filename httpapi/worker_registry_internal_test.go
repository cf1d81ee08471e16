package httpapi

import (
	"fmt"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestWorkerRegistryIsBounded registers many names and types, and checks that recently seen workers
// are kept.
func TestWorkerRegistryIsBounded(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	r := newWorkerRegistry(func() time.Time { return now })
	honest := func() *workerInfo { return r.recordClaim("honest", []string{"mail"}) }
	info := honest()
	for n := range 3 * registryTypesMax / rota.TypesMax {
		types := make([]string, rota.TypesMax)
		for i := range types {
			types[i] = fmt.Sprint("t", n, ".", i)
		}
		now = now.Add(time.Second)
		r.recordClaim(fmt.Sprint("w", n), types)
		if n%10 == 0 {
			honest()
		}
	}
	if known := len(r.workersByType()); known > registryTypesMax || r.typeCount > registryTypesMax || len(r.workers) != r.recent.Len() || r.workersByType()["mail"] != 1 {
		t.Errorf("%d types are known, %d counted, %d entries, %d workers for mail", known, r.typeCount, len(r.workers), r.workersByType()["mail"])
	}
	if claimedAt, _ := r.lastClaim("t0.0"); claimedAt.Before(time.Unix(1_000_001, 0)) {
		t.Errorf("the last claim of an evicted worker is reported as before %v", claimedAt)
	}
	for range 3 * registryRunsMax {
		r.recordRuns(info, []*rota.Job{{Run: &rota.Run{ID: rota.NewID(), StaleAfter: now.Add(time.Hour)}}})
	}
	if len(r.runs) > registryRunsMax || info.runs != len(r.runs) {
		t.Errorf("%d runs are known, %d counted", len(r.runs), info.runs)
	}
	r.evict(info)
	for id := range r.runs {
		r.updateRun(id, now)
		r.updateRun(id, time.Time{})
	}
	if len(r.runs) > 0 || info.runs != 0 || r.workersByType()["mail"] != 0 {
		t.Errorf("an evicted worker has %d runs, %d open", len(r.runs), info.runs)
	}
}

// TestIdleWorkerBecomesInactive checks that a finished run with a long lease does not keep its worker
// active, and that a repeated claim counts a run once.
func TestIdleWorkerBecomesInactive(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	r := newWorkerRegistry(func() time.Time { return now })
	info := r.recordClaim("w", []string{"mail"})
	run := &rota.Run{ID: rota.NewID(), StaleAfter: now.Add(time.Hour)}
	for range 2 {
		r.recordRuns(info, []*rota.Job{{Run: run}})
	}
	now = now.Add(30 * time.Minute)
	if _, runs := r.lastClaim("mail"); runs != 1 || r.workersByType()["mail"] != 1 {
		t.Errorf("%d workers have %d runs", r.workersByType()["mail"], runs)
	}
	r.updateRun(run.ID, time.Time{})
	now = now.Add(workerActiveFor)
	if _, runs := r.lastClaim("mail"); runs != 0 || r.workersByType()["mail"] != 0 {
		t.Errorf("%d workers have %d runs, long after the last", r.workersByType()["mail"], runs)
	}
}
