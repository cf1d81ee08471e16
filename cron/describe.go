package cron

import "strconv"

// Describe returns in English when the expression fires, e.g. "every weekday at 09:30, Berlin time". The description
// covers every fire and nothing else. Expressions that fire at different times have different descriptions.
func (c Cron) Describe() string {
	if c.loc == nil {
		return "never"
	}
	return c.sentence() + ", " + zonePhrase(c.loc)
}

// sentence writes the days before a list of times ("every weekday at 09:30"), and after any other form of the times.
func (c *Cron) sentence() string {
	times, list := c.timeWords()
	plan := c.dayPlan()
	if days := plan.textBeforeTimes(); list && days != "" {
		return days + " " + times
	}
	if c.hours == allHours && plan.days == 0 && plan.weekdays == 0 {
		return times + inMonths(plan.months) // an hourly description needs no "every day"
	}
	return times + " " + plan.textAfterTimes()
}

const (
	timeListMax      = 6 // most times of day that are listed one by one
	intervalFiresMin = 3 // fewest fires that are described as an interval instead of a list
)

// timeWords describes the times of day, and reports whether the description is a list of times.
func (c *Cron) timeWords() (text string, list bool) {
	fires := c.minutes.size() * c.hours.size()
	switch {
	case c.hours == allHours:
		return c.everyHourWords(), false
	case isRun(c.hours) && fires >= intervalFiresMin && c.minuteInterval() != "":
		first, last := clock(c.hours.first(), c.minutes.first()), clock(c.hours.last(), c.minutes.last())
		return c.minuteInterval() + " from " + first + " to " + last, false
	case fires <= timeListMax:
		return "at " + joinAnd(c.times()), true
	case c.minutes.size() == 1 && progression(c.hours) > 0:
		return "at " + series(c.hours, func(h int) string { return clock(h, c.minutes.first()) }), true
	}
	return c.minuteWords() + " of " + plural("hour", c.hours) + " " + series(c.hours, strconv.Itoa), false
}

func (c *Cron) everyHourWords() string {
	switch {
	case c.minutes == 1:
		return "every hour on the hour"
	case c.startsOnTheHour():
		return c.minuteInterval()
	}
	return c.minuteWords() + " of every hour"
}

// minuteInterval describes the distance between the minutes if it is constant across hours, else it is empty. A step
// that does not divide the hour, such as */7, has a shorter distance at each full hour.
func (c *Cron) minuteInterval() string {
	switch n := c.minutes.size(); {
	case n == 60:
		return "every minute"
	case n == 1:
		return "every hour"
	case 60%n == 0 && c.minutes == span(c.minutes.first(), 59, 60/n):
		return "every " + countOf(60/n, "minute")
	}
	return ""
}

// startsOnTheHour reports whether minuteInterval alone describes the minutes, because they begin at minute 0.
func (c *Cron) startsOnTheHour() bool {
	return c.minutes.size() > 1 && c.minutes.has(0) && c.minuteInterval() != ""
}

func (c *Cron) minuteWords() string {
	if c.startsOnTheHour() {
		return c.minuteInterval()
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
