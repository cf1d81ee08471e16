package cron

import "time"

// Cron is a parsed expression: five sets of values and the zone whose clock they are read on. It is immutable and
// safe for concurrent use. The zero Cron never fires.
type Cron struct {
	minutes, hours, days, months, weekdays set

	week uint64 // the weekdays over and over, so that the weekdays of any month are a shift away
	loc  *time.Location
	text string
}

// String returns the expression as it was written, with one space between fields.
func (c Cron) String() string { return c.text }

// Location returns the zone whose clock the expression is read on.
func (c Cron) Location() *time.Location { return c.loc }

// followsClock reports the second half of the rule for clock changes: with all 24 hours, however written, what counts
// is the clock on the wall, and a minute shown twice fires twice.
func (c *Cron) followsClock() bool { return c.hours == allHours }

// daysOf returns the days that fire in a month which begins on the given weekday. Restricted days of the month and
// restricted weekdays are joined by OR, as in every cron since Vixie's; restricted is a matter of the set, so 1-31 and
// */1 restrict nothing.
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

// repeatWeek lays weekdays end to end, for six weeks: no month touches more.
func repeatWeek(weekdays set) uint64 {
	const everyWeek = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28 | 1<<35
	return uint64(weekdays) * everyWeek
}
