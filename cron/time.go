package cron

import (
	"regexp"
	"time"
)

// timePattern matches a date, an optional time of day, and an optional offset. It accepts RFC 3339, common variants of
// it, and the times in the tables that Rota prints.
var timePattern = regexp.MustCompile(
	`^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?(?: ?([Zz]|[+-]\d\d:\d\d)(:\d\d)?)?)?$`)

const timeAllowed = "RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]"

// ParseTime parses an instant: RFC 3339, or YYYY-MM-DD with optional HH:MM or HH:MM:SS in the local time of a zone. A space
// may replace the T or precede the offset, and seconds may be omitted. A local time that occurs twice means its first
// occurrence; one that does not exist is refused.
func ParseTime(text string, loc *time.Location) (time.Time, error) {
	refuse := func(reason, allowed string) (time.Time, error) {
		return time.Time{}, &Error{Field: "time", Value: text, Reason: reason, Allowed: allowed}
	}
	m := timePattern.FindStringSubmatch(text)
	if m == nil {
		return refuse("is not a time", timeAllowed)
	}
	date, clock, seconds, fraction, offset := m[1], m[2], m[3], m[4], m[5]+m[6]
	if fraction != "" && (seconds == "" || offset == "") || m[6] != "" && len(m[5]) == 1 {
		return refuse("is not a time", timeAllowed)
	}
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return refuse("does not exist: there is no such date", timeAllowed)
	}
	if clock == "" {
		clock = "00:00"
	}
	if seconds == "" {
		seconds = ":00"
	}
	local, err := time.Parse("2006-01-02 15:04:05", date+" "+clock+seconds+fraction)
	if err != nil {
		return refuse("has an invalid time of day", "00:00 to 23:59:59")
	}
	if offset == "" {
		return firstOccurrence(local, text, loc)
	}
	ahead, ok := parseOffset(offset)
	if !ok {
		return refuse("has an invalid offset", "Z or -23:59 to +23:59")
	}
	return inCalendar(local.Add(-ahead).In(loc), text)
}

// parseOffset parses Z, ±HH:MM or ±HH:MM:SS. Offsets with seconds occurred before there were time zones.
func parseOffset(text string) (ahead time.Duration, ok bool) {
	if len(text) == 1 {
		return 0, true
	}
	layout := "15:04:05"[:len(text)-1]
	t, err := time.Parse(layout, text[1:])
	if err != nil {
		return 0, false
	}
	ahead = time.Duration(t.Hour()*3600+t.Minute()*60+t.Second()) * time.Second
	if text[0] == '-' {
		ahead = -ahead
	}
	return ahead, true
}

func inCalendar(t time.Time, text string) (time.Time, error) {
	if t.Unix() < calendarStart || t.Unix() >= calendarEnd {
		return time.Time{}, &Error{Field: "time", Value: text, Reason: "is out of range", Allowed: "the years 1 to 9999"}
	}
	return t, nil
}

// firstOccurrence returns the first instant whose local time in the zone equals the UTC time of t.
func firstOccurrence(t time.Time, text string, loc *time.Location) (time.Time, error) {
	if _, err := inCalendar(t, text); err != nil {
		return time.Time{}, err
	}
	local := t.Unix()
	for p := periodAt(loc, local-shiftMax); p.start <= local+shiftMax; p = periodAt(loc, p.end) {
		if at := local - p.offset; p.start <= at && at < p.end {
			return time.Unix(at, 0).In(loc), nil
		}
		if p.end == forever { // this period is the last one
			break
		}
	}
	return time.Time{}, &Error{
		Field: "time", Value: text, Reason: "does not exist in " + loc.String() + ": clocks go forward over it",
		Remedy: "write a time that the clock shows, or one with an offset",
	}
}
