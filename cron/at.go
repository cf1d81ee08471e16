package cron

import "time"

// At fires once.
type At struct{ at time.Time }

// NewAt makes the timetable of one instant. Whether that instant has passed is for the caller to judge, who has a
// clock.
func NewAt(at time.Time) (At, error) {
	if at.IsZero() || at.Year() > yearMax || at.Year() < yearMin {
		return At{}, &Error{
			Field: "at", Value: at.Format(time.RFC3339), Reason: "is out of range", Allowed: "the years 1 to 9999",
		}
	}
	return At{at: at.Round(0)}, nil
}

// Next returns the one instant if it lies after the given one.
func (a At) Next(after time.Time) (time.Time, bool) {
	return a.at, !a.at.IsZero() && a.at.After(after)
}

// Prev returns the one instant if it lies before the given one.
func (a At) Prev(before time.Time) (time.Time, bool) {
	return a.at, !a.at.IsZero() && a.at.Before(before)
}

// Describe names the instant on the clock of its own zone.
func (a At) Describe() string {
	if a.at.IsZero() {
		return "never"
	}
	return "once at " + moment(a.at)
}
