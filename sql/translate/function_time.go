package translate

import (
	"math"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// timeFunctions calculate with times and intervals.
var timeFunctions = []Function{
	strict("rota_micros", 1, func(a arguments) any { return a.interval(0).total() }),
	strict("rota_shift", 3, addIntervalCall),
	strict("rota_shift", 4, addIntervalCall),
	strict("rota_time_shift", 3, func(a arguments) any {
		return a.time(0).Add(time.Duration(a.int(2)*(a.interval(1).micros%dayLong)) * time.Microsecond).Format(clockLayout)
	}),
	strict("rota_between", 2, between),
	strict("rota_days", 2, func(a arguments) any { return int64(math.Round(a.time(0).Sub(a.time(1)).Hours() / 24)) }),
	strict("rota_date_add", 2, func(a arguments) any {
		if n := a.int(1); n > 4_000_000 || n < -4_000_000 {
			panic(valueError(StateTimeRange, "date out of range"))
		}
		return storeTime(a.time(0).AddDate(0, 0, int(a.int(1))), kind.Date)
	}),
	strict("rota_interval_add", 3, func(a arguments) any { return a.interval(0).plus(a.interval(1), a.int(2)).stored() }),
	strict("rota_interval_times", 2, func(a arguments) any { return a.interval(0).times(a.real(1)).stored() }),
	strict("rota_interval_over", 2, func(a arguments) any {
		if a.real(1) == 0 {
			panic(divisionByZero())
		}
		return a.interval(0).times(1 / a.real(1)).stored()
	}),
	strict("rota_time_of", 1, func(a arguments) any {
		if isInterval(a.text(0)) {
			micros := ((a.interval(0).micros % dayLong) + dayLong) % dayLong
			return time.UnixMicro(micros).UTC().Format(clockLayout)
		}
		return a.time(0).Format(clockLayout)
	}),
	strict("rota_interval_of", 1, func(a arguments) any { return parseInterval(a.text(0)).stored() }),
	strict("rota_precision", 2, func(a arguments) any {
		if isInfinite(a.text(0)) {
			return a[0]
		}
		t, k := loadTime(a.text(0))
		return storeTime(t.Round(time.Duration(math.Pow10(9-int(max(0, min(a.int(1), 6)))))), k)
	}),
	strict("rota_extract", 2, extractPart),
	strict("rota_extract", 3, extractPart),
	strict("rota_date_trunc", 2, func(a arguments) any { return truncate(a, time.UTC) }),
	strict("rota_date_trunc", 3, func(a arguments) any {
		zone, known := zoneNamed(a.text(2))
		if !known || zone == nil {
			panic(noZone(a.text(2)))
		}
		return truncate(a, zone)
	}),
	strict("rota_clock_trunc", 3, func(a arguments) any { return truncate(a, a.zone(2)) }), // the zone of a session has no abbreviations
	strict("rota_age", 2, age),
	strict("rota_age", 3, age),
	strict("rota_to_timestamp", 1, func(a arguments) any {
		f := a.real(0)
		if math.Abs(f) > 1e12 {
			panic(valueError(StateTimeRange, "timestamp out of range: %q", a.text(0)).WithHint("to_timestamp takes seconds: divide milliseconds by 1000.0"))
		}
		return storeTime(time.UnixMicro(int64(math.Round(f*1e6))).UTC(), kind.Timestamp)
	}),
	strict("rota_make_interval", 7, func(a arguments) any {
		for i := range 6 {
			inRange(kind.Int4, a.int(i))
		}
		clock := interval{a.int(0)*12 + a.int(1), a.int(2)*7 + a.int(3), a.int(4)*hour + a.int(5)*minute}
		return clock.plus(interval{micros: wholeNumber(math.Round(a.real(6) * 1e6))}, 1).stored()
	}),
	strict("rota_time_series", 3, timeSeries),
	strict("rota_time_series", 4, timeSeries),
}

func (a arguments) time(i int) time.Time {
	t, _ := loadTime(a.text(i))
	return t
}

func (a arguments) interval(i int) interval { return loadInterval(a.text(i)) }

// isInterval reports whether a stored value is an interval and not a time.
func isInterval(stored string) bool { return strings.Count(stored, " ") == 2 }

func isInfinite(stored string) bool { return strings.HasSuffix(stored, "infinity") }

// addIntervalCall adds an interval to a time, or subtracts it.
func addIntervalCall(a arguments) any {
	if isInfinite(a.text(0)) {
		return a[0]
	}
	t, k := loadTime(a.text(0))
	return storeTime(addInterval(t.In(a.zone(3)), a.interval(1), a.int(2)), k)
}

// addInterval adds an interval. A month later is the same day of the month or the last day of
// that month. A day later the local time is the same, even if the clock changes.
func addInterval(t time.Time, i interval, sign int64) time.Time {
	months, days, micros := sign*i.months, sign*i.days, sign*i.micros
	if months > 200_000 || months < -200_000 || days > 5_000_000 || days < -5_000_000 {
		panic(valueError(StateTimeRange, "timestamp out of range"))
	}
	if months != 0 {
		y, m, d := t.Date()
		first := time.Date(y, m+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		t = sameClockOn(t, first.Year(), first.Month(), min(d, last))
	}
	if days != 0 {
		y, m, d := t.Date()
		t = sameClockOn(t, y, m, d+int(days))
	}
	return time.UnixMicro(t.UnixMicro() + micros).In(t.Location())
}

// sameClockOn returns the same local time on another day.
func sameClockOn(t time.Time, y int, m time.Month, d int) time.Time {
	h, min, s := t.Clock()
	return in(time.Date(y, m, d, h, min, s, t.Nanosecond(), time.UTC), t.Location())
}

// between is the difference of two times in days and microseconds.
func between(a arguments) any {
	x, k := loadTime(a.text(0))
	micros := x.UnixMicro() - a.time(1).UnixMicro()
	if k == kind.Time {
		return interval{0, 0, micros}.stored()
	}
	return interval{0, micros / dayLong, micros % dayLong}.stored()
}

// offsetZone is a zone by its offset. That of PostgreSQL is POSIX's: west is positive.
func offsetZone(text string) (*time.Location, bool) {
	zone, ok := zoneOf(text)
	if !ok || zone == nil || text == "" || text[0] != '+' && text[0] != '-' {
		return nil, false
	}
	_, offset := time.Date(2000, 1, 1, 0, 0, 0, 0, zone).Zone()
	return time.FixedZone("", -offset), true
}

// age is the time between two in years, months and days.
func age(a arguments) any {
	x, y := a.time(0).In(a.zone(2)), a.time(1).In(a.zone(2))
	sign := int64(1)
	if x.Before(y) {
		x, y, sign = y, x, -1
	}
	months := int64(x.Year()-y.Year())*12 + int64(x.Month()-y.Month())
	days := int64(x.Day() - y.Day())
	micros := clockOf(x) - clockOf(y)
	if micros < 0 {
		micros += dayLong
		days--
	}
	if days < 0 { // the month is as long as the one that the earlier lies in
		days += int64(time.Date(y.Year(), y.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day())
		months--
	}
	return interval{sign * months, sign * days, sign * micros}.stored()
}

// seriesMax is how many values a series may have.
const seriesMax = 200_000

func timeSeries(a arguments) any {
	from, k := loadTime(a.text(0))
	to, step := a.time(1), a.interval(2)
	from = from.In(a.zone(3))
	length := step.total()
	if length == 0 {
		panic(valueError(StateValue, "step size cannot equal zero"))
	}
	list := []any{}
	for n := int64(0); ; n++ {
		if length > 0 && from.After(to) || length < 0 && from.Before(to) {
			return encode(list)
		}
		if n >= seriesMax {
			panic(valueError(StateLimit, "generate_series returns at most %d values", seriesMax))
		}
		list = append(list, storeTime(from, k))
		from = addInterval(from, step, 1)
	}
}
