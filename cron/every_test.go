package cron

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestEveryWithStartsFiresAtStarts(t *testing.T) {
	starts := instant(t, "2026-11-15 09:00")
	every, err := EveryFrom(starts, 90*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ after, want string }{
		{"2020-01-01 00:00", "2026-11-15 09:00"},
		{"2026-11-15 08:59:59", "2026-11-15 09:00"},
		{"2026-11-15 09:00", "2026-11-15 10:30"},
		{"2026-11-15 10:29:59", "2026-11-15 10:30"},
		{"2026-11-15 10:30", "2026-11-15 12:00"},
		{"2036-11-15 09:01", "2036-11-15 10:30"},
	} {
		if at, ok := every.Next(instant(t, row.after)); !ok || !at.Equal(instant(t, row.want)) {
			t.Errorf("the first fire after %s is %v, want %s", row.after, at, row.want)
		}
	}
	if at, ok := every.Prev(starts); ok {
		t.Errorf("a fire before STARTS: %v", at)
	}
}

func TestEveryWithoutStartsFiresOneIntervalAfterCreation(t *testing.T) {
	created := instant(t, "2026-11-15 09:00:07")
	every, err := EveryAfter(created, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := every.Next(created)
	second, _ := every.Next(first)
	if !first.Equal(created.Add(time.Hour)) || !second.Equal(created.Add(2*time.Hour)) {
		t.Errorf("fires at %v and %v", first, second)
	}
	if at, _ := every.Next(created.Add(-24 * time.Hour)); !at.Equal(first) {
		t.Errorf("the first fire after an instant before creation is %v", at)
	}
}

// TestEveryNeverDrifts checks instants far in the future and the past: each fire is a whole number of intervals after the
// first, and consecutive fires are one interval apart.
func TestEveryNeverDrifts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := time.Unix(rapid.Int64Range(-60_000_000_000, 200_000_000_000).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		interval := time.Duration(rapid.Int64Range(1, int64(EveryMax/EveryMin)).Draw(t, "ms")) * time.Millisecond
		if rapid.Bool().Draw(t, "short") {
			interval = time.Duration(rapid.Int64Range(1, 100_000).Draw(t, "short ms")) * time.Millisecond
		}
		every, err := EveryFrom(first, interval)
		if err != nil {
			t.Fatal(err)
		}
		after := time.Unix(rapid.Int64Range(-62_000_000_000, 200_000_000_000).Draw(t, "after"), rapid.Int64Range(0, 999_999_999).Draw(t, "after ns"))
		next, ok := every.Next(after)
		if !ok || !next.After(after) || next.Before(first) {
			t.Fatalf("the first fire after %v is %v", after, next)
		}
		if ns := next.Nanosecond() % 1_000_000; ns != first.Nanosecond()%1_000_000 {
			t.Fatalf("%v is not a whole number of intervals after %v", next, first)
		}
		if prev, ok := every.Prev(next); ok != next.After(first) || ok && (prev.After(after) || !prev.Add(interval).Equal(next)) {
			t.Fatalf("the last fire before %v is %v", next, prev)
		}
	})
}

func TestEveryRefusesInvalidIntervalAndStart(t *testing.T) {
	now := instant(t, "2026-11-15")
	for _, interval := range []time.Duration{-time.Second, 0, time.Microsecond, 1500 * time.Microsecond, EveryMax + EveryMin} {
		if _, err := EveryFrom(now, interval); err == nil || !strings.HasPrefix(err.Error(), "every: ") {
			t.Errorf("%v: %v", interval, err)
		}
	}
	if _, err := EveryFrom(time.Time{}, time.Hour); err == nil {
		t.Error("a zero start is accepted")
	}
	if _, err := EveryAfter(time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC), 2*time.Hour); err == nil {
		t.Error("a first fire after the end of the calendar is accepted")
	}
}

func TestAt(t *testing.T) {
	at, err := NewAt(instant(t, "2026-11-15 09:00"))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := at.Next(instant(t, "2026-11-15 08:59")); !ok || !got.Equal(instant(t, "2026-11-15 09:00")) {
		t.Errorf("fires at %v", got)
	}
	if _, ok := at.Next(instant(t, "2026-11-15 09:00")); ok {
		t.Error("Next returns the instant it is given")
	}
	if _, ok := at.Prev(instant(t, "2026-11-15 09:00")); ok {
		t.Error("Prev returns the instant it is given")
	}
	if _, err := NewAt(time.Time{}); err == nil {
		t.Error("the zero time is accepted")
	}
}

// TestBoundsAreInclusive sets bounds exactly at fires, which stay, and next to fires.
func TestBoundsAreInclusive(t *testing.T) {
	hourly := mustParse(t, "@hourly", "")
	for _, row := range []struct{ starts, ends, first, last string }{
		{"2026-11-15 09:00", "2026-11-15 12:00", "2026-11-15 09:00", "2026-11-15 12:00"},
		{"2026-11-15 09:01", "2026-11-15 11:59", "2026-11-15 10:00", "2026-11-15 11:00"},
		{"2026-11-15 09:00", "2026-11-15 09:00", "2026-11-15 09:00", "2026-11-15 09:00"},
	} {
		b, err := Within(hourly, instant(t, row.starts), instant(t, row.ends))
		if err != nil {
			t.Fatal(err)
		}
		first, _ := b.Next(time.Time{})
		last, _ := b.Prev(instant(t, "2030-01-01"))
		if !first.Equal(instant(t, row.first)) || !last.Equal(instant(t, row.last)) {
			t.Errorf("%s to %s: from %v to %v", row.starts, row.ends, first, last)
		}
		if at, ok := b.Next(last); ok {
			t.Errorf("a fire after the last: %v", at)
		}
		if at, ok := b.Prev(first); ok {
			t.Errorf("a fire before the first: %v", at)
		}
	}
	if _, err := Within(hourly, instant(t, "2026-11-15"), instant(t, "2026-11-14")); err == nil {
		t.Error("an end before the start is accepted")
	}
	if open, err := Within(hourly, time.Time{}, time.Time{}); err != nil || open.Describe() != hourly.Describe() {
		t.Errorf("without bounds the description is %q, %v", open.Describe(), err)
	}
}

func TestDescribeAtEveryAndBounded(t *testing.T) {
	berlin, err := LoadZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	nine := time.Date(2026, 11, 15, 9, 0, 0, 0, berlin)
	at, _ := NewAt(nine)
	atUTC, _ := NewAt(nine.UTC().Add(7 * time.Second))
	every, _ := EveryFrom(nine.UTC(), 90*time.Minute)
	day, _ := EveryFrom(nine, 24*time.Hour)
	small, _ := EveryAfter(nine.UTC(), 1500*time.Millisecond)
	both, _ := Within(mustParse(t, "30 9 * * 1-5", "Europe/Berlin"), nine, nine.AddDate(0, 1, 0))
	from, _ := Within(every, nine, time.Time{})
	within, _ := Within(small, nine.Add(time.Hour), time.Time{})
	for _, row := range []struct {
		table Timetable
		want  string
	}{
		{from, "every 1 hour 30 minutes, counted from 2026-11-15 08:00 UTC"},
		{within, "every 1 second 500 milliseconds, counted from 2026-11-15 08:00 UTC, from 2026-11-15 10:00 +01:00, Berlin time"},
		{at, "once at 2026-11-15 09:00 +01:00, Berlin time"},
		{atUTC, "once at 2026-11-15 08:00:07 UTC"},
		{every, "every 1 hour 30 minutes, counted from 2026-11-15 08:00 UTC"},
		{day, "every day, counted from 2026-11-15 09:00 +01:00, Berlin time"},
		{small, "every 1 second 500 milliseconds, counted from 2026-11-15 08:00 UTC"},
		{both, "every weekday at 09:30, Berlin time, from 2026-11-15 09:00 +01:00, Berlin time, until 2026-12-15 09:00 +01:00, Berlin time"},
	} {
		if got := row.table.Describe(); got != row.want {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}
