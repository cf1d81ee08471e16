package translate

import (
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
		if looksLikeMoment(word) {
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

// parseMoment parses a time; without a zone it is in UTC.
func parseMoment(text string) (t time.Time, zoned, ok bool) {
	if strings.EqualFold(text, "epoch") {
		return time.Unix(0, 0).UTC(), true, true
	}
	for _, layout := range dayLayouts {
		t, rest, fits := parsePrefix(layout, text)
		if !fits {
			continue
		}
		if rest == "" {
			return t, false, true
		}
		if behind := strings.TrimLeft(rest, " "); behind != "" && strings.ContainsRune("+-", rune(behind[0])) {
			rest = behind // 2026-11-15 +01, as JDBC writes a day
		}
		if rest[0] != ' ' && rest[0] != 'T' && rest[0] != 't' {
			if zone, known := zoneOf(rest); known && zone != nil {
				return in(t, zone), true, true
			}
			continue
		}
		clock, zone, zoned, fits := parseClockZone(strings.TrimSpace(rest[1:]))
		if !fits {
			continue
		}
		y, m, d := t.Date()
		h, min, s := clock.Clock()
		t = time.Date(y, m, d, h, min, s, clock.Nanosecond(), time.UTC)
		if clock.Day() == 2 { // 24:00
			t = time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
		}
		return in(t, zone), zoned, true
	}
	return t, false, false
}

// parsePrefix parses the start of a text with a layout.
func parsePrefix(layout, text string) (t time.Time, rest string, ok bool) {
	t, err := time.Parse(layout, text)
	if err == nil {
		return t, "", true
	}
	e, is := err.(*time.ParseError)
	if !is || !strings.HasPrefix(e.Message, ": extra text: ") {
		return t, "", false
	}
	rest = text[len(text)-len(strings.TrimSuffix(e.ValueElem, "")):]
	t, err = time.Parse(layout, strings.TrimSuffix(text, rest))
	return t, rest, err == nil
}

// parseClockZone parses a time of day and the zone after it.
func parseClockZone(text string) (clock time.Time, zone *time.Location, zoned, ok bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return r != ':' && r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(text)
	}
	clock, ok = parseClock(text[:end])
	if !ok {
		return clock, nil, false, false
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
	for _, layout := range clockLayouts {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return t.Round(time.Microsecond), true
		}
	}
	return time.Time{}, false
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
	text := strings.TrimRight(strings.TrimRight(t.Format("2006-01-02 15:04:05.000000"), "0"), ".")
	if t.Nanosecond() == 0 {
		text = t.Format("2006-01-02 15:04:05")
	}
	switch k {
	case kind.Timestamp:
		return text + formatOffset(t)
	case kind.Date:
		return t.Format(dayLayout)
	case kind.Time:
		return text[11:]
	}
	return text
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
