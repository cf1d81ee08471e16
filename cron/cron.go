package cron

import "time"

// Cron is a parsed expression: five sets of values and the zone whose clock they are read on. It is immutable and
// safe for concurrent use. The zero Cron never fires.
type Cron struct {
	minutes, hours, days, months, weekdays set

	week uint64 // the weekdays repeated for six weeks; one shift yields the weekdays of a month
	loc  *time.Location
	text string
}

// String returns the expression as it was written, with one space between fields.
func (c Cron) String() string { return c.text }

// Location returns the zone whose clock the expression is read on.
func (c Cron) Location() *time.Location { return c.loc }

// FollowsWallClock reports whether the expression holds all 24 hours, in any spelling. Such an expression follows the
// wall clock through clock changes: a local minute that occurs twice fires twice.
func (c Cron) FollowsWallClock() bool { return c.hours == allHours }

// daysOf returns the days that fire in a month that begins on the given weekday. Restricted days of the month and
// restricted weekdays are joined by OR, as in every cron since Vixie's. The set decides whether a field is restricted, so
// 1-31 and */1 restrict nothing.
func (c *Cron) daysOf(year, month, firstWeekday int) set {
	existing := set(2)<<uint(monthLength(year, month)) - 2
	byWeek := set(c.week>>uint(firstWeekday)) << 1
	switch {
	case c.weekdays == allWeekdays:
		return existing & c.days
	case c.days == allDays:
		return existing & byWeek
	default:
		return existing & (c.days | byWeek)
	}
}

// repeatWeek repeats the weekdays for six weeks, because no month spans more.
func repeatWeek(weekdays set) uint64 {
	const everyWeek = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28 | 1<<35
	return uint64(weekdays) * everyWeek
}
