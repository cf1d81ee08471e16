package translate

import (
	"regexp"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// How times are held: of one length, so that texts sort as times do.
const (
	stampLayout = "2006-01-02T15:04:05.000000Z"
	localLayout = "2006-01-02T15:04:05.000000"
	dayLayout   = "2006-01-02"
	clockLayout = "15:04:05.000000"
)

// dayEnd is the time of day 24:00, which Go's time package does not support.
const dayEnd = "24:00:00.000000"

// dayLayouts are how a day may be written, clockLayouts how a time of it.
var (
	dayLayouts   = []string{"2006-01-02", "2006-1-2", "20060102"}
	clockLayouts = []string{"15:04:05.999999999", "15:04"}
)

// otherTimes are forms of PostgreSQL that are not supported: 10:00 PM, 5 May 2026, 05/06/2026, 10:00:00,5 and
// 20260505T101112.
var otherTimes = regexp.MustCompile(`\d *[ap]m\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b.*\d|\d/\d+/\d|:\d+,\d|\dt\d{4}`)

// parseTimeValue parses a timestamp, a date or a time of day.
func parseTimeValue(k kind.Kind, word string, zone *time.Location) any {
	low := strings.ToLower(word)
	switch low {
	case "infinity", "-infinity":
		if k != kind.Time {
			return low
		}
	case "now", "today", "tomorrow", "yesterday":
		panic(valueError(StateUnsupported, "the time %q is not supported", low).WithHint("use now(), current_date or current_date + 1"))
	}
	bad := valueError(StateBadTime, "invalid input syntax for type %s: %q", typeTitle(k), shorten(word)).WithHint("%s", momentHint(k))
	if otherTimes.MatchString(low) {
		bad = valueError(StateUnsupported, "the time format of %q is not supported", shorten(word)).WithHint("%s", momentHint(k))
	}
	if k == kind.Time {
		t, ok := parseClock(word)
		if !ok {
			panic(bad)
		}
		if t.Day() == 2 {
			return dayEnd
		}
		return t.Format(clockLayout)
	}
	t, zoned, ok := parseMoment(word) // a time without a zone forgets the one that is written
	if ok && k == kind.Timestamp {
		if !zoned {
			t = in(t, zone)
		}
		t = t.UTC()
	}
	if !ok {
		if looksLikeMoment(word) && bad.State != StateUnsupported {
			panic(valueError(StateTimeRange, "date/time field value out of range: %q", shorten(word)))
		}
		panic(bad)
	}
	switch {
	case t.Year() > 9999 || t.Year() < 1:
		panic(valueError(StateTimeRange, "time %q is out of range", shorten(word)).WithHint("use the years 1 to 9999"))
	case k == kind.Timestamp:
		return t.Round(time.Microsecond).Format(stampLayout)
	case k == kind.Date:
		return t.Format(dayLayout)
	}
	return t.Round(time.Microsecond).Format(localLayout)
}

func momentHint(k kind.Kind) string {
	switch k {
	case kind.Date:
		return "write a date such as 2026-11-15"
	case kind.Time:
		return "write a time such as 09:00:00"
	}
	return "write a timestamp such as 2026-11-15T09:00:00Z"
}

// looksLikeMoment reports whether a text has the form of a time, even if the time does not
// exist.
func looksLikeMoment(word string) bool {
	return len(word) >= 8 && word[0] >= '0' && word[0] <= '9' && strings.Count(word, "-") >= 2 && !strings.ContainsAny(word, "abcdefghijklmnopqrsuvwxyz")
}

// parseMoment parses a day with an optional time of day and zone; without a zone it is in UTC.
func parseMoment(text string) (t time.Time, zoned, ok bool) {
	if strings.EqualFold(text, "epoch") {
		return time.Unix(0, 0).UTC(), true, true
	}
	day, rest := text, ""
	if end := strings.IndexAny(text, " Tt+"); end > 0 {
		day, rest = text[:end], strings.TrimLeft(text[end:], " Tt")
	}
	if t, ok = parseLayouts(dayLayouts, day); !ok || day == text {
		return t, false, ok
	}
	clock, zone, zoned, ok := parseClockZone(rest)
	y, m, d := t.Date()
	h, min, s := clock.Clock()
	t = time.Date(y, m, d+clock.Day()-1, h, min, s, clock.Nanosecond(), time.UTC) // 24:00 is on the second day
	return in(t, zone), zoned, ok
}

func parseLayouts(layouts []string, text string) (time.Time, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Round(time.Microsecond), true
		}
	}
	return time.Time{}, false
}

// parseClockZone parses a time of day and the zone after it, of which one can be missing: 2026-11-15 +01, as JDBC writes
// a day.
func parseClockZone(text string) (clock time.Time, zone *time.Location, zoned, ok bool) {
	end := strings.IndexFunc(text+" ", func(r rune) bool { return r != ':' && r != '.' && (r < '0' || r > '9') })
	if end > 0 || text == "" {
		if clock, ok = parseClock(text[:end]); !ok {
			return clock, time.UTC, false, false
		}
	}
	zone, ok = zoneOf(strings.TrimSpace(text[end:]))
	if zone == nil {
		return clock, time.UTC, false, ok
	}
	return clock, zone, true, ok
}

func parseClock(text string) (time.Time, bool) {
	if text == "24:00" || text == "24:00:00" {
		return time.Date(0, 1, 2, 0, 0, 0, 0, time.UTC), true
	}
	return parseLayouts(clockLayouts, text)
}

// zoneOf parses an offset or the name of a zone; both are optional.
func zoneOf(text string) (*time.Location, bool) {
	if text == "" {
		return nil, true
	}
	if text[0] == '+' || text[0] == '-' {
		for _, layout := range []string{"-07:00", "-0700", "-07", "-07:00:00", "-7"} {
			if t, err := time.Parse(layout, text); err == nil {
				_, offset := t.Zone()
				return time.FixedZone("", offset), true
			}
		}
		return nil, false
	}
	return zoneNamed(text)
}

// zoneNamed finds a zone by name.
func zoneNamed(name string) (*time.Location, bool) {
	switch strings.ToUpper(name) {
	case "Z", "UTC", "GMT", "ZULU", "UT":
		return time.UTC, true
	case "LOCAL", "":
		return nil, false
	}
	if hours, known := abbreviations[strings.ToUpper(name)]; known {
		return time.FixedZone(strings.ToUpper(name), hours*3600), true
	}
	if zone, err := loadZone(name); err == nil {
		return zone, true
	}
	return nil, false
}

// abbreviations are PostgreSQL's abbreviations of time zones. Each is a fixed offset in summer
// and winter, even if a zone of that name changes its clock.
var abbreviations = map[string]int{"WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "MET": 1, "MEST": 2, "EET": 2, "EEST": 3, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "BST": 1, "MSK": 3, "JST": 9}

// loadTime reads a stored time and returns its kind.
func loadTime(stored string) (t time.Time, k kind.Kind) {
	for _, form := range []struct {
		layout string
		kind   kind.Kind
	}{{stampLayout, kind.Timestamp}, {localLayout, kind.Local}, {dayLayout, kind.Date}, {clockLayout, kind.Time}} {
		if len(stored) == len(form.layout) {
			if t, err := time.Parse(form.layout, stored); err == nil {
				return t, form.kind
			}
		}
	}
	if t, zoned, ok := parseMoment(stored); ok {
		if zoned {
			return t.UTC(), kind.Timestamp
		}
		return t, kind.Local
	}
	panic(valueError(StateBadTime, "%q is not a time", shorten(stored)))
}

// storeTime converts a time to its stored form.
func storeTime(t time.Time, k kind.Kind) any {
	if t.Year() > 9999 || t.Year() < 1 {
		panic(valueError(StateTimeRange, "timestamp out of range").WithHint("use the years 1 to 9999"))
	}
	switch k {
	case kind.Timestamp:
		return t.UTC().Format(stampLayout)
	case kind.Date:
		return t.Format(dayLayout)
	case kind.Time:
		return t.Format(clockLayout)
	}
	return t.Format(localLayout)
}

func formatTimeValue(k kind.Kind, stored string, zone *time.Location) string {
	switch {
	case stored == dayEnd:
		return "24:00:00"
	case isInfinite(stored):
		return stored
	}
	t, of := loadTime(stored)
	if of == kind.Timestamp {
		t = t.In(zone)
	}
	switch k {
	case kind.Timestamp:
		return t.Format("2006-01-02 15:04:05.999999") + formatOffset(t)
	case kind.Date:
		return t.Format(dayLayout)
	case kind.Time:
		return t.Format("15:04:05.999999")
	}
	return t.Format("2006-01-02 15:04:05.999999")
}

// formatOffset formats the offset from UTC without its zero parts.
func formatOffset(t time.Time) string {
	switch _, offset := t.Zone(); {
	case offset%60 != 0:
		return t.Format("-07:00:00")
	case offset%3600 != 0:
		return t.Format("-07:00")
	}
	return t.Format("-07")
}
