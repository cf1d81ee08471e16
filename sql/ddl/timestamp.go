package ddl

import (
	"regexp"
	"time"
)

// timePattern is stricter than the layouts of package time, which also read a comma as a point. Its groups are the
// date, the time with its seconds, and the offset.
var timePattern = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?:(:\d\d)(\.\d{1,9})?)?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?)?$`)

// ParseTime reads a time as statements have it: as RFC 3339 does, or as YYYY-MM-DD[ HH:MM[:SS[.ffffff]]] on the clocks of
// a zone. A date alone is its midnight. An offset may have hours only, as +02 does, and one space before it, as in PostgreSQL.
func ParseTime(text string, zone *time.Location) (t time.Time, ok bool) {
	parts := timePattern.FindStringSubmatch(text)
	if parts == nil {
		return time.Time{}, false
	}
	date, minutes, seconds, fraction, offset := parts[1], parts[2], parts[3], parts[4], parts[5]
	if minutes == "" {
		minutes = "00:00"
	}
	if seconds == "" {
		seconds = ":00"
	}
	layout := "2006-01-02 15:04:05"
	switch len(offset) {
	case len("Z"):
		offset = "+00"
		fallthrough
	case len("+02"):
		layout += "-07"
	case len("+0200"):
		layout += "-0700"
	case len("+02:00"):
		layout += "-07:00"
	}
	t, err := time.ParseInLocation(layout, date+" "+minutes+seconds+fraction+offset, zone)
	return t, err == nil
}

// HasOffset reports whether a time that ParseTime reads needs no zone.
func HasOffset(text string) bool {
	parts := timePattern.FindStringSubmatch(text)
	return parts != nil && parts[5] != ""
}

// timestamp reads a time and keeps it as it was written.
func (p *parser) timestamp() string {
	at := p.tok
	text := p.stringLiteral("a time")
	if p.err != nil {
		return ""
	}
	if _, ok := ParseTime(text, time.UTC); !ok {
		p.failAt(at, badValue, excerpt(quoteString(text))+" is not a time",
			"write it like 2026-11-15T09:00:00Z, 2026-11-15 09:00+02 or, in the job's time zone, 2026-11-15 09:00 or 2026-11-15")
		return ""
	}
	return text
}
