package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// This file puts numbers, sets and instants into words, in such a way that different ones never read alike.

// counted writes "1 field", "2 fields".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// joined writes a list as a sentence has it: "a", "a and b", "a, b and c".
func joined(words []string) string { return joinedBy(words, "and") }

func joinedBy(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// runMin is how many neighbours it takes to be written as "a to b".
const runMin = 3

// listed writes the members of a set, runs of neighbours as "a to b".
func listed(s set, name func(int) string) string {
	var words []string
	for n := s.from(0); n != none; {
		end := n
		for s.has(end + 1) {
			end++
		}
		words = append(words, runWords(n, end, name)...)
		n = s.from(end + 1)
	}
	return joined(words)
}

// runWords writes a run of neighbours, if it is long enough, by its two ends.
func runWords(first, last int, name func(int) string) (words []string) {
	if last-first+1 >= runMin {
		return []string{name(first) + " to " + name(last)}
	}
	for n := first; n <= last; n++ {
		words = append(words, name(n))
	}
	return words
}

// progressionMin is how many evenly spaced members it takes to be written as "a, b, c, … z".
const progressionMin = 6

// progression returns the distance between neighbours if it is the same throughout a long enough set, else 0.
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

// series is listed, except that a long progression is cut short.
func series(s set, name func(int) string) string {
	step := progression(s)
	if step == 0 {
		return listed(s, name)
	}
	n := s.first()
	return name(n) + ", " + name(n+step) + ", " + name(n+2*step) + ", … " + name(s.last())
}

func clock(hour, minute int) string { return fmt.Sprintf("%02d:%02d", hour, minute) }

// moment writes an instant on the clock of its zone, with the offset where the clock alone would be ambiguous.
func moment(t time.Time) string {
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
	if t.Location().String() == "" { // an offset without a place, as RFC 3339 has it
		return t.Format(layout)
	}
	return t.Format(layout) + ", " + zonePhrase(t.Location())
}

// durationWords writes an interval in the largest units that divide it: "90 minutes" as "1 hour 30 minutes".
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
			words = append(words, counted(int(n), unit.noun))
			d -= n * unit.size
		}
	}
	if len(words) == 1 {
		return strings.TrimPrefix(words[0], "1 ")
	}
	return strings.Join(words, " ")
}
