package cron

import (
	"math"
	"time"
)

// A period is a stretch of instants, in seconds since 1970 UTC, over which a zone's clock runs without a change. It
// holds start and not end. It need not be the longest such stretch, and two of the same offset may overlap.
type period struct {
	start, end int64
	offset     int64
}

const (
	// shiftMax is more than any two offsets of one zone ever differ, days left out or lived twice included. Two instants
	// further apart than this are in the same order on every clock.
	shiftMax = 48 * 60 * 60

	// forever stands for a period without start or end, far enough from overflow to be added to.
	forever = math.MaxInt64 / 4
)

// periodAt returns the period around an instant.
func periodAt(loc *time.Location, at int64) period {
	if loc == time.UTC {
		return period{start: -forever, end: forever}
	}
	t := time.Unix(at, 0).In(loc)
	_, offset := t.Zone()
	start, end := t.ZoneBounds()
	p := period{start: -forever, end: forever, offset: int64(offset)}
	if !start.IsZero() {
		p.start = trueStart(loc, start.Unix(), at, offset)
	}
	if !end.IsZero() {
		p.end = trueEnd(end.Unix(), at)
	}
	return p
}

// trueEnd mends ZoneBounds on the 31st of December of a leap year: past the last transition of its table it takes
// every year for 365 days, and answers with an end that lies behind.
func trueEnd(end, at int64) int64 {
	if end <= at {
		return end + secondsPerDay
	}
	return end
}

// trueStart mends ZoneBounds in the year of the last transition of its table, where it goes by the rule of the years to
// come and may answer with a start before that transition (Ciudad Juárez in December 2022, by Go's own zone data).
func trueStart(loc *time.Location, start, at int64, offset int) int64 {
	if offsetAt(loc, start) == offset {
		return start
	}
	wrong, right := start, at
	for right-wrong > 1 {
		if middle := wrong + (right-wrong)/2; offsetAt(loc, middle) == offset {
			right = middle
		} else {
			wrong = middle
		}
	}
	return right
}

func offsetAt(loc *time.Location, at int64) int {
	_, offset := time.Unix(at, 0).In(loc).Zone()
	return offset
}

// shownBefore reports whether the local time that the clock shows at an instant of p was shown before, and if so the
// stretch of p, as instants from and until, for which this holds for the same reason.
func (p period) shownBefore(loc *time.Location, at int64) (from, until int64, shown bool) {
	local := at + p.offset
	for end := p.start; end > at-shiftMax; {
		before := periodAt(loc, end-1)
		if low, high := before.start+before.offset, end+before.offset; low <= local && local < high {
			return max(low-p.offset, p.start), min(high-p.offset, p.end), true
		}
		end = before.start
	}
	return 0, 0, false
}

// shownAgain reports whether the local time at an instant of p will be shown once more.
func (p period) shownAgain(loc *time.Location, at int64) bool {
	local := at + p.offset
	for start := p.end; start < at+shiftMax; {
		after := periodAt(loc, start)
		if start+after.offset <= local && local < after.end+after.offset {
			return true
		}
		start = after.end
	}
	return false
}
