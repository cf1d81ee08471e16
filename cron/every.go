package cron

import "time"

// The bounds of an interval. A millisecond is the finest time that every user-facing interface shows, so two fires of a
// smaller or fractional interval could have the same displayed time.
const (
	EveryMin = time.Millisecond
	EveryMax = 100 * 365 * 24 * time.Hour
)

// Every fires at a fixed interval of real time. Each fire is computed from the first, so late runs, restarts and clock
// changes cause no drift.
type Every struct {
	first    time.Time
	anchor   time.Time // instant from which the interval is counted: the first fire, or one interval before it
	interval time.Duration
}

// EveryFrom fires at starts and then at every interval after it: EVERY with STARTS.
func EveryFrom(starts time.Time, interval time.Duration) (Every, error) {
	return newEvery(starts, interval, 0)
}

// EveryAfter fires for the first time one interval after the instant of creation: EVERY without STARTS.
func EveryAfter(created time.Time, interval time.Duration) (Every, error) {
	return newEvery(created, interval, interval)
}

func newEvery(anchor time.Time, interval, wait time.Duration) (Every, error) {
	if interval < EveryMin || interval > EveryMax || interval%EveryMin != 0 {
		return Every{}, &Error{
			Field: "every", Value: interval.String(), Reason: "is not a valid interval",
			Allowed: "whole milliseconds from 1ms to 100 years of 365 days",
		}
	}
	first := anchor.Round(0).Add(wait)
	if unix := first.Unix(); anchor.IsZero() || unix < calendarStart || unix >= calendarEnd {
		return Every{}, &Error{
			Field: "every", Value: anchor.Format(time.RFC3339), Reason: "is not a valid start of an interval",
			Allowed: "a time in the years 1 to 9999",
		}
	}
	return Every{first: first, anchor: anchor.Round(0), interval: interval}, nil
}

// Next returns the first fire strictly after an instant.
func (e Every) Next(after time.Time) (time.Time, bool) {
	if e.interval == 0 || after.Unix() >= calendarEnd {
		return time.Time{}, false
	}
	if after.Before(e.first) {
		return e.first, true
	}
	at := e.fire(e.intervals(after) + 1)
	return at, at.Unix() < calendarEnd
}

// Prev returns the last fire strictly before an instant.
func (e Every) Prev(before time.Time) (time.Time, bool) {
	if e.interval == 0 || !before.After(e.first) {
		return time.Time{}, false
	}
	if before.Unix() >= calendarEnd {
		before = time.Unix(calendarEnd, 0)
	}
	return e.fire(e.intervals(before.Add(-1))), true
}

// intervals returns how many whole intervals lie between the first fire and an instant not before it. It counts in
// microseconds, because a Duration overflows after 292 years. It subtracts the nanoseconds of the first fire below a
// microsecond from the instant, so that the result is exact.
func (e Every) intervals(until time.Time) int64 {
	passed := until.Add(-e.remainder()).UnixMicro() - e.first.UnixMicro()
	return floorDiv(passed, e.interval.Microseconds())
}

func (e Every) fire(n int64) time.Time {
	at := time.UnixMicro(e.first.UnixMicro() + n*e.interval.Microseconds())
	return at.Add(e.remainder()).In(e.first.Location())
}

func (e Every) remainder() time.Duration { return time.Duration(e.first.Nanosecond() % 1000) }

// Describe returns the interval and the instant from which it is counted.
func (e Every) Describe() string {
	if e.interval == 0 {
		return "never"
	}
	return "every " + durationWords(e.interval) + ", counted from " + formatInstant(e.anchor)
}
