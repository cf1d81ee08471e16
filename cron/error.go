package cron

import (
	"strconv"
	"strings"
)

// valueShownMax limits how many bytes of an invalid input an error repeats, so that a message stays on one line.
const valueShownMax = 60

// Error describes invalid input. It is the only error type of this package, so callers can use errors.As to mark a form
// field or to print the remedy as a hint.
type Error struct {
	Field   string // "minute" … "day-of-week", "expression", "zone", "at", "every", "bounds" or "time"
	Value   string // the invalid input
	Reason  string // what is wrong, as the rest of a sentence that begins with Value
	Allowed string // allowed values, or empty
	Remedy  string // what to write instead, or empty
}

// Error returns all parts in one line, e.g. `minute: "61" is out of range; allowed 0-59`.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Field + ": " + quoted(e.Value) + " " + e.Reason)
	if e.Allowed != "" {
		b.WriteString("; allowed " + e.Allowed)
	}
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// quoted shortens and quotes a value. It escapes everything but printable ASCII, to protect terminals and logs.
func quoted(s string) string {
	if len(s) > valueShownMax {
		s = s[:valueShownMax] + "..."
	}
	return strconv.QuoteToASCII(s)
}
