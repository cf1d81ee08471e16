package main

import (
	"errors"
	"time"

	"github.com/rotajobs/rota/cron"
)

// ago says how far a time is from now, as a person would: "3m ago", "in 2h 5m". The zero time is nothing.
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

// until is how far ahead a time is, in a column that says so already.
func (a *app) until(t time.Time) string {
	switch gap := t.Unix() - a.now().Unix(); {
	case gap > 0:
		return distance(gap)
	case gap < 0:
		return distance(-gap) + " ago"
	}
	return "now"
}

// coarseDistance is a distance with as much of it as matters: seconds within an hour's reach, days beyond.
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

// timestamp is a time with its distance, for a reader who wants both.
func (a *app) timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC") + " (" + a.ago(t) + ")"
}

// elapsed is how long something ran, or has run until now.
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

// parseTimeFlag reads a time of the command line: RFC 3339, or a local one of the zone that was named, else of this machine.
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
		refusal.Field = flag // the name by which the reader knows it
	}
	return at, err
}
