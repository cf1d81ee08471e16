package cron

import (
	"math"
	"strconv"
	"time"
)

// Fire is one fire of a timetable. Note states in English how a clock change affects it, and is mostly empty.
type Fire struct {
	At   time.Time
	Note string
}

// Upcoming returns the next n fires after an instant, each with its note. A note states that the local time of the fire
// occurs twice, or which matching local times before it were skipped: those that do not exist, and those that occurred
// before.
func Upcoming(t Timetable, after time.Time, n int) []Fire {
	var fires []Fire
	for at, ok := t.Next(after); ok && len(fires) < n; at, ok = t.Next(at) {
		fires = append(fires, Fire{At: at, Note: noteOn(t, after, at, len(fires) == 0)})
		after = at
	}
	return fires
}

// noteOn returns the note of the fire at the given instant. The previous fire, or the start of the search if this fire is
// the first, was at after. Only Cron depends on local time.
func noteOn(t Timetable, after, at time.Time, first bool) string {
	switch t := t.(type) {
	case Cron:
		return t.note(after.Unix(), at.Unix(), first)
	case Bounded:
		if after.Before(t.starts) {
			after, first = t.starts.Add(-1), true
		}
		return noteOn(t.inner, after, at, first)
	}
	return ""
}

func (c *Cron) note(after, at int64, first bool) string {
	p := periodAt(c.loc, at)
	note := joinNotes(c.gapNotes(after, at), c.secondOccurrenceNote(after, at, first))
	if again := c.repeatedTimeNote(p, at); again != "" {
		note = joinNotes(note, again)
	}
	return note
}

func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// repeatedTimeNote returns a note if the local time of the fire occurs twice.
func (c *Cron) repeatedTimeNote(p period, at int64) string {
	again := p.shownAgain(c.loc, at)
	_, _, before := p.shownBefore(c.loc, at)
	if !again && !before {
		return ""
	}
	t := time.Unix(at, 0).In(c.loc)
	text := t.Format("15:04 occurs twice on 2006-01-02, clocks go back; ")
	switch {
	case !c.FollowsWallClock():
		return text + "fires once, the first time"
	case before:
		return text + "this is the second time"
	}
	return text + "this is the first time"
}

// gapNotes returns notes about matching local times between two fires that do not exist because clocks went forward.
func (c *Cron) gapNotes(after, at int64) string {
	note := ""
	for p := periodAt(c.loc, after); p.end <= at; {
		next := periodAt(c.loc, p.end)
		if next.offset > p.offset {
			note = joinNotes(note, c.gapNote(p.end+p.offset, p.end+next.offset))
		}
		p = next
	}
	return note
}

// gapNote returns a note about matching times in one gap of local time, from and to in seconds of local time.
func (c *Cron) gapNote(from, to int64) string {
	planned := c.planned(ceilDiv(from, 60), ceilDiv(to, 60))
	switch {
	case len(planned) == 0:
		return ""
	case c.FollowsWallClock():
		return "clocks go forward from " + localText(from, fullLayout) + " to " + localText(to, fullLayout) +
			", follows the real clock"
	case len(planned) == 1:
		return "skipped " + listSkipped(planned) + ": it does not exist, clocks go forward"
	}
	return "skipped " + listSkipped(planned) + ": they do not exist, clocks go forward"
}

// secondOccurrenceNote returns notes about matching local times between two fires that occur for the second time and so
// do not fire. The fire of the first occurrence has a note of its own. So this note is needed only if the list begins
// between the two occurrences, or if a fire follows the second occurrences within an hour, as with */15 0-22.
func (c *Cron) secondOccurrenceNote(after, at int64, first bool) string {
	if c.FollowsWallClock() {
		return ""
	}
	note := ""
	for p := periodAt(c.loc, after-shiftMax); p.end <= at; {
		next := periodAt(c.loc, p.end)
		until := min(p.end+p.offset-next.offset, next.end) // first instant whose local time has not occurred before
		if next.offset < p.offset && (first || at < until+60*60) {
			note = joinNotes(note, secondOccurrences(c.planned(ceilDiv(max(p.end, after+1)+next.offset, 60), ceilDiv(min(until, at)+next.offset, 60))))
		}
		p = next
	}
	return note
}

func secondOccurrences(minutes []int64) string {
	switch len(minutes) {
	case 0:
		return ""
	case 1:
		return "skipped " + listSkipped(minutes) + " the second time: clocks go back, it fires once"
	}
	return "skipped " + listSkipped(minutes) + " the second time: clocks go back, they fire once"
}

// planned returns the local minutes in [from, to) that match the fields.
func (c *Cron) planned(from, to int64) []int64 {
	var minutes []int64
	for m, ok := c.ceil(from); ok && m < to; m, ok = c.ceil(m + 1) {
		minutes = append(minutes, m)
	}
	return minutes
}

const fullLayout = "2006-01-02 15:04"

// skippedListMax is the largest number of skipped times that are listed one by one.
const skippedListMax = 4

func listSkipped(minutes []int64) string {
	first, last := localText(minutes[0]*60, fullLayout), localText(minutes[len(minutes)-1]*60, fullLayout)
	if len(minutes) > skippedListMax {
		return strconv.Itoa(len(minutes)) + " times from " + first + " to " + last
	}
	var words []string
	day := int64(math.MinInt64)
	for _, m := range minutes {
		layout := "15:04"
		if today := floorDiv(m, minutesPerDay); today != day { // repeat the date if the gap crosses midnight
			layout, day = fullLayout, today
		}
		words = append(words, localText(m*60, layout))
	}
	return joinAnd(words)
}

// localText formats seconds of local time. They are not an instant, because a skipped local time has none.
func localText(local int64, layout string) string { return time.Unix(local, 0).UTC().Format(layout) }
