package cron

import (
	"slices"
	"time"
)

// Timetable is a finite or infinite set of instants. Cron, At, Every and Bounded implement it. Implementations are
// immutable and safe for concurrent use.
type Timetable interface {
	// Next returns the first fire strictly after an instant, or false when there is none.
	Next(after time.Time) (time.Time, bool)

	// Prev returns the last fire strictly before an instant, or false when there is none.
	Prev(before time.Time) (time.Time, bool)

	// Describe returns in English when it fires.
	Describe() string
}

// Between returns the oldest fires in (from, to], at most limit of them, in ascending order, and whether there are more.
// It takes at most limit+1 calls of Next, however far apart from and to are.
func Between(t Timetable, from, to time.Time, limit int) (fires []time.Time, more bool) {
	for at, ok := t.Next(from); ok && !at.After(to); at, ok = t.Next(at) {
		if len(fires) >= limit {
			return fires, true
		}
		fires = append(fires, at)
	}
	return fires, false
}

// Latest returns the newest fires in (from, to], at most limit of them, in ascending order, and whether there are more,
// older ones. It searches backwards, so that finding the newest 1,000 of ten years of minutes takes 1,001 calls of Prev.
func Latest(t Timetable, from, to time.Time, limit int) (fires []time.Time, more bool) {
	for at, ok := t.Prev(to.Add(1)); ok && at.After(from); at, ok = t.Prev(at) {
		if len(fires) >= limit {
			more = true
			break
		}
		fires = append(fires, at)
	}
	slices.Reverse(fires)
	return fires, more
}
