package cron

import (
	"errors"
	"strings"
	"testing"
	"time"
)

var fuzzZones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Tehran", "Pacific/Apia",
	"Asia/Kathmandu", "America/Santiago", "Africa/Casablanca",
}

// FuzzParse parses arbitrary text. A refusal has a short, printable message. An accepted expression fires in ascending
// order, only at minutes whose local time matches the fields, and Next and Prev agree.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"* * * * *", "*/5 * * * *", "30 9 * * 1-5", "0 0 29 2 *", "0 0 31 2 *", "0 22-2 * * *", "H H(1-4) * * *", "H/15 * * * *",
		"@daily", "@every 5m", "0 0 L * *", "0 0 * * 5#2", "0 0 * * FRI-SUN", "0 0 1,15 JAN-mar 6-7", "* * * * * *",
		"TZ=UTC * * * * *", "5/15 1-5/2 */3 * ?", "0 0 13 * 5", "99999999999 * * * *", "1,,2 * * * *", "--- * * * *", "\x00\xff",
	} {
		f.Add(text, uint8(1), int64(1_774_746_000))
	}
	f.Add("30 2 * * *", uint8(1), int64(1_792_882_000))
	f.Fuzz(func(t *testing.T, text string, zone uint8, after int64) {
		c, err := Parse(text, Config{Zone: fuzzZones[int(zone)%len(fuzzZones)], Name: "fuzz"})
		if err != nil {
			checkPrintable(t, err)
			return
		}
		if c.Describe() == "" {
			t.Errorf("%q has no description", text)
		}
		checkFires(t, c, time.Unix(after%100_000_000_000, 0))
	})
}

func checkPrintable(t *testing.T, err error) {
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Field == "" || refusal.Reason == "" {
		t.Fatalf("not a complete *Error: %#v", err)
	}
	for _, r := range refusal.Error() {
		if r < ' ' || r > '~' {
			t.Fatalf("%q in %q", r, refusal)
		}
	}
	if len(refusal.Error()) > 1000 {
		t.Fatalf("a message of %d bytes", len(refusal.Error()))
	}
}

func checkFires(t *testing.T, c Cron, at time.Time) {
	for range 4 {
		next, ok := c.Next(at)
		if !ok {
			if at.Year() > yearMin && at.Year() < yearMax-10 {
				t.Fatalf("%s has no fire after %v", c, at)
			}
			return
		}
		if !next.After(at) || !c.matchesClock(next) {
			t.Fatalf("%s after %v fires at %v", c, at, next)
		}
		if back, ok := c.Prev(next.Add(1)); !ok || !back.Equal(next) {
			t.Fatalf("%s: Prev just after %v is %v", c, next, back)
		}
		if back, ok := c.Prev(next); ok && back.After(at) {
			t.Fatalf("%s: Next skipped %v", c, back)
		}
		at = next
	}
}

// matchesClock reports whether the fields match a local time. It uses the time package and not the calendar of cron.
func (c Cron) matchesClock(at time.Time) bool {
	day, weekday := c.days.has(at.Day()), c.weekdays.has(int(at.Weekday()))
	if c.days != allDays && c.weekdays != allWeekdays {
		day = day || weekday
	} else {
		day = day && weekday
	}
	return day && at.Second() == 0 && at.Nanosecond() == 0 && c.minutes.has(at.Minute()) && c.hours.has(at.Hour()) &&
		c.months.has(int(at.Month()))
}

// FuzzParseTime checks that ParseTime does not panic, that its errors are printable, and that the result has the local
// time of the input.
func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"2026-03-29 02:30", "2026-10-25 02:30:00", "2026-11-15", "2026-11-15T09:00:00Z", "2026-10-25 02:30 +01:00", "2026-10-25t02:30z", "1960-01-01 00:00 -00:44:30", "now", "9999-12-31"} {
		f.Add(text, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, zone uint8) {
		loc, err := LoadZone(fuzzZones[int(zone)%len(fuzzZones)])
		if err != nil {
			t.Fatal(err)
		}
		at, err := ParseTime(text, loc)
		if err != nil {
			checkPrintable(t, err)
			return
		}
		local := strings.Replace(strings.ToUpper(text), "T", " ", 1)
		if len(text) == len("2006-01-02 15:04") && at.Format("2006-01-02 15:04") != local {
			t.Fatalf("%q is parsed as %v", text, at)
		}
	})
}
