package cron

import "time"

// horizonSeconds limits how far a search goes before it reports that there is no fire. The longest known wait is for a
// date whose local time a zone skipped year after year (Baghdad changed its clocks on the 1st of April for 17 years).
const horizonSeconds = 100 * 366 * secondsPerDay

// The start of the first year and the end of the last year that a search covers, in Unix seconds.
var (
	calendarStart = dayNumber(yearMin, 1, 1) * secondsPerDay
	calendarEnd   = dayNumber(yearMax+1, 1, 1) * secondsPerDay
)

// Next returns the first fire strictly after the given instant, in the expression's zone. It is false when there is
// none within a hundred years or before the year 10000.
//
// It goes through the periods of the zone. Within one, instants and local times differ by a constant, so the first match
// of the fields is the next fire, unless its local time occurred before.
func (c Cron) Next(after time.Time) (time.Time, bool) {
	if c.loc == nil || after.Unix() >= calendarEnd {
		return time.Time{}, false
	}
	low := max(after.Unix()+1, calendarStart)
	for limit := low + horizonSeconds; low < limit; {
		p := periodAt(c.loc, low)
		minute, ok := c.ceil(ceilDiv(low+p.offset, 60))
		if !ok {
			break
		}
		at := minute*60 - p.offset
		if at >= p.end {
			low = p.skipAhead(low, at)
			continue
		}
		if !c.FollowsWallClock() {
			if _, until, shown := p.shownBefore(c.loc, at); shown {
				low = until
				continue
			}
		}
		return time.Unix(at, 0).In(c.loc), true
	}
	return time.Time{}, false
}

// skipAhead returns where the search continues after a period that ends before its first match at. No fire of a later
// period is more than shiftMax before at, except right after a clock change. So an expression that fires on leap days
// checks a few periods and not all those between.
func (p period) skipAhead(low, at int64) int64 {
	if p.end-low < shiftMax {
		return p.end
	}
	return max(p.end, at-shiftMax)
}

// Prev returns the last fire strictly before the given instant, in the expression's zone. It mirrors Next.
func (c Cron) Prev(before time.Time) (time.Time, bool) {
	if c.loc == nil || before.Unix() <= calendarStart {
		return time.Time{}, false
	}
	high := min(lastSecondBefore(before), calendarEnd-1)
	for limit := high - horizonSeconds; high > limit; {
		p := periodAt(c.loc, high)
		minute, ok := c.floor(floorDiv(high+p.offset, 60))
		if !ok {
			break
		}
		at := minute*60 - p.offset
		if at < p.start {
			high = p.skipBack(high, at)
			continue
		}
		if !c.FollowsWallClock() {
			if from, _, shown := p.shownBefore(c.loc, at); shown {
				high = from - 1
				continue
			}
		}
		return time.Unix(at, 0).In(c.loc), true
	}
	return time.Time{}, false
}

func (p period) skipBack(high, at int64) int64 {
	if high-p.start < shiftMax {
		return p.start - 1
	}
	return min(p.start-1, at+shiftMax)
}

// lastSecondBefore returns the last whole second before an instant.
func lastSecondBefore(t time.Time) int64 {
	if t.Nanosecond() == 0 {
		return t.Unix() - 1
	}
	return t.Unix()
}
