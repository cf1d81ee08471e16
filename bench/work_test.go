package main

import (
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	times := make([]time.Duration, 200)
	for i := range times {
		times[i] = time.Duration(200 - i)
	}
	for percent, want := range map[int]time.Duration{50: 100, 99: 198, 100: 200, 0: 1} {
		if got := percentile(times, percent); got != want {
			t.Errorf("%d of a hundred are at most %d, not %d", percent, got, want)
		}
	}
	if percentile(nil, 50) != 0 {
		t.Error("no times have a percentile")
	}
}

func TestATallyTellsWhenItIsReached(t *testing.T) {
	var ran tally
	for range 2 { // it serves one part after the other
		reached := ran.await(3)
		ran.add(2)
		select {
		case <-reached:
			t.Fatal("two are three")
		default:
		}
		ran.add(2)
		ran.add(1)
		<-reached
	}
}

// A subject that leaves jobs unfinished gets no figure.
func TestACrewThatLeavesJobsIsRefused(t *testing.T) {
	for _, a := range allApplicants() {
		t.Run(a.name, func(t *testing.T) {
			c, err := a.open(t.Context(), t.TempDir()+"/crew.db", 4)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.fill(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			if c.close(t.Context(), 3) == nil {
				t.Error("nothing was run, and nobody minded")
			}
		})
	}
}
