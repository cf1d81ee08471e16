package ddl

import (
	"regexp"
	"time"
)

// timeLayouts are the forms of times. The patterns are stricter than the layouts, with which the
// package time also reads a comma as a point.
var timeLayouts = []struct {
	pattern *regexp.Regexp
	layout  string
}{
	{regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^,]*$`), time.RFC3339Nano},
	{regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d$`), "2006-01-02 15:04"},
	{regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?$`), "2006-01-02 15:04:05.999999999"},
}

// ParseTime reads a time as statements have it: as RFC 3339 does, or as
// YYYY-MM-DD HH:MM[:SS[.ffffff]] on the clocks of a zone.
func ParseTime(text string, zone *time.Location) (t time.Time, ok bool) {
	for _, form := range timeLayouts {
		if form.pattern.MatchString(text) {
			t, err := time.ParseInLocation(form.layout, text, zone)
			return t, err == nil
		}
	}
	return time.Time{}, false
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
