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

// drawPause returns a pause, shorter or longer than a period, in whole microseconds.
func drawPause(t *rapid.T, per time.Duration) time.Duration {
	most := per / time.Duration(rapid.SampledFrom([]int{1000, 20, 3, 1}).Draw(t, "share")) * 2
	return time.Duration(rapid.Int64Range(0, most.Microseconds()).Draw(t, "pause")) * time.Microsecond
}

// start takes as many starts as are available, or fewer, as a claim does.
func start(t *rapid.T, b *Bucket, r Rate, now time.Time) (count int) {
	*b = b.At(r, now)
	count = rapid.IntRange(0, b.Available(r)).Draw(t, "started")
	if rapid.Bool().Draw(t, "greedy") {
		count = b.Available(r)
	}
	b.Starts[0] += count
	return count
}

// checkStarts counts the starts in every period that begins with a start. No other period
// has more.
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

func TestBucketNeverExceedsRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, b, now := drawRate(t), Bucket{Type: "mail"}, sampleTime
		var starts []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "claims") {
			starts = append(starts, slices.Repeat([]time.Time{now}, start(t, &b, r, now))...)
			if b.Available(r) == 0 {
				checkAvailableAt(t, b, r, now)
			}
			now = now.Add(drawPause(t, r.Per))
		}
		checkStarts(t, starts, r)
		if b.Type != "mail" {
			t.Fatalf("it is a bucket of %q", b.Type)
		}
	})
}

// checkAvailableAt checks a full bucket just before and at the time of the next start.
func checkAvailableAt(t *rapid.T, b Bucket, r Rate, now time.Time) {
	at := b.AvailableAt(r)
	slot := time.Duration(r.slotLength()) * time.Microsecond
	switch {
	case !at.After(now) || at.Sub(now) > r.Per+2*slot:
		t.Fatalf("at %s it has room again at %s", now, at)
	case b.At(r, at.Add(-time.Microsecond)).Available(r) != 0:
		t.Fatalf("it has room before %s", at)
	case b.At(r, at).Available(r) == 0:
		t.Fatalf("it has no room at %s", at)
	}
}

// The starts are at the edges of slots, where the next start is closest.
func TestBucketCountsStartForWholePeriod(t *testing.T) {
	for _, per := range []time.Duration{RatePerMin, RatePerMin + 7*time.Microsecond, time.Minute + 15*time.Microsecond, RatePerMax} {
		r := Rate{Count: 1, Per: per}
		slot := r.slotLength()
		edge := sampleTime.UnixMicro() / slot * slot
		for _, micros := range []int64{edge, edge + 1, edge + slot/2, edge + slot - 1} {
			now := time.UnixMicro(micros)
			b := Bucket{}.At(r, now)
			b.Starts[0]++
			if b.At(r, now.Add(per)).Available(r) != 0 {
				t.Errorf("%s: %d µs into a slot, there is room after a period", per, micros-edge)
			}
			late := time.Duration(slot+rateSlots) * time.Microsecond // a slot is rounded up
			if b.At(r, now.Add(per+late)).Available(r) != 1 {
				t.Errorf("%s: %d µs into a slot, there is no room after a period and a slot", per, micros-edge)
			}
		}
	}
}

// A client that starts as soon as possible loses at most one slot in seventeen of the
// rate.
func TestBucketAllowsNearlyFullRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, b, now, started := drawRate(t), Bucket{}, sampleTime, 0
		const periods = 50
		for end := now.Add(periods * r.Per); now.Before(end); now = b.AvailableAt(r) {
			b = b.At(r, now)
			if b.Available(r) == 0 {
				t.Fatalf("it has no room at %s", now)
			}
			started += b.Available(r)
			b.Starts[0] += b.Available(r)
		}
		if least := r.Count * periods * rateSlots / (rateSlots + 2); started < least {
			t.Fatalf("%d were started in %d periods of %d, want %d", started, periods, r.Count, least)
		}
	})
}

// The clock is set back once, by less than a period; the starts are counted by a correct
// clock.
func TestBucketAfterClockSetBackAllowsNoExtra(t *testing.T) {
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

// The clock is set back by any amount. A full bucket allows a start again after that
// amount, if it is at most a period, plus a period.
func TestBucketAfterClockSetBackDoesNotBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRate(t)
		b := Bucket{}.At(r, sampleTime)
		b.Starts[0] = r.Count
		step := time.Duration(rapid.Int64Range(0, 100*r.Per.Microseconds()).Draw(t, "by")) * time.Microsecond
		now, slot := sampleTime.Add(-step), time.Duration(r.slotLength())*time.Microsecond
		b = b.At(r, now)
		if step > r.Per+3*slot && b.Available(r) != r.Count {
			t.Fatalf("set back by %s, it has room for %d", step, b.Available(r))
		}
		if b.Available(r) == 0 && b.AvailableAt(r).Sub(now) > 2*r.Per+4*slot {
			t.Fatalf("set back by %s, it has room after %s", step, b.AvailableAt(r).Sub(now))
		}
	})
}

func TestBucketAtDoesNotChangeOriginal(t *testing.T) {
	r := Rate{Count: 5, Per: time.Minute}
	b := Bucket{}.At(r, sampleTime)
	b.At(r, sampleTime).Starts[0]++
	if b.Available(r) != 5 {
		t.Error("a bucket changed with one that was made from it")
	}
	if at := b.AvailableAt(r); !at.IsZero() {
		t.Errorf("an empty bucket has room again at %s", at)
	}
	if over := (Bucket{Starts: []int{9}}).Available(r); over != 0 {
		t.Errorf("a bucket that is more than full has room for %d", over)
	}
}

func TestThrottleFindsTypesAndKeys(t *testing.T) {
	s := ThrottleSpec{Types: []TypeLimit{{Type: "mail", Concurrency: 2}}, Keys: []KeyLimit{{Key: "tenant:7", Concurrency: 3}}}
	if got := s.Type("mail"); got.Concurrency != 2 {
		t.Errorf("got %+v", got)
	}
	if got := s.Type("report"); got != (TypeLimit{Type: "report"}) {
		t.Errorf("got %+v", got)
	}
	if got, limited := s.Key("tenant:7", "mail"); got.Concurrency != 3 || !limited {
		t.Errorf("got %+v, %v", got, limited)
	}
	if got, limited := s.Key("tenant:8", "mail"); limited {
		t.Errorf("got %+v", got)
	}
}

func TestThrottleFindsLimitOfKeyAndType(t *testing.T) {
	s := ThrottleSpec{
		Keys:          []KeyLimit{{"tenant:7", 7}, {"a*", 8}},
		EachKey:       []EachKeyLimit{{"tenant:*", 1}, {"tenant:4*", 4}, {"user:*", 2}, {"a!*", 5}, {"a*", 9}},
		EachKeyOfType: []EachKeyOfTypeLimit{{"mail", 3}, {"report", 5}},
	}
	for _, test := range []struct {
		key, typ string
		want     AppliedKeyLimit
	}{
		{"", "mail", AppliedKeyLimit{}},
		{"tenant:7", "mail", AppliedKeyLimit{7, "", LimitOfKeys, "tenant:7"}},
		{"tenant:77", "mail", AppliedKeyLimit{1, "", LimitOfEachKey, "tenant:*"}},
		{"tenant:", "other", AppliedKeyLimit{1, "", LimitOfEachKey, "tenant:*"}},
		{"tenant:42", "mail", AppliedKeyLimit{4, "", LimitOfEachKey, "tenant:4*"}},
		{"tenant", "mail", AppliedKeyLimit{3, "mail", LimitOfEachKeyOfType, "mail"}},
		{"db", "report", AppliedKeyLimit{5, "report", LimitOfEachKeyOfType, "report"}},
		{"db", "other", AppliedKeyLimit{}},
		{"db", "", AppliedKeyLimit{}},
		{"user:1", "", AppliedKeyLimit{2, "", LimitOfEachKey, "user:*"}},
		{"a*", "mail", AppliedKeyLimit{8, "", LimitOfKeys, "a*"}},
		{"a!b", "mail", AppliedKeyLimit{5, "", LimitOfEachKey, "a!*"}}, // listed before the shorter one
		{"ab", "mail", AppliedKeyLimit{9, "", LimitOfEachKey, "a*"}},
	} {
		if got, limited := s.Key(test.key, test.typ); got != test.want || limited != (test.want != AppliedKeyLimit{}) {
			t.Errorf("key %q, type %q: got %+v, %v, want %+v", test.key, test.typ, got, limited, test.want)
		}
	}
	s.EachKey = append(s.EachKey, EachKeyLimit{"*", 6})
	if got, _ := s.Key("db", "mail"); got != (AppliedKeyLimit{6, "", LimitOfEachKey, "*"}) {
		t.Errorf("got %+v", got)
	}
}
