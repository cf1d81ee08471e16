package ddl

import (
	"strings"
	"time"
)

// ParseTime reads a time as statements have it: as RFC 3339 does, or as
// YYYY-MM-DD HH:MM[:SS[.ffffff]] on the clocks of a zone.
func ParseTime(text string, zone *time.Location) (t time.Time, ok bool) {
	layout := ""
	switch {
	case matches(text, "dddd-dd-ddTdd:dd:dd") && !strings.Contains(text, ","): // time reads a comma as a point
		layout = time.RFC3339Nano
	case len(text) == len("2006-01-02 15:04") && matches(text, "dddd-dd-dd dd:dd"):
		layout = "2006-01-02 15:04"
	case matches(text, "dddd-dd-dd dd:dd:dd") && isFraction(text[len("2006-01-02 15:04:05"):]):
		layout = "2006-01-02 15:04:05.999999999"
	default:
		return time.Time{}, false
	}
	t, err := time.ParseInLocation(layout, text, zone)
	return t, err == nil
}

// matches reports whether a text begins as a pattern does, in which d is a digit.
func matches(text, pattern string) bool {
	if len(text) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] == 'd' && !isDigit(text[i]) || pattern[i] != 'd' && text[i] != pattern[i] {
			return false
		}
	}
	return true
}

// isFraction reports whether a text is empty, or a point and up to six digits.
func isFraction(text string) bool {
	if text == "" {
		return true
	}
	digits := text[1:]
	for i := range len(digits) {
		if !isDigit(digits[i]) {
			return false
		}
	}
	return text[0] == '.' && 1 <= len(digits) && len(digits) <= 6
}

// hasOffset reports whether a time that ParseTime reads needs no zone.
func hasOffset(text string) bool { return text[len("2006-01-02")] == 'T' }

// timestamp reads a time and keeps it as it was written.
func (p *parser) timestamp() string {
	at := p.tok
	text := p.stringLiteral("a time")
	if p.err != nil {
		return ""
	}
	if _, ok := ParseTime(text, time.UTC); !ok {
		p.failAt(at, badValue, excerpt(quoteString(text))+" is not a time",
			"write it like 2026-11-15T09:00:00Z or, in the job's time zone, 2026-11-15 09:00")
		return ""
	}
	return text
}
