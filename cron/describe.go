package cron

import "strconv"

// Describe says in plain English when the expression fires, e.g. "every weekday at 09:30, Berlin time". The sentence
// is true of every fire and claims none that never comes; expressions that fire at different times never get the same
// one.
func (c Cron) Describe() string {
	if c.loc == nil {
		return "never"
	}
	return c.sentence() + ", " + zonePhrase(c.loc)
}

// sentence puts the days where they read best: before a list of times ("every weekday at 09:30"), else behind.
func (c *Cron) sentence() string {
	times, list := c.timeWords()
	plan := c.dayPlan()
	if days := plan.before(); list && days != "" {
		return days + " " + times
	}
	if c.hours == allHours && plan.days == 0 && plan.weekdays == 0 {
		return times + inMonths(plan.months) // what fires every hour needs no "every day"
	}
	return times + " " + plan.behind()
}

const (
	timeListMax = 6 // how many times of day are listed one by one
	rhythmMin   = 3 // how many times it takes to be a rhythm and no list
)

// timeWords says when on a day it fires, and whether it did so with a list of times.
func (c *Cron) timeWords() (text string, list bool) {
	fires := c.minutes.size() * c.hours.size()
	switch {
	case c.hours == allHours:
		return c.everyHourWords(), false
	case isRun(c.hours) && fires >= rhythmMin && c.beat() != "":
		first, last := clock(c.hours.first(), c.minutes.first()), clock(c.hours.last(), c.minutes.last())
		return c.beat() + " from " + first + " to " + last, false
	case fires <= timeListMax:
		return "at " + joined(c.times()), true
	case c.minutes.size() == 1 && progression(c.hours) > 0:
		return "at " + series(c.hours, func(h int) string { return clock(h, c.minutes.first()) }), true
	}
	return c.minuteWords() + " of " + plural("hour", c.hours) + " " + series(c.hours, strconv.Itoa), false
}

func (c *Cron) everyHourWords() string {
	switch {
	case c.minutes == 1:
		return "every hour on the hour"
	case c.keepsFullHours():
		return c.beat()
	}
	return c.minuteWords() + " of every hour"
}

// beat names the rhythm of the minutes, if they keep one from hour to hour. A step that does not divide the hour, such
// as */7, keeps none: it stumbles at every full hour.
func (c *Cron) beat() string {
	switch n := c.minutes.size(); {
	case n == 60:
		return "every minute"
	case n == 1:
		return "every hour"
	case 60%n == 0 && c.minutes == span(c.minutes.first(), 59, 60/n):
		return "every " + counted(60/n, "minute")
	}
	return ""
}

// keepsFullHours reports whether the beat alone says the minutes, because it begins with the hour.
func (c *Cron) keepsFullHours() bool {
	return c.minutes.size() > 1 && c.minutes.has(0) && c.beat() != ""
}

func (c *Cron) minuteWords() string {
	if c.keepsFullHours() {
		return c.beat()
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
