package cron

import (
	"strconv"
	"time"
)

// Describe says in plain English when the expression fires, e.g. "every weekday at 09:30, Berlin time". The sentence
// is true of every fire, and expressions with different values never get the same one.
func (c Cron) Describe() string {
	if c.loc == nil {
		return "never"
	}
	text := c.sentence()
	if c.hours == allHours && c.everyDay() && c.loc == time.UTC {
		return text // which clock it is makes no difference to a reader in any zone of whole hours
	}
	return text + ", " + zonePhrase(c.loc)
}

func (c *Cron) everyDay() bool {
	return c.days == allDays && c.weekdays == allWeekdays && c.months == allMonths
}

// sentence puts the days where they read best: before a list of times ("every weekday at 09:30"), else behind.
func (c *Cron) sentence() string {
	times, list := c.timeWords()
	anyDay, anyMonth := c.days == allDays && c.weekdays == allWeekdays, c.months == allMonths
	switch {
	case anyDay && !list:
		return times + c.inMonths()
	case anyDay && anyMonth:
		return "every day " + times
	case list && anyMonth && c.days == allDays && c.weekdays == workdays:
		return "every weekday " + times
	}
	return times + " " + c.dayWords()
}

// timeListMax is how many times of day are listed one by one.
const timeListMax = 6

// timeWords says when on a day it fires, and whether it did so with a list of times.
func (c *Cron) timeWords() (text string, list bool) {
	switch {
	case c.hours == allHours:
		return c.everyHourWords(), false
	case c.minutes.size()*c.hours.size() <= timeListMax:
		return "at " + joined(c.times()), true
	case c.minutes.size() == 1 && progression(c.hours) > 0:
		return "at " + series(c.hours, func(h int) string { return clock(h, c.minutes.first()) }), true
	case isRun(c.hours) && c.rhythm() != "":
		first, last := clock(c.hours.first(), c.minutes.first()), clock(c.hours.last(), c.minutes.last())
		return c.rhythm() + " from " + first + " to " + last, false
	}
	return c.minuteWords() + " of " + plural("hour", c.hours) + " " + series(c.hours, strconv.Itoa), false
}

func (c *Cron) everyHourWords() string {
	switch {
	case c.minutes.size() > 1 && c.rhythm() != "":
		return c.rhythm()
	case c.minutes == 1:
		return "every hour on the hour"
	}
	return c.minuteWords() + " of every hour"
}

// rhythm names the beat of the minutes, if they keep one from hour to hour. A step that does not divide the hour, such
// as */7, keeps none: it stumbles at every full hour.
func (c *Cron) rhythm() string {
	switch n := c.minutes.size(); {
	case n == 60:
		return "every minute"
	case n == 1:
		return "every hour"
	case 60%n == 0 && c.minutes == span(0, 59, 60/n):
		return "every " + counted(60/n, "minute")
	}
	return ""
}

func (c *Cron) minuteWords() string {
	if c.minutes == allMinutes {
		return "every minute"
	}
	return "at " + plural("minute", c.minutes) + " " + series(c.minutes, strconv.Itoa)
}

func (c *Cron) times() []string {
	var words []string
	for h := c.hours.from(0); h != none; h = c.hours.from(h + 1) {
		for m := c.minutes.from(0); m != none; m = c.minutes.from(m + 1) {
			words = append(words, clock(h, m))
		}
	}
	return words
}

func isRun(s set) bool { return s == span(s.first(), s.last(), 1) }

func plural(noun string, s set) string {
	if s.size() == 1 {
		return noun
	}
	return noun + "s"
}
