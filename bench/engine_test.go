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
			t.Errorf("percentile %d is %d, want %d", percent, got, want)
		}
	}
	if percentile(nil, 50) != 0 {
		t.Error("the percentile of no times is not 0")
	}
}

func TestCounterClosesChannelAtCount(t *testing.T) {
	var ran counter
	for range 2 { // one counter serves several parts
		reached := ran.await(3)
		ran.add(2)
		select {
		case <-reached:
			t.Fatal("the channel is closed at 2 of 3")
		default:
		}
		ran.add(2)
		ran.add(1)
		<-reached
	}
}

// A pool that leaves jobs unfinished is an error, so that it gets no figure.
func TestUnfinishedJobsAreAnError(t *testing.T) {
	for _, a := range allContenders() {
		t.Run(a.name, func(t *testing.T) {
			c, err := a.open(t.Context(), t.TempDir()+"/pool.db", 4)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.fill(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			if c.close(t.Context(), 3) == nil {
				t.Error("unfinished jobs are accepted")
			}
		})
	}
}
