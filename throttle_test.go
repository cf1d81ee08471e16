package rota

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func drawRate(t *rapid.T) Rate {
	per := rapid.SampledFrom([]time.Duration{RatePerMin, RatePerMin + 7*time.Microsecond, time.Minute, time.Hour, RatePerMax}).Draw(t, "per")
	return Rate{Count: rapid.IntRange(1, 20).Draw(t, "count"), Per: per}
}

// drawPause is short and long against a period, in whole microseconds.
func drawPause(t *rapid.T, per time.Duration) time.Duration {
	most := per / time.Duration(rapid.SampledFrom([]int{1000, 20, 3, 1}).Draw(t, "share")) * 2
	return time.Duration(rapid.Int64Range(0, most.Microseconds()).Draw(t, "pause")) * time.Microsecond
}

// start takes what there is room for, or less, as a claim does.
func start(t *rapid.T, b *Bucket, r Rate, now time.Time) (count int) {
	*b = b.At(r, now)
	count = rapid.IntRange(0, b.Room(r)).Draw(t, "started")
	if rapid.Bool().Draw(t, "greedy") {
		count = b.Room(r)
	}
	b.Starts[0] += count
	return count
}

// checkStarts counts in every stretch as long as the period that begins with a
// start; no other has more.
func checkStarts(t *rapid.T, starts []time.Time, r Rate) {
	for i, from := range starts {
		n := 0
		for _, at := range starts[i:] {
			if at.Sub(from) <= r.Per {
				n++
			}
		}
		if n > r.Count {
			t.Fatalf("%d starts within %s of %s, allowed are %d", n, r.Per, from, r.Count)
		}
	}
}

func TestARateIsNeverPassed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, b, now := drawRate(t), Bucket{Type: "mail"}, sampleTime
		var starts []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "claims") {
			starts = append(starts, slices.Repeat([]time.Time{now}, start(t, &b, r, now))...)
			if b.Room(r) == 0 {
				checkRoomAt(t, b, r, now)
			}
			now = now.Add(drawPause(t, r.Per))
		}
		checkStarts(t, starts, r)
		if b.Type != "mail" {
			t.Fatalf("it is a bucket of %q", b.Type)
		}
	})
}

// checkRoomAt looks at a full bucket just before and when it has room again.
func checkRoomAt(t *rapid.T, b Bucket, r Rate, now time.Time) {
	at := b.RoomAt(r)
	slot := time.Duration(r.slotLength()) * time.Microsecond
	switch {
	case !at.After(now) || at.Sub(now) > r.Per+2*slot:
		t.Fatalf("at %s it has room again at %s", now, at)
	case b.At(r, at.Add(-time.Microsecond)).Room(r) != 0:
		t.Fatalf("it has room before %s", at)
	case b.At(r, at).Room(r) == 0:
		t.Fatalf("it has no room at %s", at)
	}
}

// TestAStartCountsForAWholePeriod starts at every edge of a slot, where the next
// one is nearest.
func TestAStartCountsForAWholePeriod(t *testing.T) {
	for _, per := range []time.Duration{RatePerMin, RatePerMin + 7*time.Microsecond, time.Minute + 15*time.Microsecond, RatePerMax} {
		r := Rate{Count: 1, Per: per}
		slot := r.slotLength()
		edge := sampleTime.UnixMicro() / slot * slot
		for _, micros := range []int64{edge, edge + 1, edge + slot/2, edge + slot - 1} {
			now := time.UnixMicro(micros)
			b := Bucket{}.At(r, now)
			b.Starts[0]++
			if b.At(r, now.Add(per)).Room(r) != 0 {
				t.Errorf("%s: %d µs into a slot, there is room after a period", per, micros-edge)
			}
			late := time.Duration(slot+rateSlots) * time.Microsecond // a slot is rounded up
			if b.At(r, now.Add(per+late)).Room(r) != 1 {
				t.Errorf("%s: %d µs into a slot, there is no room after a period and a slot", per, micros-edge)
			}
		}
	}
}

// TestARateIsUsedUp takes all there is as soon as there is some: of the rate at
// most one slot in seventeen is lost.
func TestARateIsUsedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, b, now, started := drawRate(t), Bucket{}, sampleTime, 0
		const periods = 50
		for end := now.Add(periods * r.Per); now.Before(end); now = b.RoomAt(r) {
			b = b.At(r, now)
			if b.Room(r) == 0 {
				t.Fatalf("it has no room at %s", now)
			}
			started += b.Room(r)
			b.Starts[0] += b.Room(r)
		}
		if least := r.Count * periods * rateSlots / (rateSlots + 2); started < least {
			t.Fatalf("%d were started in %d periods of %d, want %d", started, periods, r.Count, least)
		}
	})
}

// TestAClockSetBackGivesNoExtra sets the clock back once, by less than a period,
// and counts starts by a clock that was left alone.
func TestAClockSetBackGivesNoExtra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, b, now := drawRate(t), Bucket{}, sampleTime
		var starts []time.Time
		claims := rapid.IntRange(1, 60).Draw(t, "claims")
		wrong := rapid.IntRange(0, claims).Draw(t, "set back at")
		step := time.Duration(rapid.Int64Range(0, r.Per.Microseconds()-1).Draw(t, "by")) * time.Microsecond
		for i := range claims {
			shown := now
			if i >= wrong {
				shown = now.Add(-step)
			}
			starts = append(starts, slices.Repeat([]time.Time{now}, start(t, &b, r, shown))...)
			now = now.Add(drawPause(t, r.Per))
		}
		checkStarts(t, starts, r)
	})
}

// TestAClockSetBackDoesNotBlock sets the clock back by anything: a full bucket
// has room again after the stretch that it was set back by or after none, and a
// period.
func TestAClockSetBackDoesNotBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRate(t)
		b := Bucket{}.At(r, sampleTime)
		b.Starts[0] = r.Count
		step := time.Duration(rapid.Int64Range(0, 100*r.Per.Microseconds()).Draw(t, "by")) * time.Microsecond
		now, slot := sampleTime.Add(-step), time.Duration(r.slotLength())*time.Microsecond
		b = b.At(r, now)
		if step > r.Per+3*slot && b.Room(r) != r.Count {
			t.Fatalf("set back by %s, it has room for %d", step, b.Room(r))
		}
		if b.Room(r) == 0 && b.RoomAt(r).Sub(now) > 2*r.Per+4*slot {
			t.Fatalf("set back by %s, it has room after %s", step, b.RoomAt(r).Sub(now))
		}
	})
}

func TestBucketIsNotShared(t *testing.T) {
	r := Rate{Count: 5, Per: time.Minute}
	b := Bucket{}.At(r, sampleTime)
	b.At(r, sampleTime).Starts[0]++
	if b.Room(r) != 5 {
		t.Error("a bucket changed with one that was made from it")
	}
	if at := b.RoomAt(r); !at.IsZero() {
		t.Errorf("an empty bucket has room again at %s", at)
	}
	if over := (Bucket{Starts: []int{9}}).Room(r); over != 0 {
		t.Errorf("a bucket that is more than full has room for %d", over)
	}
}

func TestThrottleLookups(t *testing.T) {
	s := ThrottleSpec{Types: []TypeLimit{{Type: "mail", Concurrency: 2}}, Keys: []KeyLimit{{Key: "tenant:7", Concurrency: 3}}}
	if got := s.Type("mail"); got.Concurrency != 2 {
		t.Errorf("got %+v", got)
	}
	if got := s.Type("report"); got != (TypeLimit{Type: "report"}) {
		t.Errorf("got %+v", got)
	}
	if n, limited := s.Key("tenant:7"); n != 3 || !limited {
		t.Errorf("got %d, %v", n, limited)
	}
	if n, limited := s.Key("tenant:8"); n != 0 || limited {
		t.Errorf("got %d, %v", n, limited)
	}
}
