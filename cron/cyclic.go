package cron

import "time"

// This file describes weekdays and months in words. Both are cyclic: a run may continue over the end of the week or year.

// cyclicRuns returns the runs of consecutive values of a set, each as its first value and its length. The values are
// cyclic: low follows low+size-1. The first run returned is the first that begins at or after low.
func cyclicRuns(s set, low, size int) (runs [][2]int) {
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

// weekdayWords lists weekdays, each with the given ending ("s" for the plural), joined by the conjunction. The week
// begins on Monday.
func weekdayWords(s set, ending, conjunction string) string {
	if s == workdays {
		return "weekday" + ending
	}
	if s.has(0) {
		s = s&^1 | 1<<sundaySeven
	}
	name := func(n int) string { return time.Weekday(n%7).String() + ending }
	var words []string
	for _, run := range cyclicRuns(s, 1, 7) {
		words = append(words, runWords(run[0], run[0]+run[1]-1, name)...)
	}
	return joinWith(words, conjunction)
}

// inMonths describes months as a part of the year: "in May", "from June to August", or nothing for all of them.
func inMonths(s set) string {
	switch {
	case s == allMonths:
		return ""
	case isLongRun(s):
		return " " + fromTo(s)
	}
	return " in " + monthList(s)
}

// ofMonths describes months after "day 1 of": "every month", "every month from June to August", "May".
func ofMonths(s set) string {
	switch {
	case s == allMonths:
		return "every month"
	case isLongRun(s):
		return "every month " + fromTo(s)
	}
	return monthList(s)
}

// isLongRun reports whether the months are one run that is long enough to be written as "from a to b".
func isLongRun(months set) bool {
	runs := cyclicRuns(months, 1, 12)
	return len(runs) == 1 && runs[0][1] >= runMin
}

func fromTo(months set) string {
	run := cyclicRuns(months, 1, 12)[0]
	return "from " + monthName(run[0]) + " to " + monthName(run[0]+run[1]-1)
}

// monthList names every month. It writes no runs, because "to" inside a list with "and" is hard to read.
func monthList(s set) string {
	var words []string
	for _, run := range cyclicRuns(s, 1, 12) {
		for n := run[0]; n < run[0]+run[1]; n++ {
			words = append(words, monthName(n))
		}
	}
	return joinAnd(words)
}

func monthName(n int) string { return time.Month((n-1)%12 + 1).String() }
