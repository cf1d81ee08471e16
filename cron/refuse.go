package cron

import "strings"

// This file holds what other crons accept and this one refuses, each with the way out: a user who moves in should
// read what to write, not only that they may not.

var longNames = []string{
	"SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "JANUARY", "FEBRUARY", "MARCH", "APRIL",
	"JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER",
}

// refuseWord explains a value that is neither a number nor a name of the field.
func (f *field) refuseWord(text string) *Error {
	e := &Error{Field: f.name, Value: text, Reason: "is not a value", Allowed: f.allowed()}
	days := f == &dayField || f == &weekdayField
	letters := strings.TrimLeft(strings.ToUpper(text), "0123456789")
	switch {
	case strings.Contains(text, "?"):
		e.Reason, e.Allowed, e.Remedy = "is not supported", "", "write * for any value"
	case strings.Contains(text, "#"):
		e.Reason, e.Allowed = "is not supported: there is no n-th weekday of a month", ""
		e.Remedy = "run on that weekday every week and let the job check the date"
	case days && strings.HasPrefix(letters, "L"):
		e.Reason, e.Allowed = "is not supported: there is no last day", ""
		e.Remedy = "run on 28-31 and let the job check the date, or run on day 1 for the month before"
	case days && strings.HasPrefix(letters, "W"):
		e.Reason, e.Allowed = "is not supported: there is no nearest weekday", ""
		e.Remedy = "run on 1-5 and let the job check the date"
	default:
		e.Remedy = shortName(f, text)
	}
	return e
}

func shortName(f *field, text string) string {
	for _, long := range longNames {
		for _, short := range f.names {
			if strings.EqualFold(text, long) && strings.HasPrefix(long, short) {
				return "write " + short
			}
		}
	}
	return ""
}

// macros are the names for common expressions.
var macros = map[string]string{
	"@hourly":   "0 * * * *",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@weekly":   "0 0 * * 0",
	"@monthly":  "0 0 1 * *",
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
}

const macrosAllowed = "@hourly @daily @midnight @weekly @monthly @yearly @annually"

func refuseMacro(text string) *Error {
	e := &Error{Field: "expression", Value: text, Reason: "is not known", Allowed: macrosAllowed}
	switch word, _, _ := strings.Cut(strings.ToLower(text), " "); word {
	case "@every":
		e.Reason, e.Allowed = "is an interval, not a cron expression", ""
		e.Remedy = "use EVERY with the interval, which keeps its rhythm from STARTS"
	case "@reboot":
		e.Reason, e.Allowed = "is not supported: a schedule outlives the machine it runs on", ""
		e.Remedy = "enqueue the job from whatever starts the machine"
	}
	return e
}

const fieldsAllowed = "5 fields: minute hour day-of-month month day-of-week"

func refuseCount(text string, count int) *Error {
	e := &Error{Field: "expression", Value: text, Allowed: fieldsAllowed, Reason: "has " + counted(count, "field")}
	switch {
	case count < 5:
		e.Remedy = "write * for a field that does not matter"
	case count == 6:
		e.Remedy = "seconds are not supported: leave them out, or use EVERY for intervals below a minute"
	default:
		e.Remedy = "seconds and years are not supported: leave them out"
	}
	return e
}

func refuseZonePrefix(text string) *Error {
	prefix, _, _ := strings.Cut(text, " ")
	return &Error{
		Field: "expression", Value: prefix, Reason: "is not part of an expression",
		Remedy: "give the zone by its own option (TIME ZONE, timezone, --tz)",
	}
}
