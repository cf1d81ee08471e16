package pgwire

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/console/kind"
)

// The forms in which clients write moments. Fractions are read behind the seconds.
var (
	zoned   = []string{"Z07:00:00", "Z07:00", "Z0700", "Z07", " Z07:00", " -0700", " -07", " MST"}
	clocked = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04"}
)

// momentFromText reads a moment. One without a zone is in that of the session.
func (v *values) momentFromText(k kind.Kind, text string) (any, error) {
	switch text {
	case "infinity", "-infinity":
		if k != kind.Time {
			return text, nil
		}
	case "epoch":
		if k != kind.Time {
			return time.Unix(0, 0).UTC().Format(layoutOf[k]), nil
		}
	}
	t, found := v.read(k, text)
	if !found {
		return nil, badText(k, []byte(text))
	}
	return layOut(k, t)
}

func (v *values) read(k kind.Kind, text string) (t time.Time, found bool) {
	if k == kind.Time {
		return first(text, time.UTC, "15:04:05", "15:04")
	}
	place := time.UTC
	if k == kind.Timestamp && v.zone != nil {
		place = v.zone
	}
	if t, found = first(text, place, append(clocked, "2006-01-02")...); found {
		return t.UTC(), true
	}
	for _, zone := range zoned {
		for _, clock := range clocked {
			if t, err := time.Parse(clock+zone, text); err == nil && (zone != " MST" || strings.HasSuffix(text, " UTC") || strings.HasSuffix(text, " GMT")) {
				if k == kind.Timestamp {
					t = t.UTC()
				}
				return t, true // where no zone is held, what stands there is ignored
			}
		}
	}
	return t, false
}

func first(text string, place *time.Location, layouts ...string) (t time.Time, found bool) {
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, place); err == nil {
			return t, true
		}
	}
	return t, false
}

// spans are the units of an interval.
var spans = map[string]span{
	"year": {months: 12}, "yr": {months: 12}, "y": {months: 12}, "mon": {months: 1}, "month": {months: 1},
	"week": {days: 7}, "w": {days: 7}, "day": {days: 1}, "d": {days: 1},
	"hour": {micros: 3600e6}, "hr": {micros: 3600e6}, "h": {micros: 3600e6},
	"minute": {micros: 60e6}, "min": {micros: 60e6}, "m": {micros: 60e6},
	"second": {micros: 1e6}, "sec": {micros: 1e6}, "s": {micros: 1e6},
	"millisecond": {micros: 1e3}, "ms": {micros: 1e3}, "microsecond": {micros: 1}, "us": {micros: 1},
}

// intervalFromText reads an interval of numbers with units, and of a clock.
func intervalFromText(raw []byte) (any, error) {
	var sum span
	words := strings.Fields(strings.ToLower(string(raw)))
	for i := 0; i < len(words); i++ {
		if strings.Contains(words[i], ":") {
			n, fine := clock(words[i])
			if !fine {
				return nil, badText(kind.Interval, raw)
			}
			sum.micros += n
			continue
		}
		number, unit := words[i], ""
		if at := strings.IndexFunc(number, func(r rune) bool { return r >= 'a' && r <= 'z' }); at > 0 {
			number, unit = number[:at], number[at:]
		} else if i+1 < len(words) {
			i++
			unit = words[i]
		}
		if !sum.add(number, unit) {
			return nil, badText(kind.Interval, raw)
		}
	}
	if len(words) == 0 {
		return nil, badText(kind.Interval, raw)
	}
	return sum.String(), nil
}

// add adds a number of a unit. Only what has a fixed length has fractions.
func (s *span) add(number, unit string) bool {
	one, known := spans[unit]
	if !known {
		one, known = spans[strings.TrimSuffix(unit, "s")]
	}
	n, err := strconv.ParseFloat(number, 64)
	if !known || err != nil || math.Abs(n) > 1e12 || one.micros == 0 && n != math.Trunc(n) {
		return false
	}
	s.months += int64(n) * one.months
	s.days += int64(n) * one.days
	s.micros += int64(math.Round(n * float64(one.micros)))
	return true
}

// clock reads hours, minutes and seconds.
func clock(text string) (micros int64, fine bool) {
	plain := strings.TrimLeft(text, "+-")
	parts := strings.Split(plain, ":")
	if len(parts) > 3 || len(text)-len(plain) > 1 {
		return 0, false
	}
	for i, scale := range []float64{3600e6, 60e6, 1e6}[:len(parts)] {
		n, err := strconv.ParseFloat(parts[i], 64)
		if err != nil || n < 0 || n > 1e9 {
			return 0, false
		}
		micros += int64(math.Round(n * scale))
	}
	if strings.HasPrefix(text, "-") {
		micros = -micros
	}
	return micros, true
}
