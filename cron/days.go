package cron

import (
	"strconv"
	"time"
)

var (
	workdays = span(1, 5, 1)
	weekend  = set(1<<6 | 1)
)

// dayWords says on which days it fires, if not on all. The months stand at both sides of an OR, because they cut both.
func (c *Cron) dayWords() string {
	byDay, byWeek := c.days != allDays, c.weekdays != allWeekdays
	switch {
	case byDay && byWeek:
		return "on " + c.monthDayWords() + " and on every " + weekdayWords(c.weekdays) + c.inMonths()
	case byDay:
		return "on " + c.monthDayWords()
	case byWeek && c.weekdays == workdays:
		return "on weekdays" + c.inMonths()
	case byWeek:
		return "on " + weekdayWords(c.weekdays) + c.inMonths()
	}
	return "every day" + c.inMonths()
}

func (c *Cron) monthDayWords() string {
	text := plural("day", c.days) + " " + series(c.days, strconv.Itoa) + " of "
	if c.months == allMonths {
		return text + "every month"
	}
	return text + monthWords(c.months)
}

func (c *Cron) inMonths() string {
	if c.months == allMonths {
		return ""
	}
	return " in " + monthWords(c.months)
}

func monthWords(s set) string {
	return listed(s, func(n int) string { return time.Month(n).String() })
}

// weekdayWords begins the week on Monday, so that a weekend stays together.
func weekdayWords(s set) string {
	switch s {
	case workdays:
		return "weekday"
	case weekend:
		return "Saturday and Sunday"
	}
	if s.has(0) {
		s = s&^1 | 1<<sundayAgain
	}
	return listed(s, func(n int) string { return time.Weekday(n % 7).String() })
}
