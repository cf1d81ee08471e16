package translate

import (
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// partList are the fields of a time.
var partList = strings.Fields(`century day decade dow doy epoch hour isodow isoyear julian microseconds millennium milliseconds minute month quarter second
timezone timezone_hour timezone_minute week year`)

// partNames are all names of the fields.
var partNames = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range partList {
		all[name] = true
	}
	for name := range partAliases {
		all[name] = true
	}
	return all
}()

var partAliases = map[string]string{
	"years": "year", "months": "month", "days": "day", "hours": "hour", "minutes": "minute", "seconds": "second", "weeks": "week", "quarters": "quarter",
	"y": "year", "mon": "month", "mons": "month", "d": "day", "h": "hour", "hr": "hour", "min": "minute", "mins": "minute", "m": "minute", "s": "second", "sec": "second", "secs": "second",
	"ms": "milliseconds", "msec": "milliseconds", "millisecond": "milliseconds", "us": "microseconds", "usec": "microseconds", "microsecond": "microseconds",
	"decades": "decade", "centuries": "century", "millennia": "millennium", "epochs": "epoch",
}

func partOf(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if other, is := partAliases[name]; is {
		return other
	}
	return name
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
	if v, is := clockPart(part, t); is {
		return v
	}
	if k != kind.Time {
		if v, is := dayPart(part, t); is {
			return v
		}
	}
	if part == "epoch" {
		if k == kind.Time {
			return float64(t.UnixMicro()-time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()) / 1e6
		}
		return exactly(t.UnixMicro(), 1_000_000)
	}
	if v, is := zonePart(part, t); is && k == kind.Timestamp {
		return v
	}
	panic(noPart(part, k))
}

// zonePart extracts the offset from UTC.
func zonePart(part string, t time.Time) (any, bool) {
	_, offset := t.Zone()
	switch part {
	case "timezone":
		return int64(offset), true
	case "timezone_hour":
		return int64(offset / 3600), true
	case "timezone_minute":
		return int64(offset / 60 % 60), true
	}
	return nil, false
}

func noPart(part string, k kind.Kind) *Error {
	if !partNames[part] {
		return valueError(StateValue, "unit %q not recognized for type %s", part, typeTitle(k)).withHint("%s", suggestion(part, "use one of", partList))
	}
	return valueError(StateUnsupported, "unit %q not supported for type %s", part, typeTitle(k)).withHint("use one of %s", strings.Join(partList, ", "))
}

// exactly is a quotient, as an integer if it is one.
func exactly(n, by int64) any {
	if n%by == 0 {
		return n / by
	}
	return float64(n) / float64(by)
}

func clockPart(part string, t time.Time) (any, bool) {
	micros := int64(t.Second())*second + int64(t.Nanosecond()/1000)
	switch part {
	case "microseconds":
		return micros, true
	case "milliseconds":
		return exactly(micros, 1000), true
	case "second":
		return exactly(micros, second), true
	case "minute":
		return int64(t.Minute()), true
	case "hour":
		return int64(t.Hour()), true
	}
	return nil, false
}

func dayPart(part string, t time.Time) (any, bool) {
	year, week := t.ISOWeek()
	n := 0
	switch part {
	case "day":
		n = t.Day()
	case "month":
		n = int(t.Month())
	case "year":
		n = t.Year()
	case "quarter":
		n = (int(t.Month()) + 2) / 3
	case "week":
		n = week
	case "isoyear":
		n = year
	case "dow":
		n = int(t.Weekday())
	case "isodow":
		n = (int(t.Weekday())+6)%7 + 1
	case "doy":
		n = t.YearDay()
	case "decade":
		n = t.Year() / 10
	case "century":
		n = (t.Year() + 99) / 100
	case "millennium":
		n = (t.Year() + 999) / 1000
	case "julian":
		midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
		day := midnight.Unix()/86400 + 2440588
		rest := in(t, time.UTC).Sub(midnight).Seconds() / 86400
		if rest == 0 {
			return day, true
		}
		return float64(day) + rest, true
	default:
		return nil, false
	}
	return int64(n), true
}

func intervalPart(part string, i interval) any {
	micros := i.micros % minute
	switch part {
	case "microseconds":
		return micros
	case "milliseconds":
		return exactly(micros, 1000)
	case "second":
		return exactly(micros, second)
	case "minute":
		return i.micros / minute % 60
	case "hour":
		return i.micros / hour
	case "day":
		return i.days
	case "month":
		return i.months % 12
	case "quarter":
		return i.months%12/3 + 1
	case "year":
		return i.months / 12
	case "decade":
		return i.months / 120
	case "century":
		return i.months / 1200
	case "millennium":
		return i.months / 12000
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
	cut, ok := truncated(part, t)
	if !ok {
		panic(noPart(part, k))
	}
	return storeTime(cut, k)
}

func truncated(part string, t time.Time) (time.Time, bool) {
	y, m, d := t.Date()
	date := func(y int, m time.Month, d int) time.Time {
		return in(time.Date(y, m, d, 0, 0, 0, 0, time.UTC), t.Location())
	}
	switch part {
	case "microseconds":
		return t, true
	case "milliseconds":
		return t.Truncate(time.Millisecond), true
	case "second":
		return t.Truncate(time.Second), true
	case "minute":
		return t.Add(-time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond())), true
	case "hour":
		return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond())), true
	case "day":
		return date(y, m, d), true
	case "week":
		return date(y, m, d-(int(t.Weekday())+6)%7), true
	case "month":
		return date(y, m, 1), true
	case "quarter":
		return date(y, (m-1)/3*3+1, 1), true
	case "year":
		return date(y, 1, 1), true
	case "decade":
		return date(y/10*10, 1, 1), true
	case "century":
		return date((y-1)/100*100+1, 1, 1), true
	case "millennium":
		return date((y-1)/1000*1000+1, 1, 1), true
	}
	return t, false
}

func truncateInterval(part string, i interval) any {
	micros := map[string]int64{"microseconds": 1, "milliseconds": 1000, "second": second, "minute": minute, "hour": hour}[part]
	months := map[string]int64{"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12000}[part]
	switch {
	case micros > 0:
		i.micros -= i.micros % micros
	case part == "day":
		i.micros = 0
	case months > 0:
		i = interval{months: i.months - i.months%months}
	default:
		panic(noPart(part, kind.Interval))
	}
	return i.stored()
}
