package cron

import (
	"regexp"
	"strings"
)

// refuse returns the error for the given text in a field. Without allowed it lists the values of the field.
func (f *field) refuse(text, reason, allowed, remedy string) *Error {
	if allowed == "" {
		allowed = f.allowed()
	}
	return &Error{Field: f.name, Value: text, Reason: reason, Allowed: allowed, Remedy: remedy}
}

var longNames = []string{
	"SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "JANUARY", "FEBRUARY", "MARCH", "APRIL",
	"JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER",
}

// refuseWord returns the error for a word that is neither a number nor a name of the field. Its remedy replaces a long
// name in the item by the short one.
func (f *field) refuseWord(word, item string) *Error {
	remedy := ""
	for _, long := range longNames {
		for _, short := range f.names {
			if strings.EqualFold(word, long) && strings.HasPrefix(long, short) {
				remedy = "write " + strings.Replace(item, word, short, 1)
			}
		}
	}
	return f.refuse(item, "is not a value", "", remedy)
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
	word, rest, _ := strings.Cut(strings.ToLower(text), " ")
	_, known := macros[word]
	switch {
	case word == "@every":
		e.Reason, e.Remedy = "is an interval, not a cron expression", "write an interval, every "+strings.TrimSpace(rest)+", instead of a cron expression"
	case word == "@reboot":
		e.Reason = "is not supported: a schedule is not bound to one machine"
		e.Remedy = "enqueue the job from a boot script, such as a systemd unit"
	case known && rest != "":
		e.Reason, e.Remedy = "has text after the name", "give only "+word+", without user or command"
	}
	return e
}

const fieldsAllowed = "5 fields: minute hour day-of-month month day-of-week"

// timeField matches a field of any known cron implementation. Other words after the fifth field are the user, command or
// comment of a crontab line.
var timeField = regexp.MustCompile(`^(?i:[0-9*/,?#LWH()-]|SUN|MON|TUE|WED|THU|FRI|SAT|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)+$`)

func refuseCount(text string, fields []string) *Error {
	e := &Error{Field: "expression", Value: text, Allowed: fieldsAllowed, Reason: "has " + countOf(len(fields), "field")}
	if text[0] == '#' {
		e.Reason, e.Remedy = "is a comment", "give only the five time fields, without user or command"
		return e
	}
	for _, field := range fields[min(5, len(fields)):] {
		if !timeField.MatchString(field) || field[0] == '#' {
			e.Reason, e.Remedy = "has more than five fields", "give only the five time fields, without user or command"
			return e
		}
	}
	switch count := len(fields); {
	case count < 5:
		e.Remedy = "write * for a field that does not matter"
	case count == 6:
		e.Remedy = "seconds are not supported: leave them out, or use EVERY for intervals below a minute"
	default:
		e.Remedy = "seconds and years are not supported: leave them out"
	}
	return e
}

func refuseZonePrefix(prefix string) *Error {
	return &Error{
		Field: "expression", Value: prefix, Reason: "is not part of an expression", Allowed: fieldsAllowed,
		Remedy: "set the zone with its own option (TIME ZONE, timezone, --tz)",
	}
}
