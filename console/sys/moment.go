package sys

import (
	"strings"
	"time"
)

// momentLayouts are how a time may be written.
var momentLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07", "2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02 15:04Z07:00", "2006-01-02 15:04Z07", time.DateOnly,
}

// parseMoment reads a time, in UTC if it says nothing else.
func parseMoment(text string) (t time.Time, err error) {
	text = strings.TrimSpace(text)
	for _, layout := range momentLayouts {
		if t, err = time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return t, err
}

// written is a time as columns write it, and anything else as it is.
func written(text string) string {
	if len(text) == len(TimeLayout) && text[10] == 'T' && text[len(text)-1] == 'Z' {
		return text
	}
	t, err := parseMoment(text)
	if err != nil {
		return text
	}
	return t.UTC().Format(TimeLayout)
}
