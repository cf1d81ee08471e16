package cron

import (
	"strconv"
	"strings"
)

// valueShownMax bounds how much of a bad input an error repeats, so that a message stays one line.
const valueShownMax = 60

// Error says why something is not a timetable. It is the only error type of this package, so a caller with a form to
// mark or a hint line to print can take it apart with errors.As.
type Error struct {
	Field   string // where: "minute" … "day-of-week", "expression", "zone", "at", "every", "bounds", "time"
	Value   string // what stands there
	Reason  string // what is wrong with it, continuing the sentence that Value begins
	Allowed string // what may stand there, or empty
	Remedy  string // what to write instead, or empty
}

// Error renders the whole, e.g. `minute: "61" is out of range; allowed 0-59`.
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

// quoted keeps control characters and foreign scripts out of terminals and logs.
func quoted(s string) string {
	if len(s) > valueShownMax {
		s = s[:valueShownMax] + "..."
	}
	return strconv.QuoteToASCII(s)
}
