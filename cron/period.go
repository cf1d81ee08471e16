package cron

import (
	"math"
	"time"
)

// A period is an interval of instants, in Unix seconds, in which the offset of a zone is constant. It includes start and
// excludes end. It need not be the longest such interval, and two periods of the same offset may overlap.
type period struct {
	start, end int64
	offset     int64
}

const (
	// shiftMax is larger than the difference of any two offsets of one zone, skipped and repeated days included. Two
	// instants further apart than this have the same order in local time.
	shiftMax = 48 * 60 * 60

	// forever is the bound of a period without start or end. Additions to it do not overflow.
	forever = math.MaxInt64 / 4
)

// periodAt returns the period that contains an instant.
func periodAt(loc *time.Location, at int64) period {
	if loc == time.UTC {
		return period{start: -forever, end: forever}
	}
	t := time.Unix(at, 0).In(loc)
	_, offset := t.Zone()
	start, end := t.ZoneBounds()
	p := period{start: -forever, end: forever, offset: int64(offset)}
	if !start.IsZero() {
		p.start = correctStart(loc, start.Unix(), at, offset)
	}
	if !end.IsZero() {
		p.end = correctEnd(end.Unix(), at)
	}
	return p
}

// correctEnd corrects an error of Time.ZoneBounds on the 31st of December of a leap year: after the last transition of
// its table it assumes 365 days for every year, and returns an end before the instant.
func correctEnd(end, at int64) int64 {
	if end <= at {
		return end + secondsPerDay
	}
	return end
}

// correctStart corrects an error of Time.ZoneBounds in the year of the last transition of its table. There it applies the
// rule of later years and may return a start before that transition (Ciudad Juárez in December 2022, with Go's own zone
// data).
func correctStart(loc *time.Location, start, at int64, offset int) int64 {
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

// shownBefore reports whether the local time at an instant of p occurred before. If so, it also returns the part of p, as
// instants from and until, whose local times occurred in the same earlier period.
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

// shownAgain reports whether the local time at an instant of p occurs again later.
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
