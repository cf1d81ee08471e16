package cron

import "time"

// Bounded is a timetable limited to STARTS and ENDS.
type Bounded struct {
	inner        Timetable
	starts, ends time.Time
}

// Within keeps the fires of t from starts to ends, both included. A zero time leaves that side open.
func Within(t Timetable, starts, ends time.Time) (Bounded, error) {
	if !starts.IsZero() && !ends.IsZero() && ends.Before(starts) {
		return Bounded{}, &Error{
			Field: "bounds", Value: ends.Format(time.RFC3339), Reason: "ends before it starts",
			Allowed: "at or after " + starts.Format(time.RFC3339),
		}
	}
	return Bounded{inner: t, starts: starts, ends: ends}, nil
}

// Next returns the first fire strictly after an instant, within the bounds.
func (b Bounded) Next(after time.Time) (time.Time, bool) {
	if b.inner == nil {
		return time.Time{}, false
	}
	if !b.starts.IsZero() && after.Before(b.starts) {
		after = b.starts.Add(-1)
	}
	at, ok := b.inner.Next(after)
	if !ok || !b.ends.IsZero() && at.After(b.ends) {
		return time.Time{}, false
	}
	return at, true
}

// Prev returns the last fire strictly before an instant, within the bounds.
func (b Bounded) Prev(before time.Time) (time.Time, bool) {
	if b.inner == nil {
		return time.Time{}, false
	}
	if !b.ends.IsZero() && before.After(b.ends) {
		before = b.ends.Add(1)
	}
	at, ok := b.inner.Prev(before)
	if !ok || !b.starts.IsZero() && at.Before(b.starts) {
		return time.Time{}, false
	}
	return at, true
}

// Describe returns the description of the timetable, followed by the bounds.
func (b Bounded) Describe() string {
	if b.inner == nil {
		return "never"
	}
	text := b.inner.Describe()
	if every, is := b.inner.(Every); !b.starts.IsZero() && !(is && every.anchor.Equal(b.starts)) { // an interval says it already
		text += ", from " + formatInstant(b.starts)
	}
	if !b.ends.IsZero() {
		text += ", until " + formatInstant(b.ends)
	}
	return text
}
