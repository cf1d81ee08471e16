package cron

import "time"

// This file puts weekdays and months into words. Both go round: a run over the end of the week or the year is a run.

// runsRound returns the runs of a set on a circle of size values from low on, each as its first value and its length.
// The first run is the first that begins at or after low.
func runsRound(s set, low, size int) (runs [][2]int) {
	at := func(i int) int { return low + (i-low+size)%size }
	for n := low; n < low+size; n++ {
		if !s.has(n) || s.has(at(n-1)) {
			continue
		}
		length := 1
		for s.has(at(n + length)) {
			length++
		}
		runs = append(runs, [2]int{n, length})
	}
	return runs
}

// weekdayWords lists weekdays, each with an ending for the plural, joined by "and" or "or". The week begins on Monday.
func weekdayWords(s set, ending, conjunction string) string {
	if s == workdays {
		return "weekday" + ending
	}
	if s.has(0) {
		s = s&^1 | 1<<sundayAgain
	}
	name := func(n int) string { return time.Weekday(n%7).String() + ending }
	var words []string
	for _, run := range runsRound(s, 1, 7) {
		words = append(words, runWords(run[0], run[0]+run[1]-1, name)...)
	}
	return joinedBy(words, conjunction)
}

// inMonths says months as a part of the year: "in May", "from June to August", or nothing for all of it.
func inMonths(s set) string {
	switch {
	case s == allMonths:
		return ""
	case isLongRun(s):
		return " " + fromTo(s)
	}
	return " in " + monthList(s)
}

// ofMonths says months as the owners of days: "every month", "every month from June to August", "May".
func ofMonths(s set) string {
	switch {
	case s == allMonths:
		return "every month"
	case isLongRun(s):
		return "every month " + fromTo(s)
	}
	return monthList(s)
}

// isLongRun reports whether the months are one stretch of the year that is worth its two ends.
func isLongRun(months set) bool {
	runs := runsRound(months, 1, 12)
	return len(runs) == 1 && runs[0][1] >= runMin
}

func fromTo(months set) string {
	run := runsRound(months, 1, 12)[0]
	return "from " + monthName(run[0]) + " to " + monthName(run[0]+run[1]-1)
}

// monthList names every month: runs inside a list would have "to" and "and" fight.
func monthList(s set) string {
	var words []string
	for _, run := range runsRound(s, 1, 12) {
		for n := run[0]; n < run[0]+run[1]; n++ {
			words = append(words, monthName(n))
		}
	}
	return joined(words)
}

func monthName(n int) string { return time.Month((n-1)%12 + 1).String() }
