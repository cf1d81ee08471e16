package translate

import (
	"math"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// timeFunctions calculate with times and intervals.
var timeFunctions = []Function{
	strict("rota_micros", 1, func(a arguments) (any, error) {
		i, err := loadInterval(a.text(0))
		return i.total(), err
	}),
	strict("rota_shift", 3, addIntervalCall),
	strict("rota_shift", 4, addIntervalCall),
	strict("rota_time_shift", 3, func(a arguments) (any, error) {
		t, _, err := loadTime(a.text(0))
		if err != nil {
			return nil, err
		}
		i, err := loadInterval(a.text(1))
		return t.Add(time.Duration(a.int(2)*(i.micros%dayLong)) * time.Microsecond).Format(clockLayout), err
	}),
	strict("rota_between", 2, between),
	strict("rota_days", 2, func(a arguments) (any, error) {
		x, _, err := loadTime(a.text(0))
		if err != nil {
			return nil, err
		}
		y, _, err := loadTime(a.text(1))
		return int64(math.Round(x.Sub(y).Hours() / 24)), err
	}),
	strict("rota_date_add", 2, func(a arguments) (any, error) {
		t, _, err := loadTime(a.text(0))
		if err != nil {
			return nil, err
		}
		if n := a.int(1); n > 4_000_000 || n < -4_000_000 {
			return nil, valueError(StateTimeRange, "date out of range")
		}
		return storeTime(t.AddDate(0, 0, int(a.int(1))), kind.Date)
	}),
	strict("rota_interval_add", 3, func(a arguments) (any, error) {
		x, err := loadInterval(a.text(0))
		if err != nil {
			return nil, err
		}
		y, err := loadInterval(a.text(1))
		return x.plus(y, a.int(2)).stored(), err
	}),
	strict("rota_interval_times", 2, func(a arguments) (any, error) {
		x, err := loadInterval(a.text(0))
		return x.times(a.real(1)).stored(), err
	}),
	strict("rota_interval_over", 2, func(a arguments) (any, error) {
		if a.real(1) == 0 {
			return nil, divisionByZero()
		}
		x, err := loadInterval(a.text(0))
		return x.times(1 / a.real(1)).stored(), err
	}),
	strict("rota_time_of", 1, timeOf),
	strict("rota_interval_of", 1, func(a arguments) (any, error) { return parseInterval(a.text(0)) }),
	strict("rota_precision", 2, func(a arguments) (any, error) {
		t, k, err := loadTime(a.text(0))
		if err != nil {
			return a[0], nil
		}
		unit := time.Duration(math.Pow10(9 - int(max(0, min(a.int(1), 6)))))
		return storeTime(t.Round(unit), k)
	}),
	strict("rota_extract", 2, extractPart),
	strict("rota_extract", 3, extractPart),
	strict("rota_date_trunc", 2, func(a arguments) (any, error) { return truncate(a, time.UTC) }),
	strict("rota_date_trunc", 3, func(a arguments) (any, error) {
		zone, known := zoneNamed(a.text(2))
		if !known || zone == nil {
			return nil, noZone(a.text(2))
		}
		return truncate(a, zone)
	}),
	strict("rota_clock_trunc", 3, func(a arguments) (any, error) { // in the zone of the session, which has no abbreviations
		zone, err := a.zone(2)
		if err != nil {
			return nil, err
		}
		return truncate(a, zone)
	}),
	strict("rota_age", 2, age),
	strict("rota_age", 3, age),
	strict("rota_to_timestamp", 1, func(a arguments) (any, error) {
		f := a.real(0)
		if math.Abs(f) > 1e12 {
			return nil, valueError(StateTimeRange, "timestamp out of range: %q", a.text(0)).withHint("to_timestamp takes seconds: divide milliseconds by 1000.0")
		}
		return storeTime(time.UnixMicro(int64(math.Round(f*1e6))).UTC(), kind.Timestamp)
	}),
	strict("rota_make_interval", 7, func(a arguments) (any, error) {
		days := a.int(2)*7 + a.int(3)
		micros := a.int(4)*hour + a.int(5)*minute + int64(math.Round(a.real(6)*1e6))
		return interval{a.int(0)*12 + a.int(1), days, micros}.stored(), nil
	}),
	strict("rota_time_series", 3, timeSeries),
	strict("rota_time_series", 4, timeSeries),
}

func isInfinite(stored string) bool { return strings.HasSuffix(stored, "infinity") }

// addIntervalCall adds an interval to a time, or subtracts it.
func addIntervalCall(a arguments) (any, error) {
	if isInfinite(a.text(0)) {
		return a[0], nil
	}
	t, k, err := loadTime(a.text(0))
	if err != nil {
		return nil, err
	}
	i, err := loadInterval(a.text(1))
	if err != nil {
		return nil, err
	}
	zone, err := a.zone(3)
	if err != nil {
		return nil, err
	}
	t, err = addInterval(t.In(zone), i, a.int(2))
	if err != nil {
		return nil, err
	}
	return storeTime(t, k)
}

// addInterval adds an interval. A month later is the same day of the month or the last day of
// that month. A day later the local time is the same, even if the clock changes.
func addInterval(t time.Time, i interval, sign int64) (time.Time, error) {
	months, days, micros := sign*i.months, sign*i.days, sign*i.micros
	if months > 200_000 || months < -200_000 || days > 5_000_000 || days < -5_000_000 {
		return t, valueError(StateTimeRange, "timestamp out of range")
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
	return time.UnixMicro(t.UnixMicro() + micros).In(t.Location()), nil
}

// sameClockOn returns the same local time on another day.
func sameClockOn(t time.Time, y int, m time.Month, d int) time.Time {
	h, min, s := t.Clock()
	return in(time.Date(y, m, d, h, min, s, t.Nanosecond(), time.UTC), t.Location())
}

// between is the difference of two times in days and microseconds.
func between(a arguments) (any, error) {
	x, k, err := loadTime(a.text(0))
	if err != nil {
		return nil, err
	}
	y, _, err := loadTime(a.text(1))
	if err != nil {
		return nil, err
	}
	micros := x.UnixMicro() - y.UnixMicro()
	if k == kind.Time {
		return interval{0, 0, micros}.stored(), nil
	}
	return interval{0, micros / dayLong, micros % dayLong}.stored(), nil
}

func timeOf(a arguments) (any, error) {
	if i, err := loadInterval(a.text(0)); err == nil && strings.Count(a.text(0), " ") == 2 && !strings.Contains(a.text(0), ":") {
		micros := ((i.micros % dayLong) + dayLong) % dayLong
		return time.UnixMicro(micros).UTC().Format(clockLayout), nil
	}
	t, _, err := loadTime(a.text(0))
	return t.Format(clockLayout), err
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
func age(a arguments) (any, error) {
	x, _, err := loadTime(a.text(0))
	if err != nil {
		return nil, err
	}
	y, _, err := loadTime(a.text(1))
	if err != nil {
		return nil, err
	}
	zone, err := a.zone(2)
	if err != nil {
		return nil, err
	}
	x, y = x.In(zone), y.In(zone)
	sign := int64(1)
	if x.Before(y) {
		x, y, sign = y, x, -1
	}
	months := int64(x.Year()-y.Year())*12 + int64(x.Month()-y.Month())
	days := int64(x.Day() - y.Day())
	clock := func(t time.Time) int64 {
		h, m, s := t.Clock()
		return int64(h)*hour + int64(m)*minute + int64(s)*second + int64(t.Nanosecond()/1000)
	}
	micros := clock(x) - clock(y)
	if micros < 0 {
		micros += dayLong
		days--
	}
	if days < 0 { // the month is as long as the one that the earlier lies in
		days += int64(time.Date(y.Year(), y.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day())
		months--
	}
	return interval{sign * months, sign * days, sign * micros}.stored(), nil
}

// seriesMax is how many values a series may have.
const seriesMax = 200_000

func timeSeries(a arguments) (any, error) {
	from, k, err := loadTime(a.text(0))
	if err != nil {
		return nil, err
	}
	to, _, err := loadTime(a.text(1))
	if err != nil {
		return nil, err
	}
	step, err := loadInterval(a.text(2))
	if err != nil {
		return nil, err
	}
	zone, err := a.zone(3)
	if err != nil {
		return nil, err
	}
	from = from.In(zone)
	length := step.total()
	if length == 0 {
		return nil, valueError(StateValue, "step size cannot equal zero")
	}
	list := []any{}
	for n := int64(0); ; n++ {
		if length > 0 && from.After(to) || length < 0 && from.Before(to) {
			return encode(list), nil
		}
		if n >= seriesMax {
			return nil, valueError(StateLimit, "generate_series returns at most %d values", seriesMax)
		}
		stored, err := storeTime(from, k)
		if err != nil {
			return nil, err
		}
		list = append(list, stored)
		if from, err = addInterval(from, step, 1); err != nil {
			return nil, err
		}
	}
}
