package cron

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestNext uses UTC, so that its rows can be verified with a calendar.
func TestNext(t *testing.T) {
	for _, row := range []struct{ text, after, want string }{
		{"* * * * *", "2026-11-15 10:00", "2026-11-15 10:01"},
		{"* * * * *", "2026-11-15 10:00:59", "2026-11-15 10:01"},
		{"*/5 * * * *", "2026-11-15 10:55", "2026-11-15 11:00"},
		{"*/7 * * * *", "2026-11-15 10:49", "2026-11-15 10:56"},
		{"*/7 * * * *", "2026-11-15 10:56", "2026-11-15 11:00"},
		{"0 */5 * * *", "2026-11-15 15:00", "2026-11-15 20:00"},
		{"0 */5 * * *", "2026-11-15 20:00", "2026-11-16 00:00"},
		{"30 9 * * 1-5", "2026-11-13 09:30", "2026-11-16 09:30"},
		{"0 0 1 * *", "2026-12-01 00:00", "2027-01-01 00:00"},
		{"0 0 31 * *", "2026-03-31 00:00", "2026-05-31 00:00"},
		{"0 0 30 * *", "2026-01-30 00:00", "2026-03-30 00:00"},
		{"0 0 */10 * *", "2026-02-21 00:00", "2026-03-01 00:00"},
		{"59 23 31 12 *", "2026-12-31 23:58", "2026-12-31 23:59"},
		{"59 23 31 12 *", "2026-12-31 23:59", "2027-12-31 23:59"},
		// Restricted days of the month and of the week are joined by OR: a Friday, or a 13th.
		{"0 0 13 * 5", "2026-11-06 00:00", "2026-11-13 00:00"},
		{"0 0 13 * 5", "2026-11-27 00:00", "2026-12-04 00:00"},
		{"0 0 13 * 5", "2026-12-11 00:00", "2026-12-13 00:00"},
		// A month without the day still has the weekday.
		{"0 0 31 2 1", "2026-02-23 00:00", "2027-02-01 00:00"},
		// A full set restricts nothing, in any spelling.
		{"0 0 1-31 * 5", "2026-11-06 00:00", "2026-11-13 00:00"},
		{"0 0 13 * 0-7", "2026-11-06 00:00", "2026-11-13 00:00"},
		// */2 is a restriction: odd days, or Fridays.
		{"0 0 */2 * 5", "2026-11-05 00:00", "2026-11-06 00:00"},
		{"0 0 */2 * 5", "2026-11-06 00:00", "2026-11-07 00:00"},
		{"0 0 */2 * 5", "2026-11-07 00:00", "2026-11-09 00:00"},
		{"0 0 * * 7", "2026-11-15 00:00", "2026-11-22 00:00"},
		{"0 0 * * 6-7", "2026-11-14 00:00", "2026-11-15 00:00"},
		{"0 0 * * FRI-SUN", "2026-11-15 00:00", "2026-11-20 00:00"},
		// Leap years: 2000 was one, 2100 is not, so 2104 is the next after 2096.
		{"0 0 29 2 *", "1996-02-29 00:00", "2000-02-29 00:00"},
		{"0 0 29 2 *", "2000-02-29 00:00", "2004-02-29 00:00"},
		{"0 0 29 2 *", "2026-11-15 00:00", "2028-02-29 00:00"},
		{"0 0 29 2 *", "2096-02-29 00:00", "2104-02-29 00:00"},
		{"0 0 29 2 *", "2100-02-28 00:00", "2104-02-29 00:00"},
		{"0 12 28-29 2 *", "2100-02-28 12:00", "2101-02-28 12:00"},
		{"@weekly", "2026-11-15 00:00", "2026-11-22 00:00"},
		{"@yearly", "2026-11-15 00:00", "2027-01-01 00:00"},
	} {
		c, after := mustParse(t, row.text, ""), instant(t, row.after)
		next, ok := c.Next(after)
		if want := instant(t, row.want); !ok || !next.Equal(want) {
			t.Errorf("%q after %s: %v, want %v", row.text, row.after, next, want)
			continue
		}
		if prev, ok := c.Prev(next.Add(1)); !ok || !prev.Equal(next) {
			t.Errorf("%q: Prev just after %v is %v", row.text, next, prev)
		}
	}
}

func TestNextAndPrevStopAtTheEndsOfTheCalendar(t *testing.T) {
	c := mustParse(t, "0 0 1 1 *", "Europe/Berlin")
	for _, after := range []time.Time{
		time.Date(9999, 6, 1, 0, 0, 0, 0, time.UTC),
		time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Unix(math.MaxInt64, 0),
	} {
		if at, ok := c.Next(after); ok {
			t.Errorf("a fire after %v: %v", after, at)
		}
	}
	for _, before := range []time.Time{{}, time.Date(-100, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(math.MinInt64, 0)} {
		if at, ok := c.Prev(before); ok {
			t.Errorf("a fire before %v: %v", before, at)
		}
	}
	if at, ok := c.Next(time.Time{}); !ok || at.Year() > 2 {
		t.Errorf("the first fire of the calendar is %v", at)
	}
	if at, ok := c.Prev(time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)); !ok || at.Year() != 9999 {
		t.Errorf("the last fire of the calendar is %v", at)
	}
}

// TestNextSkipsYearsInWhichTheTimeDoesNotExist checks the longest known wait: Baghdad skipped 03:30 on the 1st of April
// from 1991 to 2007.
func TestNextSkipsYearsInWhichTheTimeDoesNotExist(t *testing.T) {
	c := mustParse(t, "30 3 1 4 *", "Asia/Baghdad")
	at, ok := c.Next(instant(t, "1990-06-01"))
	if !ok || at.Year() != 2008 {
		t.Errorf("fires at %v, want 2008", at)
	}
	if at, ok = c.Prev(instant(t, "2008-01-01")); !ok || at.Year() != 1990 {
		t.Errorf("fired at %v, want 1990", at)
	}
}

func TestZeroValuesNeverFire(t *testing.T) {
	for _, table := range []Timetable{Cron{}, At{}, Every{}, Bounded{}} {
		if at, ok := table.Next(time.Time{}); ok {
			t.Errorf("%T fires at %v", table, at)
		}
		if at, ok := table.Prev(instant(t, "9999-01-01")); ok {
			t.Errorf("%T fired at %v", table, at)
		}
		if got := table.Describe(); got != "never" {
			t.Errorf("the description of %T is %q", table, got)
		}
	}
}

// TestBetweenAndLatestEqualRepeatedNext compares both functions with a loop over Next, with and without a reached limit.
func TestBetweenAndLatestEqualRepeatedNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTimetable(t)
		from := time.Unix(rapid.Int64Range(1_500_000_000, 2_500_000_000).Draw(t, "from"), 0)
		to := from.Add(time.Duration(rapid.Int64Range(-100, 500_000).Draw(t, "seconds")) * time.Second)
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		var all []time.Time
		for at, ok := table.Next(from); ok && !at.After(to) && len(all) < 10_000; at, ok = table.Next(at) {
			all = append(all, at)
		}
		oldest, older := Between(table, from, to, limit)
		newest, newer := Latest(table, from, to, limit)
		kept, more := min(limit, len(all)), len(all) > limit
		if older != more || !slices.EqualFunc(oldest, all[:kept], time.Time.Equal) {
			t.Fatalf("%s: Between returns %v %v, want %v %v", table.Describe(), oldest, older, all[:kept], more)
		}
		if newer != more || !slices.EqualFunc(newest, all[len(all)-kept:], time.Time.Equal) {
			t.Fatalf("%s: Latest returns %v %v, want %v %v", table.Describe(), newest, newer, all[len(all)-kept:], more)
		}
	})
}

// drawTimetable draws a timetable of any kind that has fires within a few days, but not too many to list.
func drawTimetable(t *rapid.T) Timetable {
	zone := rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago"}).Draw(t, "zone")
	text := rapid.SampledFrom([]string{"* * * * *", "*/7 * * * *", "30 2 * * *", "*/20 1-3 * * *", "0 0 1,15 * 3"}).Draw(t, "text")
	c, err := Parse(text, Config{Zone: zone})
	if err != nil {
		t.Fatal(err)
	}
	anchor := time.Unix(rapid.Int64Range(1_500_000_000, 2_500_000_000).Draw(t, "anchor"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
	every, err := EveryFrom(anchor, time.Duration(rapid.Int64Range(100, 1_000_000).Draw(t, "seconds"))*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return c
	case 1:
		return every
	case 2:
		at, _ := NewAt(anchor)
		return at
	}
	bounded, err := Within(c, anchor, anchor.Add(time.Duration(rapid.Int64Range(0, 200).Draw(t, "hours"))*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return bounded
}

// TestLatestReturnsNewestOfTenYearsOfMinutes checks catch-up after a long downtime.
func TestLatestReturnsNewestOfTenYearsOfMinutes(t *testing.T) {
	c := mustParse(t, "* * * * *", "Europe/Berlin")
	to := instant(t, "2026-11-15 03:00")
	fires, more := Latest(c, to.AddDate(-10, 0, 0), to, 1000)
	if len(fires) != 1000 || !more || !fires[999].Equal(to) || !fires[0].Equal(to.Add(-999*time.Minute)) {
		t.Errorf("%d fires from %v to %v, more %v", len(fires), fires[0], fires[len(fires)-1], more)
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, bench := range benchmarks {
		c := mustParse(t, bench.text, bench.zone)
		if n := testing.AllocsPerRun(100, func() { c.Next(benchmarkStart); c.Prev(benchmarkStart) }); n != 0 {
			t.Errorf("%s in %s: %v allocations", bench.text, bench.zone, n)
		}
	}
}
