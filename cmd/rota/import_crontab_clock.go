package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/rotajobs/rota/cron"
	"github.com/rotajobs/rota/crontab"
)

// Rules of cron for clock changes of at most three hours, in Debian's cron(8), cronie and OpenBSD:
//
//   - A line whose minute or hour field begins with * (also */2), and @hourly, follows the wall clock: a time that does not
//     exist does not run, and one that occurs twice runs twice.
//   - Any other line runs at a fixed time: a time that does not exist runs right after the change, and one that occurs
//     twice runs once.
//   - cronie follows the wall clock of CRON_TZ for every line that has one. Debian's cron has no CRON_TZ.
//
// Rota follows the wall clock if the hour field has all 24 hours, in any spelling. Otherwise a time that does not exist is
// skipped, and one that occurs twice runs once.

// correctionMin is the change from which cron treats it as a correction of the clock and uses the new time at once.
const correctionMin = 3 * time.Hour

// clockChangeNotes describes the first clock change in either direction within a year at which Rota and cron run a line
// differently.
func clockChangeNotes(e *crontab.Entry, name string, expression cron.Cron, now time.Time) (notes []string) {
	wall, err := cron.Parse(e.Times, cron.Config{Zone: "UTC", Name: name}) // finds local times as if they were UTC
	if err != nil {
		return nil
	}
	var forward, back string
	for _, c := range clockChanges(expression.Location(), now, now.AddDate(1, 0, 0)) {
		if c.shift > 0 && forward == "" {
			forward = forwardNote(timesIn(wall, c.local, c.shift), !cronFollowsWallClock(e, c.shift))
		}
		if c.shift < 0 && back == "" {
			back = backNote(timesIn(wall, c.local.Add(c.shift), -c.shift), expression.FollowsWallClock(), cronFollowsWallClock(e, -c.shift))
		}
	}
	for _, note := range []string{forward, back} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// clockChange is a change of the offset of a zone.
type clockChange struct {
	local time.Time     // local time at which the clock changes, before the change, written in UTC
	shift time.Duration // positive if clocks go forward
}

func clockChanges(loc *time.Location, from, to time.Time) (changes []clockChange) {
	for at := from.In(loc); ; {
		_, end := at.ZoneBounds()
		if end.IsZero() || end.After(to) {
			return changes
		}
		_, before := end.Add(-time.Second).Zone()
		_, after := end.Zone()
		if after != before {
			local := end.UTC().Add(time.Duration(before) * time.Second)
			changes = append(changes, clockChange{local, time.Duration(after-before) * time.Second})
		}
		at = end
	}
}

// timesIn returns the fire times of an expression in UTC from a time on.
func timesIn(wall cron.Cron, from time.Time, length time.Duration) (times []time.Time) {
	for at, ok := wall.Next(from.Add(-time.Second)); ok && at.Before(from.Add(length)); at, ok = wall.Next(at) {
		times = append(times, at)
	}
	return times
}

// cronFollowsWallClock reports whether cron runs a line by the wall clock at a change of this size.
func cronFollowsWallClock(e *crontab.Entry, shift time.Duration) bool {
	fields := strings.Fields(e.Times)
	switch {
	case e.Zone.Value != "" || e.Times == "@hourly" || shift > correctionMin:
		return true
	case len(fields) < 2: // @daily and the like
		return false
	}
	return fields[0][0] == '*' || fields[1][0] == '*'
}

func forwardNote(times []time.Time, cronRuns bool) string {
	if len(times) == 0 || !cronRuns {
		return ""
	}
	if len(times) == 1 {
		return listTimes(times) + " does not exist, clocks go forward: Rota skips it; cron would run it right after the change"
	}
	return listTimes(times) + " do not exist, clocks go forward: Rota skips them; cron would run each of them right after the change"
}

func backNote(times []time.Time, rotaTwice, cronTwice bool) string {
	if len(times) == 0 || rotaTwice == cronTwice {
		return ""
	}
	occur, it := "occurs", "it"
	if len(times) > 1 {
		occur, it = "occur", "them"
	}
	text := fmt.Sprintf("%s %s twice, clocks go back: ", listTimes(times), occur)
	if rotaTwice {
		return text + fmt.Sprintf("Rota runs %s both times; cron would run %s once, the first time", it, it)
	}
	return text + fmt.Sprintf("Rota runs %s once, the first time; cron would run %s both times", it, it)
}

// listTimes formats local times of one clock change.
func listTimes(times []time.Time) string {
	const full = "2006-01-02 15:04"
	first, last := times[0], times[len(times)-1]
	switch {
	case len(times) == 1:
		return first.Format(full)
	case first.YearDay() == last.YearDay():
		return fmt.Sprintf("%d times from %s to %s", len(times), first.Format(full), last.Format("15:04"))
	}
	return fmt.Sprintf("%d times from %s to %s", len(times), first.Format(full), last.Format(full))
}
