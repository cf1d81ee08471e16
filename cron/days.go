package cron

import "strconv"

var workdays = span(1, 5, 1)

// dayPlan is what the three day fields come to, without what has no effect: days that no month of the plan has, months
// that have none of the days. Plans that fire on the same days are equal, and so are their words.
type dayPlan struct {
	days     set // of the month; none if they play no part
	of       set // the months in which they fall
	weekdays set // none if they play no part; else OR
	months   set // in which the weekdays, or every day, fall
}

func (c *Cron) dayPlan() dayPlan {
	p := dayPlan{months: c.months}
	if c.days != allDays {
		if covers(c.days, c.months) {
			return p // every day there is; beside that, weekdays add nothing
		}
		p.days, p.of = existing(c.days, c.months)
		if _, widest := existing(c.days, allMonths); p.of == widest {
			p.of = allMonths
		}
	}
	if c.weekdays != allWeekdays {
		p.weekdays = c.weekdays
	}
	return p
}

// covers reports whether the days are all that the longest of the months has.
func covers(days, months set) bool {
	for m := months.from(1); m != none; m = months.from(m + 1) {
		if every := span(1, monthLengthMax(m), 1); days&every != every {
			return false
		}
	}
	return true
}

// existing leaves out days that none of the months has, and months that have none of the days.
func existing(days, months set) (have, of set) {
	for m := months.from(1); m != none; m = months.from(m + 1) {
		if here := days & span(1, monthLengthMax(m), 1); here != 0 {
			have |= here
			of |= 1 << uint(m)
		}
	}
	return have, of
}

// uncertain returns the days that some month of the plan lacks, in some years.
func (p dayPlan) uncertain() set {
	var lacking set
	for m := p.of.from(1); m != none; m = p.of.from(m + 1) {
		lacking |= p.days &^ span(1, monthLength(commonYear, m), 1)
	}
	return lacking
}

// commonYear stands for every year without a leap day.
const commonYear = 2001

// isDate reports whether the plan is one date of the year.
func (p dayPlan) isDate() bool { return p.weekdays == 0 && p.days.size() == 1 && p.of.size() == 1 }

// before says the days ahead of a list of times, as in "every weekday at 09:30". It is empty where they read better
// behind it.
func (p dayPlan) before() string {
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

// behind says the days after the times.
func (p dayPlan) behind() string {
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

func (p dayPlan) date() string { return strconv.Itoa(p.days.first()) + " " + monthName(p.of.first()) }

func (p dayPlan) year() string {
	if p.uncertain() != 0 {
		return "leap year"
	}
	return "year"
}

// everyYear keeps months by name from being read as those of this year.
func (p dayPlan) everyYear() string {
	if p.of == allMonths || isLongRun(p.of) {
		return ""
	}
	return " every year"
}

// monthDays says days of the month, and of those that not every month has, when they come.
func (p dayPlan) monthDays() string {
	text := "on " + plural("day", p.days) + " " + series(p.days, strconv.Itoa) + " of " + ofMonths(p.of)
	lacking := p.uncertain()
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
