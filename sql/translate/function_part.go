package translate

import (
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// partList are the fields of a time. otherParts are those of PostgreSQL that Rota does not have.
var (
	partList   = strings.Fields(`day dow doy epoch hour isodow isoyear microseconds milliseconds minute month quarter second week year`)
	otherParts = strings.Fields(`century decade julian millennium timezone timezone_hour timezone_minute`)
)

// partNames are the names of all fields; the value says whether Rota has the field.
var partNames = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range partList {
		all[name] = true
	}
	for _, name := range otherParts {
		all[name] = false
	}
	return all
}()

// partOf is the name of a field. A unit can be in the plural.
func partOf(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if _, known := partNames[name]; known {
		return name
	}
	return strings.TrimSuffix(name, "s")
}

// noPart is the error of a field that a kind does not have.
func noPart(part string, k kind.Kind) *Error {
	if _, known := partNames[part]; !known {
		return valueError(StateValue, "unit %q not recognized for type %s", part, typeTitle(k)).WithHint("%s", suggestion(part, "use one of", partList))
	}
	return valueError(StateUnsupported, "unit %q not supported for type %s", part, typeTitle(k)).WithHint("use one of %s", strings.Join(partList, ", "))
}

// clockUnits are the units of a clock in microseconds.
var clockUnits = map[string]int64{"microseconds": 1, "milliseconds": 1000, "second": second, "minute": minute, "hour": hour}

// dayParts extract the fields of a day.
var dayParts = map[string]func(time.Time) int{
	"day": time.Time.Day, "year": time.Time.Year, "doy": time.Time.YearDay,
	"month":   func(t time.Time) int { return int(t.Month()) },
	"quarter": func(t time.Time) int { return (int(t.Month()) + 2) / 3 },
	"week":    isoWeek,
	"isoyear": func(t time.Time) int { year, _ := t.ISOWeek(); return year },
	"dow":     func(t time.Time) int { return int(t.Weekday()) },
	"isodow":  isoWeekday,
}

func isoWeek(t time.Time) int { _, week := t.ISOWeek(); return week }

func isoWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// clockOf is the time of day in microseconds.
func clockOf(t time.Time) int64 {
	h, m, s := t.Clock()
	return int64(h)*hour + int64(m)*minute + int64(s)*second + int64(t.Nanosecond()/1000)
}

// extractPart extracts a field of a time or an interval.
func extractPart(a arguments) any {
	part := partOf(a.text(0))
	if isInfinite(a.text(1)) {
		return nil
	}
	if isInterval(a.text(1)) {
		return intervalPart(part, a.interval(1))
	}
	t, k := loadTime(a.text(1))
	t = t.In(a.zone(2))
	if v, is := clockPart(part, clockOf(t)); is {
		return v
	}
	switch of := dayParts[part]; {
	case k == kind.Time && part == "epoch":
		return float64(clockOf(t)) / 1e6
	case part == "epoch":
		return exactly(t.UnixMicro(), second)
	case k == kind.Time || of == nil:
		panic(noPart(part, k))
	default:
		return int64(of(t))
	}
}

// clockPart extracts a field of a clock. Seconds have a fraction, and smaller units contain the seconds.
func clockPart(part string, micros int64) (any, bool) {
	switch unit := clockUnits[part]; {
	case unit == 0:
		return nil, false
	case unit == hour:
		return micros / hour, true
	case unit == minute:
		return micros / minute % 60, true
	default:
		return exactly(micros%minute, unit), true
	}
}

// exactly is a quotient, as an integer if it is one.
func exactly(n, by int64) any {
	if n%by == 0 {
		return n / by
	}
	return float64(n) / float64(by)
}

func intervalPart(part string, i interval) any {
	if v, is := clockPart(part, i.micros); is {
		return v
	}
	switch part {
	case "day":
		return i.days
	case "month":
		return i.months % 12
	case "quarter":
		return i.months%12/3 + 1
	case "year":
		return i.months / 12
	case "epoch":
		const yearSeconds = 365.25 * 86400
		seconds := float64(i.months/12)*yearSeconds + float64(i.months%12)*30*86400 + float64(i.days)*86400
		return seconds + float64(i.micros)/1e6
	}
	panic(noPart(part, kind.Interval))
}

// truncate is date_trunc. Days begin at midnight of the zone.
func truncate(a arguments, zone *time.Location) any {
	part, stored := partOf(a.text(0)), a.text(1)
	if isInfinite(stored) {
		return stored
	}
	if isInterval(stored) {
		return truncateInterval(part, a.interval(1))
	}
	t, k := loadTime(stored)
	if k == kind.Timestamp {
		t = t.In(zone)
	}
	if unit := clockUnits[part]; unit > 0 {
		return storeTime(t.Add(-time.Duration(clockOf(t)%unit)*time.Microsecond), k)
	}
	y, m, d := t.Date()
	switch part {
	case "day":
	case "week":
		d -= isoWeekday(t) - 1
	case "month":
		d = 1
	case "quarter":
		m, d = (m-1)/3*3+1, 1
	case "year":
		m, d = 1, 1
	default:
		panic(noPart(part, k))
	}
	return storeTime(in(time.Date(y, m, d, 0, 0, 0, 0, time.UTC), t.Location()), k)
}

func truncateInterval(part string, i interval) any {
	unit, months := clockUnits[part], map[string]int64{"month": 1, "quarter": 3, "year": 12}[part]
	switch {
	case unit > 0:
		i.micros -= i.micros % unit
	case part == "day":
		i.micros = 0
	case months > 0:
		i = interval{months: i.months - i.months%months}
	default:
		panic(noPart(part, kind.Interval))
	}
	return i.stored()
}
