package cron

import "time"

// At fires once.
type At struct{ at time.Time }

// NewAt returns the timetable of one instant. It accepts instants in the past, because it does not know the current time.
func NewAt(at time.Time) (At, error) {
	if at.IsZero() || at.Year() > yearMax || at.Year() < yearMin {
		return At{}, &Error{
			Field: "at", Value: at.Format(time.RFC3339), Reason: "is out of range", Allowed: "the years 1 to 9999",
		}
	}
	return At{at: at.Round(0)}, nil
}

// Next returns the instant if it is after the given one.
func (a At) Next(after time.Time) (time.Time, bool) {
	return a.at, !a.at.IsZero() && a.at.After(after)
}

// Prev returns the instant if it is before the given one.
func (a At) Prev(before time.Time) (time.Time, bool) {
	return a.at, !a.at.IsZero() && a.at.Before(before)
}

// Describe returns the instant in the local time of its own zone.
func (a At) Describe() string {
	if a.at.IsZero() {
		return "never"
	}
	return "once at " + formatInstant(a.at)
}
