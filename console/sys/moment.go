package sys

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

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

// spans are the units of an interval; months and years are of no fixed length.
var spans = map[string]time.Duration{
	"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
	"millisecond": time.Millisecond, "microsecond": time.Microsecond, "sec": time.Second, "min": time.Minute, "hr": time.Hour,
}

var aSpan = regexp.MustCompile(`([+-]?\d+(?:\.\d+)?)\s*([a-z]+)`)

// parseSpan reads an interval such as 1 day or 2 hours 30 minutes.
func parseSpan(text string) (years, months int, d time.Duration, err error) {
	text = strings.ToLower(strings.TrimSpace(text))
	parts := aSpan.FindAllStringSubmatch(text, -1)
	if len(parts) == 0 || strings.TrimSpace(aSpan.ReplaceAllString(text, "")) != "" {
		return 0, 0, 0, fmt.Errorf("%q is not an interval", text)
	}
	for _, part := range parts {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, 0, 0, err
		}
		switch unit := strings.TrimSuffix(part[2], "s"); {
		case unit == "year" || unit == "month" || unit == "mon":
			if n != float64(int(n)) {
				return 0, 0, 0, fmt.Errorf("%q has a part of a %s", text, unit)
			}
			if unit == "year" {
				years += int(n)
			} else {
				months += int(n)
			}
		case spans[unit] != 0:
			d += time.Duration(n * float64(spans[unit]))
		default:
			return 0, 0, 0, fmt.Errorf("%q is not a unit", part[2])
		}
	}
	return years, months, d, nil
}

// shift moves a time by an interval.
func (d *desk) shift(ctx sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
	v, err := d.moment(ctx, args[:1])
	if err != nil || v.Type() == sqlite.TypeNull {
		return v, err
	}
	t, err := parseMoment(v.Text())
	if err != nil {
		return null, d.query.fail(err)
	}
	years, months, span, err := parseSpan(args[2].Text())
	if err != nil {
		return d.refuse("%v; write one such as 1 day or 2 hours 30 minutes", err)
	}
	if args[1].Text() == "-" {
		years, months, span = -years, -months, -span
	}
	return stamp(t.AddDate(years, months, 0).Add(span)), nil
}
