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

// timeLayouts are the ways to write a local time.
var timeLayouts = []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"}

// ParseTime reads an instant: RFC 3339, or YYYY-MM-DD, with HH:MM or HH:MM:SS if wanted, on the clock of a zone. It
// obeys the rule of the package: a local time shown twice is its first occurrence, and one that is never shown is
// refused.
func ParseTime(text string, loc *time.Location) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return inCalendar(t.In(loc), text)
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil && t.Format(layout) == text { // Parse alone lets 9:00 and 09:00:00.5 pass
			return firstShown(t, text, loc)
		}
	}
	return time.Time{}, &Error{
		Field: "time", Value: text, Reason: "is not a time", Allowed: "RFC 3339 or YYYY-MM-DD[ HH:MM[:SS]]",
	}
}

func inCalendar(t time.Time, text string) (time.Time, error) {
	if t.Unix() < calendarStart || t.Unix() >= calendarEnd {
		return time.Time{}, &Error{Field: "time", Value: text, Reason: "is out of range", Allowed: "the years 1 to 9999"}
	}
	return t, nil
}

// firstShown finds the first instant at which the zone's clock shows what t shows in UTC.
func firstShown(t time.Time, text string, loc *time.Location) (time.Time, error) {
	if _, err := inCalendar(t, text); err != nil {
		return time.Time{}, err
	}
	local := t.Unix()
	for p := periodAt(loc, local-shiftMax); p.start <= local+shiftMax; p = periodAt(loc, p.end) {
		if at := local - p.offset; p.start <= at && at < p.end {
			return time.Unix(at, 0).In(loc), nil
		}
		if p.end == forever { // the last clock change is behind, and nothing comes after it to look at
			break
		}
	}
	return time.Time{}, &Error{
		Field: "time", Value: text, Reason: "does not exist in " + loc.String() + ": clocks go forward over it",
		Remedy: "write a time that the clock shows, or one with an offset",
	}
}
