package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// This file writes numbers, sets and instants as words. Different values always have different words.

// countOf writes "1 field", "2 fields".
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// joinAnd writes a list: "a", "a and b", "a, b and c".
func joinAnd(words []string) string { return joinWith(words, "and") }

func joinWith(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// runMin is the smallest number of consecutive values that is written as "a to b".
const runMin = 3

// listRuns writes the members of a set, with runs of consecutive values as "a to b".
func listRuns(s set, name func(int) string) string {
	var words []string
	for n := s.from(0); n != none; {
		end := n
		for s.has(end + 1) {
			end++
		}
		words = append(words, runWords(n, end, name)...)
		n = s.from(end + 1)
	}
	return joinAnd(words)
}

// runWords writes a run of consecutive values as "a to b" if it has at least runMin of them, else one by one.
func runWords(first, last int, name func(int) string) (words []string) {
	if last-first+1 >= runMin {
		return []string{name(first) + " to " + name(last)}
	}
	for n := first; n <= last; n++ {
		words = append(words, name(n))
	}
	return words
}

// progressionMin is the smallest number of evenly spaced members that is written as "a, b, c, … z".
const progressionMin = 6

// progression returns the distance between consecutive members if it is constant and the set has at least progressionMin
// members, else 0.
func progression(s set) int {
	if s.size() < progressionMin {
		return 0
	}
	step := s.from(s.first()+1) - s.first()
	if step < 2 || s != span(s.first(), s.last(), step) {
		return 0
	}
	return step
}

// series is listRuns, except that it abbreviates a long progression.
func series(s set, name func(int) string) string {
	step := progression(s)
	if step == 0 {
		return listRuns(s, name)
	}
	n := s.first()
	return name(n) + ", " + name(n+step) + ", " + name(n+2*step) + ", … " + name(s.last())
}

func clock(hour, minute int) string { return fmt.Sprintf("%02d:%02d", hour, minute) }

// formatInstant writes an instant in the local time of its zone, with the offset unless the zone is UTC.
func formatInstant(t time.Time) string {
	layout := "2006-01-02 15:04"
	if t.Second() != 0 || t.Nanosecond() != 0 {
		layout = "2006-01-02 15:04:05.999999999"
	}
	if t.Location() == time.UTC {
		return t.Format(layout) + " UTC"
	}
	layout += " -07:00"
	if _, offset := t.Zone(); offset%60 != 0 {
		layout += ":00"
	}
	if t.Location().String() == "" { // an offset without a zone name, as parsed from RFC 3339
		return t.Format(layout)
	}
	return t.Format(layout) + ", " + zonePhrase(t.Location())
}

// durationWords writes an interval with the largest possible units: 90 minutes as "1 hour 30 minutes".
func durationWords(d time.Duration) string {
	units := []struct {
		size time.Duration
		noun string
	}{
		{24 * time.Hour, "day"},
		{time.Hour, "hour"},
		{time.Minute, "minute"},
		{time.Second, "second"},
		{time.Millisecond, "millisecond"},
	}
	var words []string
	for _, unit := range units {
		if n := d / unit.size; n > 0 {
			words = append(words, countOf(int(n), unit.noun))
			d -= n * unit.size
		}
	}
	if len(words) == 1 {
		return strings.TrimPrefix(words[0], "1 ")
	}
	return strings.Join(words, " ")
}
