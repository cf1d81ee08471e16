package worker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// waited is how long a lull holds somebody back.
func waited(t *testing.T, ctx context.Context, l *lull) time.Duration {
	t.Helper()
	began := time.Now()
	if err := l.wait(ctx); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

func TestLullGrowsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lull
		if d := waited(t, t.Context(), &l); d != 0 {
			t.Errorf("nothing has failed, and %v were waited", d)
		}
		different := map[time.Duration]bool{}
		for _, most := range []time.Duration{50, 100, 200, 400, 800, 1000, 1000} {
			l.failed(0)
			d := waited(t, t.Context(), &l)
			different[d*time.Millisecond/most] = true
			if most *= time.Millisecond; d < most/2 || d > most {
				t.Errorf("waited %v, want %v to %v", d, most/2, most)
			}
		}
		if len(different) < 3 {
			t.Error("all workers would come back at once")
		}
		l.passed()
		if d := waited(t, t.Context(), &l); d != 0 {
			t.Errorf("all is well again, and %v were waited", d)
		}
		l.failed(0)
		if d := waited(t, t.Context(), &l); d > lullFirst {
			t.Errorf("the next failure is waited for %v: the ones before are over", d)
		}
	})
}

func TestLullIsAsLongAsTheServerAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lull
		l.failed(8 * time.Second)
		if d := waited(t, t.Context(), &l); d < 8*time.Second || d > 10*time.Second {
			t.Errorf("waited %v, asked for were 8s", d)
		}
		l.failed(48 * time.Hour)
		if d := waited(t, t.Context(), &l); d > 75*time.Second {
			t.Errorf("waited %v: who asks for days is mistaken", d)
		}
	})
}

// TestHeartbeatsAreNotHeldBackForLong: a lease would be lost to politeness.
func TestHeartbeatsAreNotHeldBackForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lull
		l.failed(time.Minute)
		ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
		defer done()
		if d := waited(t, ctx, &l); d != 5*time.Second {
			t.Errorf("waited %v of 10s", d)
		}
		why := errors.New("enough")
		ended, end := context.WithCancelCause(t.Context())
		end(why)
		if err := l.wait(ended); !errors.Is(err, why) {
			t.Errorf("who has ended is told %v", err)
		}
	})
}
