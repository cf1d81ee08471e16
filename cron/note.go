package cron

import (
	"math"
	"strconv"
	"time"
)

// Fire is one fire of a timetable, with what clock changes do to it in plain English; mostly nothing.
type Fire struct {
	At   time.Time
	Note string
}

// Upcoming returns the next n fires after an instant, each with its note: that its local time occurs twice, or which
// planned times before it were skipped, because the clock never shows them or because it showed them before.
func Upcoming(t Timetable, after time.Time, n int) []Fire {
	var fires []Fire
	for at, ok := t.Next(after); ok && len(fires) < n; at, ok = t.Next(at) {
		fires = append(fires, Fire{At: at, Note: noteOn(t, after, at, len(fires) == 0)})
		after = at
	}
	return fires
}

// noteOn explains a fire whose predecessor or, if it is the first, the start of the search was at after. Only Cron reads
// a local clock.
func noteOn(t Timetable, after, at time.Time, first bool) string {
	switch t := t.(type) {
	case Cron:
		return t.note(after.Unix(), at.Unix(), first)
	case Bounded:
		if after.Before(t.starts) {
			after, first = t.starts.Add(-1), true
		}
		return noteOn(t.of, after, at, first)
	}
	return ""
}

func (c *Cron) note(after, at int64, first bool) string {
	p := periodAt(c.loc, at)
	note := sentences(c.skips(after, at), c.silence(after, at, first))
	if again := c.repeat(p, at); again != "" {
		note = sentences(note, again)
	}
	return note
}

func sentences(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// repeat notes a fire whose local time is shown twice.
func (c *Cron) repeat(p period, at int64) string {
	again := p.shownAgain(c.loc, at)
	_, _, before := p.shownBefore(c.loc, at)
	if !again && !before {
		return ""
	}
	t := time.Unix(at, 0).In(c.loc)
	text := t.Format("15:04 occurs twice on 2006-01-02, clocks go back; ")
	switch {
	case !c.followsClock():
		return text + "fires once, the first time"
	case before:
		return text + "this is the second time"
	}
	return text + "this is the first time"
}

// skips notes the planned times between two fires that fell into a gap of the clock.
func (c *Cron) skips(after, at int64) string {
	note := ""
	for p := periodAt(c.loc, after); p.end <= at; {
		next := periodAt(c.loc, p.end)
		if next.offset > p.offset {
			note = sentences(note, c.gap(p.end+p.offset, p.end+next.offset))
		}
		p = next
	}
	return note
}

// gap notes what was planned in a stretch of local time that the clock jumps over.
func (c *Cron) gap(from, to int64) string {
	planned := c.planned(ceilDiv(from, 60), ceilDiv(to, 60))
	switch {
	case len(planned) == 0:
		return ""
	case c.followsClock():
		return "clocks go forward from " + localText(from, fullLayout) + " to " + localText(to, fullLayout) +
			", follows the real clock"
	case len(planned) == 1:
		return "skipped " + skipped(planned) + ": it does not exist, clocks go forward"
	}
	return "skipped " + skipped(planned) + ": they do not exist, clocks go forward"
}

// silence notes the planned times between two fires that the clock shows for a second time. A reader who has seen the
// fire of the first time knows from its note; what needs words is a list that begins between the two, and a fire that
// comes late after them, as with */15 0-22.
func (c *Cron) silence(after, at int64, first bool) string {
	if c.followsClock() {
		return ""
	}
	note := ""
	for p := periodAt(c.loc, after-shiftMax); p.end <= at; {
		next := periodAt(c.loc, p.end)
		until := min(p.end+p.offset-next.offset, next.end) // when the clock shows again what it has not shown before
		if next.offset < p.offset && (first || at < until+60*60) {
			note = sentences(note, again(c.planned(ceilDiv(max(p.end, after+1)+next.offset, 60), ceilDiv(min(until, at)+next.offset, 60))))
		}
		p = next
	}
	return note
}

func again(minutes []int64) string {
	switch len(minutes) {
	case 0:
		return ""
	case 1:
		return "skipped " + skipped(minutes) + " the second time: clocks go back, it fires once"
	}
	return "skipped " + skipped(minutes) + " the second time: clocks go back, they fire once"
}

// planned returns the matching local minutes in [from, to).
func (c *Cron) planned(from, to int64) []int64 {
	var minutes []int64
	for m, ok := c.ceil(from); ok && m < to; m, ok = c.ceil(m + 1) {
		minutes = append(minutes, m)
	}
	return minutes
}

const fullLayout = "2006-01-02 15:04"

// skippedListMax is how many skipped times are named one by one.
const skippedListMax = 4

func skipped(minutes []int64) string {
	first, last := localText(minutes[0]*60, fullLayout), localText(minutes[len(minutes)-1]*60, fullLayout)
	if len(minutes) > skippedListMax {
		return strconv.Itoa(len(minutes)) + " times from " + first + " to " + last
	}
	var words []string
	day := int64(math.MinInt64)
	for _, m := range minutes {
		layout := "15:04"
		if today := floorDiv(m, minutesPerDay); today != day { // the date again where a gap crosses midnight
			layout, day = fullLayout, today
		}
		words = append(words, localText(m*60, layout))
	}
	return joined(words)
}

// localText formats seconds of local time, which are no instant: a skipped time has none.
func localText(local int64, layout string) string { return time.Unix(local, 0).UTC().Format(layout) }
