package main

import (
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/rotajobs/rota/cron"
)

// sanitize makes text from a server safe to print on one line: line breaks become spaces and control characters become
// question marks, since they could move the cursor.
func sanitize(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case isUnsafe(r):
			return '?'
		}
		return r
	}, text)
}

// isUnsafe reports whether a terminal may interpret a character instead of showing it: control characters, line and
// paragraph separators, and marks and changes of the text direction.
func isUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// sanitizeLines sanitizes each line of a text and keeps the lines apart, for stack traces.
func sanitizeLines(text string) string {
	lines := strings.Split(strings.Trim(text, "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(sanitize(strings.ReplaceAll(line, "\t", "    ")), " ")
	}
	return strings.Join(lines, "\n")
}

// firstLine returns the first line of a text for a list, followed by an ellipsis if there are more lines.
func firstLine(text string) string {
	head, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	head = strings.TrimSpace(sanitize(head))
	if rest != "" {
		head += " …"
	}
	return head
}

// firstLineMax is the length of firstLineShort in characters.
const firstLineMax = 200

// firstLineShort is firstLine cut to firstLineMax, for messages, which are not cut to the width of the terminal.
func firstLineShort(text string) string { return cutText(firstLine(text), firstLineMax) }

// ago formats the distance of a time from now: "3m ago", "in 2h 5m". The zero time is the empty text.
func (a *app) ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	gap := a.now().Unix() - t.Unix()
	switch {
	case gap > -1 && gap < 1:
		return "now"
	case gap > 0:
		return coarseDistance(gap) + " ago"
	}
	return "in " + coarseDistance(-gap)
}

// until formats the distance to a time in the future, for a column whose head is IN.
func (a *app) until(t time.Time) string {
	switch gap := t.Unix() - a.now().Unix(); {
	case gap > 0:
		return distance(gap)
	case gap < 0:
		return distance(-gap) + " ago"
	}
	return "now"
}

// coarseDistance formats a distance with a precision of seconds below ten minutes, minutes below three days, and days
// beyond.
func coarseDistance(seconds int64) string {
	switch {
	case seconds >= 3*24*3600:
		seconds -= seconds % (24 * 3600)
	case seconds >= 3600:
		seconds -= seconds % 60
	case seconds >= 600:
		seconds -= seconds % 60
	}
	return distance(seconds)
}

// timestamp formats a time and its distance from now.
func (a *app) timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC") + " (" + a.ago(t) + ")"
}

// elapsed formats the duration from one time to another, or to now if the second is zero.
func (a *app) elapsed(from, to time.Time) string {
	if from.IsZero() {
		return ""
	}
	if to.IsZero() {
		to = a.now()
	}
	d := max(0, to.Sub(from))
	if d < time.Minute {
		return d.Round(time.Millisecond).String()
	}
	return distance(int64(d.Seconds()))
}

// parseTimeFlag parses the time of a flag: RFC 3339, or a local time in the zone, by default the zone of this machine.
func parseTimeFlag(flag, text, zone string) (time.Time, error) {
	loc, err := zoneOf(zone)
	if err != nil {
		return time.Time{}, err
	}
	at, err := cron.ParseTime(text, loc)
	var refusal *cron.Error
	if errors.As(err, &refusal) {
		refusal.Field = flag // the name that the user typed
	}
	return at, err
}

// zoneOf returns the zone of --tz, by default the zone of this machine.
func zoneOf(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	return cron.LoadZone(name)
}
