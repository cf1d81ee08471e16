package worker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// waited measures how long a backoff waits.
func waited(t *testing.T, ctx context.Context, b *backoff) time.Duration {
	t.Helper()
	began := time.Now()
	if err := b.wait(ctx); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

func TestBackoffGrowsAndResets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b backoff
		if d := waited(t, t.Context(), &b); d != 0 {
			t.Errorf("nothing has failed, but it waited %v", d)
		}
		different := map[time.Duration]bool{}
		for _, most := range []time.Duration{50, 100, 200, 400, 800, 1000, 1000} {
			b.failed(0)
			d := waited(t, t.Context(), &b)
			different[d*time.Millisecond/most] = true
			if most *= time.Millisecond; d < most/2 || d > most {
				t.Errorf("waited %v, want %v to %v", d, most/2, most)
			}
		}
		if len(different) < 3 {
			t.Error("all workers would retry at the same time")
		}
		b.succeeded()
		if d := waited(t, t.Context(), &b); d != 0 {
			t.Errorf("after a success it waited %v", d)
		}
		b.failed(0)
		if d := waited(t, t.Context(), &b); d > backoffFirst {
			t.Errorf("the first failure after a success waited %v", d)
		}
	})
}

func TestBackoffHonoursRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b backoff
		b.failed(8 * time.Second)
		if d := waited(t, t.Context(), &b); d < 8*time.Second || d > 10*time.Second {
			t.Errorf("waited %v, want 8s", d)
		}
		b.failed(48 * time.Hour)
		if d := waited(t, t.Context(), &b); d > 75*time.Second {
			t.Errorf("waited %v: a Retry-After of days must be bounded", d)
		}
	})
}

// A heartbeat with a deadline must be sent before its lease ends.
func TestBackoffLeavesHalfOfDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b backoff
		b.failed(time.Minute)
		ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
		defer done()
		if d := waited(t, ctx, &b); d != 5*time.Second {
			t.Errorf("waited %v of 10s", d)
		}
		why := errors.New("enough")
		ended, end := context.WithCancelCause(t.Context())
		end(why)
		if err := b.wait(ended); !errors.Is(err, why) {
			t.Errorf("with an ended context it returns %v", err)
		}
	})
}
