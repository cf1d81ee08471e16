package main

import (
	"errors"
	"time"

	"github.com/rotajobs/rota/cron"
)

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
	loc := time.Local
	if zone != "" {
		var err error
		if loc, err = cron.LoadZone(zone); err != nil {
			return time.Time{}, err
		}
	}
	at, err := cron.ParseTime(text, loc)
	var refusal *cron.Error
	if errors.As(err, &refusal) {
		refusal.Field = flag // the name that the user typed
	}
	return at, err
}
