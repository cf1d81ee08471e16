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
	s := newStaff(func() time.Time { return now })
	honest := func() *hand { return s.asks("honest", []string{"mail"}) }
	h := honest()
	for n := range 3 * staffTypes / rota.TypesMax {
		types := make([]string, rota.TypesMax)
		for i := range types {
			types[i] = fmt.Sprint("t", n, ".", i)
		}
		now = now.Add(time.Second)
		s.asks(fmt.Sprint("w", n), types)
		if n%10 == 0 {
			honest()
		}
	}
	if known := len(s.workers()); known > staffTypes || s.types > staffTypes || len(s.hands) != s.heard.Len() || s.workers()["mail"] != 1 {
		t.Errorf("%d types are known, %d counted, %d hands, %d for mail", known, s.types, len(s.hands), s.workers()["mail"])
	}
	if asked, _ := s.last("t0.0"); asked.Before(time.Unix(1_000_001, 0)) {
		t.Errorf("who was forgotten is said not to have asked since %v", asked)
	}
	for range 3 * staffRuns {
		s.takes(h, []*rota.Job{{Run: &rota.Run{ID: rota.NewID(), StaleAfter: now.Add(time.Hour)}}})
	}
	if len(s.runs) > staffRuns || h.open != len(s.runs) {
		t.Errorf("%d runs are known, %d counted", len(s.runs), h.open)
	}
	s.forget(h)
	for id := range s.runs {
		s.hears(id, now)
		s.hears(id, time.Time{})
	}
	if len(s.runs) > 0 || h.open != 0 || s.workers()["mail"] != 0 {
		t.Errorf("%d runs are left, %d open, of one who was forgotten", len(s.runs), h.open)
	}
}

// TestAHandThatIsEmptyIsGoneSoon, however long the lease was that it had, and a
// claim sent again gives it nothing twice.
func TestAHandThatIsEmptyIsGoneSoon(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s := newStaff(func() time.Time { return now })
	h := s.asks("w", []string{"mail"})
	run := &rota.Run{ID: rota.NewID(), StaleAfter: now.Add(time.Hour)}
	for range 2 {
		s.takes(h, []*rota.Job{{Run: run}})
	}
	now = now.Add(30 * time.Minute)
	if _, runs := s.last("mail"); runs != 1 || s.workers()["mail"] != 1 {
		t.Errorf("%d workers have %d runs", s.workers()["mail"], runs)
	}
	s.hears(run.ID, time.Time{})
	now = now.Add(staffLately)
	if _, runs := s.last("mail"); runs != 0 || s.workers()["mail"] != 0 {
		t.Errorf("%d workers have %d runs, long after the last", s.workers()["mail"], runs)
	}
}
