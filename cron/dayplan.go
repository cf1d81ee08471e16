package cron

import "strconv"

var workdays = span(1, 5, 1)

// dayPlan holds the three day fields without the values that have no effect: days that no month of the plan has, and
// months that have none of the days. Plans that fire on the same days are equal, so their descriptions are equal.
type dayPlan struct {
	days      set // restricted days of the month; empty if unrestricted
	dayMonths set // months in which days fire
	weekdays  set // restricted weekdays, joined with days by OR; empty if unrestricted
	months    set // months in which weekdays, or all days, fire
}

func (c *Cron) dayPlan() dayPlan {
	p := dayPlan{months: c.months}
	if c.days != allDays {
		if covers(c.days, c.months) {
			return p // every existing day fires, so the weekdays add none
		}
		p.days, p.dayMonths = existing(c.days, c.months)
		if _, widest := existing(c.days, allMonths); p.dayMonths == widest {
			p.dayMonths = allMonths
		}
	}
	if c.weekdays != allWeekdays {
		p.weekdays = c.weekdays
	}
	return p
}

// covers reports whether the days include every day of each of the months.
func covers(days, months set) bool {
	for m := months.from(1); m != none; m = months.from(m + 1) {
		if every := span(1, monthLengthMax(m), 1); days&every != every {
			return false
		}
	}
	return true
}

// existing removes days that none of the months has, and months that have none of the days.
func existing(days, months set) (have, of set) {
	for m := months.from(1); m != none; m = months.from(m + 1) {
		if here := days & span(1, monthLengthMax(m), 1); here != 0 {
			have |= here
			of |= 1 << uint(m)
		}
	}
	return have, of
}

// sometimesMissing returns the days that some month of the plan does not have in some years.
func (p dayPlan) sometimesMissing() set {
	var lacking set
	for m := p.dayMonths.from(1); m != none; m = p.dayMonths.from(m + 1) {
		lacking |= p.days &^ span(1, monthLength(commonYear, m), 1)
	}
	return lacking
}

// commonYear is an example of a year without a leap day.
const commonYear = 2001

// isDate reports whether the plan is a single date of the year.
func (p dayPlan) isDate() bool {
	return p.weekdays == 0 && p.days.size() == 1 && p.dayMonths.size() == 1
}

// textBeforeTimes describes the days in front of a list of times, as in "every weekday at 09:30". It is empty if the days
// read better after the times.
func (p dayPlan) textBeforeTimes() string {
	switch {
	case p.isDate():
		return "every " + p.year() + " on " + p.date()
	case p.days != 0:
		return ""
	case p.weekdays != 0:
		return "every " + weekdayWords(p.weekdays, "", "and") + inMonths(p.months)
	}
	return "every day" + inMonths(p.months)
}

// textAfterTimes describes the days after the times.
func (p dayPlan) textAfterTimes() string {
	switch {
	case p.isDate():
		return "on " + p.date() + " every " + p.year()
	case p.days != 0 && p.weekdays != 0:
		return p.monthDays() + ", or on any " + weekdayWords(p.weekdays, "", "or") + inMonths(p.months)
	case p.days != 0:
		return p.monthDays() + p.everyYear()
	case p.weekdays != 0:
		return "on " + weekdayWords(p.weekdays, "s", "and") + inMonths(p.months)
	}
	return "every day" + inMonths(p.months)
}

func (p dayPlan) date() string {
	return strconv.Itoa(p.days.first()) + " " + monthName(p.dayMonths.first())
}

func (p dayPlan) year() string {
	if p.sometimesMissing() != 0 {
		return "leap year"
	}
	return "year"
}

// everyYear returns the addition that keeps named months from being read as those of this year only.
func (p dayPlan) everyYear() string {
	if p.dayMonths == allMonths || isLongRun(p.dayMonths) {
		return ""
	}
	return " every year"
}

// monthDays describes the days of the month, and when those occur that not every month has.
func (p dayPlan) monthDays() string {
	text := "on " + plural("day", p.days) + " " + series(p.days, strconv.Itoa) + " of " + ofMonths(p.dayMonths)
	lacking := p.sometimesMissing()
	switch {
	case lacking == 0:
		return text
	case lacking == 1<<29:
		return text + " (29 February in leap years)"
	case p.days.size() == 1:
		return text + " that has it"
	case lacking == p.days:
		return text + " (in months that have them)"
	case lacking.size() == 1:
		return text + " (" + strconv.Itoa(lacking.first()) + " in months that have it)"
	}
	return text + " (" + series(lacking, strconv.Itoa) + " in months that have them)"
}
