package translate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// formatFunctions format times with a pattern.
var formatFunctions = []Function{
	strict("rota_to_char", 2, timeByPattern),
	strict("rota_to_char", 3, timeByPattern),
}

// layout formats a time with a layout of Go.
func layout(of string) func(time.Time) string {
	return func(t time.Time) string { return t.Format(of) }
}

// padded formats the name of a month or a day, filled with blanks.
func padded(of string) func(time.Time) string {
	return func(t time.Time) string { return fmt.Sprintf("%-9s", t.Format(of)) }
}

// patternField is a field of a pattern.
type patternField struct {
	name    string
	write   func(time.Time) string // nil: Rota does not have the field
	letters bool                   // the case of the name is that of the output
}

// patternFields are the fields. Of those with a common prefix the longest is first.
var patternFields = []patternField{
	{"Y,YYY", nil, false},
	{"MONTH", padded("January"), true},
	{"HH24", layout("15"), false},
	{"HH12", layout("03"), false},
	{"YYYY", layout("2006"), false},
	{"IYYY", func(t time.Time) string { year, _ := t.ISOWeek(); return fmt.Sprintf("%04d", year) }, false},
	{"IDDD", nil, false},
	{"SSSS", nil, false},
	{"A.M.", nil, false},
	{"P.M.", nil, false},
	{"YYY", nil, false},
	{"IYY", nil, false},
	{"MON", layout("Jan"), true},
	{"DDD", layout("002"), false},
	{"DAY", padded("Monday"), true},
	{"TZH", nil, false},
	{"TZM", nil, false},
	{"HH", layout("03"), false},
	{"MI", layout("04"), false},
	{"SS", layout("05"), false},
	{"MS", func(t time.Time) string { return t.Format(".000")[1:] }, false},
	{"US", func(t time.Time) string { return t.Format(".000000")[1:] }, false},
	{"AM", layout("PM"), true},
	{"PM", layout("PM"), true},
	{"YY", layout("06"), false},
	{"IY", nil, false},
	{"MM", layout("01"), false},
	{"DD", layout("02"), false},
	{"DY", layout("Mon"), true},
	{"ID", func(t time.Time) string { return strconv.Itoa(isoWeekday(t)) }, false},
	{"IW", func(t time.Time) string { return fmt.Sprintf("%02d", isoWeek(t)) }, false},
	{"TZ", func(t time.Time) string { zone, _ := t.Zone(); return zone }, true},
	{"OF", formatOffsetMinutes, false},
	{"TH", nil, false},
	{"CC", nil, false},
	{"WW", nil, false},
	{"RM", nil, false},
	{"D", func(t time.Time) string { return strconv.Itoa(int(t.Weekday()) + 1) }, false},
	{"Q", func(t time.Time) string { return strconv.Itoa((int(t.Month()) + 2) / 3) }, false},
	{"J", nil, false},
	{"W", nil, false},
	{"I", nil, false},
	{"Y", nil, false},
}

// formatOffsetMinutes formats the offset from UTC, with minutes only if there are any.
func formatOffsetMinutes(t time.Time) string {
	if _, offset := t.Zone(); offset%3600 != 0 {
		return t.Format("-07:00")
	}
	return t.Format("-07")
}

// emptyZone is the zone of values without a zone. Its name is empty.
var emptyZone = time.FixedZone("", 0)

// timeByPattern is to_char of a time or of an interval.
func timeByPattern(a arguments) any {
	stored, pattern := a.text(0), a.text(1)
	if isInterval(stored) {
		i := a.interval(0)
		return writePattern(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i.micros%hour)*time.Microsecond), pattern, &i)
	}
	t, k := loadTime(stored)
	zone := a.zone(2)
	if k != kind.Timestamp {
		zone = emptyZone
	}
	return writePattern(t.In(zone), pattern, nil)
}

// writePattern formats a time, or the fields of an interval that are not those of a clock.
func writePattern(t time.Time, pattern string, of *interval) any {
	var b strings.Builder
	fill := true
	for pattern != "" {
		if b.Len() > valueMax {
			panic(tooLong())
		}
		if rest, literal := strings.CutPrefix(pattern, `"`); literal {
			text, after, _ := strings.Cut(rest, `"`)
			b.WriteString(text)
			pattern = after
			continue
		}
		if hasPrefixFold(pattern, "FM") {
			fill, pattern = false, pattern[2:]
			continue
		}
		f := fieldAt(pattern)
		if f == nil {
			b.WriteByte(pattern[0])
			pattern = pattern[1:]
			continue
		}
		text := f.text(t, of, pattern[:len(f.name)])
		if !fill {
			text = trimFill(text)
		}
		fill, pattern = true, pattern[len(f.name):]
		b.WriteString(text)
	}
	return b.String()
}

// fieldAt is the field at the start of a pattern, or nil.
func fieldAt(pattern string) *patternField {
	for i, f := range patternFields {
		switch {
		case !hasPrefixFold(pattern, f.name):
		case f.write == nil:
			panic(valueError(StateUnsupported, "to_char does not support the field %s", f.name).WithHint("put other text in double quotes"))
		default:
			return &patternFields[i]
		}
	}
	return nil
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// text formats the field of a time, or of an interval. A name is written in the case of the pattern.
func (f *patternField) text(t time.Time, of *interval, written string) string {
	if of != nil {
		switch f.name {
		case "HH24":
			return fmt.Sprintf("%02d", of.micros/hour)
		case "HH", "HH12":
			return fmt.Sprintf("%02d", (of.micros/hour+11)%12+1)
		case "DD":
			return fmt.Sprintf("%02d", of.days)
		case "MM":
			return fmt.Sprintf("%02d", of.months%12)
		case "YYYY":
			return fmt.Sprintf("%04d", of.months/12)
		}
	}
	text := f.write(t)
	switch {
	case !f.letters || written[1] != strings.ToUpper(written)[1] && written[0] == strings.ToUpper(written)[0]:
		return text
	case written == strings.ToUpper(written):
		return strings.ToUpper(text)
	}
	return strings.ToLower(text)
}

// trimFill removes the padding of a field.
func trimFill(text string) string {
	text = strings.TrimRight(text, " ")
	if number := strings.TrimLeft(text, "0"); number != text && strings.Trim(text, "0123456789") == "" {
		return number + strings.Repeat("0", max(0, 1-len(number)))
	}
	return text
}
