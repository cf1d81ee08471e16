package httpapi

import (
	"fmt"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestTheStaffIsBounded, whatever workers call themselves and ask for, and who was
// heard of last is remembered.
func TestTheStaffIsBounded(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s := newWorkerRegistry(func() time.Time { return now })
	honest := func() *workerInfo { return s.recordClaim("honest", []string{"mail"}) }
	h := honest()
	for n := range 3 * registryTypesMax / rota.TypesMax {
		types := make([]string, rota.TypesMax)
		for i := range types {
			types[i] = fmt.Sprint("t", n, ".", i)
		}
		now = now.Add(time.Second)
		s.recordClaim(fmt.Sprint("w", n), types)
		if n%10 == 0 {
			honest()
		}
	}
	if known := len(s.workersByType()); known > registryTypesMax || s.typeCount > registryTypesMax || len(s.workers) != s.recent.Len() || s.workersByType()["mail"] != 1 {
		t.Errorf("%d types are known, %d counted, %d hands, %d for mail", known, s.typeCount, len(s.workers), s.workersByType()["mail"])
	}
	if asked, _ := s.lastClaim("t0.0"); asked.Before(time.Unix(1_000_001, 0)) {
		t.Errorf("who was forgotten is said not to have asked since %v", asked)
	}
	for range 3 * registryRunsMax {
		s.recordRuns(h, []*rota.Job{{Run: &rota.Run{ID: rota.NewID(), StaleAfter: now.Add(time.Hour)}}})
	}
	if len(s.runs) > registryRunsMax || h.runs != len(s.runs) {
		t.Errorf("%d runs are known, %d counted", len(s.runs), h.runs)
	}
	s.evict(h)
	for id := range s.runs {
		s.updateRun(id, now)
		s.updateRun(id, time.Time{})
	}
	if len(s.runs) > 0 || h.runs != 0 || s.workersByType()["mail"] != 0 {
		t.Errorf("%d runs are left, %d open, of one who was forgotten", len(s.runs), h.runs)
	}
}

// TestAHandThatIsEmptyIsGoneSoon, however long the lease was that it had, and a
// claim sent again gives it nothing twice.
func TestAHandThatIsEmptyIsGoneSoon(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s := newWorkerRegistry(func() time.Time { return now })
	h := s.recordClaim("w", []string{"mail"})
	run := &rota.Run{ID: rota.NewID(), StaleAfter: now.Add(time.Hour)}
	for range 2 {
		s.recordRuns(h, []*rota.Job{{Run: run}})
	}
	now = now.Add(30 * time.Minute)
	if _, runs := s.lastClaim("mail"); runs != 1 || s.workersByType()["mail"] != 1 {
		t.Errorf("%d workers have %d runs", s.workersByType()["mail"], runs)
	}
	s.updateRun(run.ID, time.Time{})
	now = now.Add(workerActiveFor)
	if _, runs := s.lastClaim("mail"); runs != 0 || s.workersByType()["mail"] != 0 {
		t.Errorf("%d workers have %d runs, long after the last", s.workersByType()["mail"], runs)
	}
}
