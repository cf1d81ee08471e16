package translate

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// interval is an interval. Months and days have no fixed length, so the parts stay separate.
type interval struct{ months, days, micros int64 }

const (
	second  = int64(1_000_000)
	minute  = 60 * second
	hour    = 60 * minute
	dayLong = 24 * hour
)

// stored returns the stored form. Months and days have the range of an int4, as in PostgreSQL.
func (i interval) stored() string {
	if i.months != int64(int32(i.months)) || i.days != int64(int32(i.days)) {
		panic(intervalOutOfRange())
	}
	return fmt.Sprintf("%d %d %d", i.months, i.days, i.micros)
}

func intervalOutOfRange() *Error { return valueError(StateTimeRange, "interval out of range") }

// wholeNumber converts a calculated part of an interval.
func wholeNumber(f float64) int64 {
	if !(math.Abs(f) < math.MaxInt64) { // or NaN
		panic(intervalOutOfRange())
	}
	return int64(f)
}

// loadInterval reads a stored interval.
func loadInterval(stored string) interval {
	words := strings.Fields(stored)
	if len(words) != 3 {
		return parseInterval(stored)
	}
	var parts [3]int64
	for i, word := range words {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return parseInterval(stored)
		}
		parts[i] = n
	}
	return interval{months: parts[0], days: parts[1], micros: parts[2]}
}

// total is the length in microseconds with months of 30 days and days of 24 hours.
func (i interval) total() int64 { return (i.months*30+i.days)*dayLong + i.micros }

// intervalUnits maps the names of units to their months, days and microseconds.
var intervalUnits = map[string]interval{
	"microsecond": {0, 0, 1}, "us": {0, 0, 1}, "usec": {0, 0, 1}, "millisecond": {0, 0, 1000}, "ms": {0, 0, 1000}, "msec": {0, 0, 1000},
	"second": {0, 0, second}, "sec": {0, 0, second}, "s": {0, 0, second}, "minute": {0, 0, minute}, "min": {0, 0, minute}, "m": {0, 0, minute},
	"hour": {0, 0, hour}, "hr": {0, 0, hour}, "h": {0, 0, hour}, "day": {0, 1, 0}, "d": {0, 1, 0}, "week": {0, 7, 0}, "w": {0, 7, 0},
	"month": {1, 0, 0}, "mon": {1, 0, 0}, "year": {12, 0, 0}, "yr": {12, 0, 0}, "y": {12, 0, 0}, "decade": {120, 0, 0}, "century": {1200, 0, 0}, "centurie": {1200, 0, 0},
}

var (
	// isoDuration is a duration of ISO 8601.
	isoDuration = regexp.MustCompile(`^P(?:([-+.\d]+)Y)?(?:([-+.\d]+)M)?(?:([-+.\d]+)W)?(?:([-+.\d]+)D)?(?:T(?:([-+.\d]+)H)?(?:([-+.\d]+)M)?(?:([-+.\d]+)S)?)?$`)
	isoUnits    = []string{"y", "mon", "w", "d", "h", "m", "s"}
	// otherIntervals are forms of PostgreSQL that are not supported.
	otherIntervals = regexp.MustCompile(`^@|[a-z] *ago$|^[-+]?\d+-\d+|^p\d+-|^p\d*t\d+:`)
)

// parseInterval parses an interval: 1 day, 2 hours 30 minutes, 01:30, 1 2:03, P1DT2H.
func parseInterval(text string) interval {
	word := strings.ToLower(strings.TrimSpace(text))
	tokens := intervalTokens(word)
	if parts := isoDuration.FindStringSubmatch(strings.TrimSpace(text)); parts != nil {
		tokens = nil
		for i, number := range parts[1:] {
			if number != "" {
				tokens = append(tokens, number, isoUnits[i])
			}
		}
	}
	i, ok := wordInterval(tokens)
	if !ok {
		if otherIntervals.MatchString(word) {
			panic(valueError(StateUnsupported, "the interval format of %q is not supported", shorten(text)).WithHint("write an interval such as 1 day, -1 day or 1 year 2 months"))
		}
		panic(valueError(StateBadTime, "invalid input syntax for type interval: %q", shorten(text)).WithHint("write an interval such as 1 day or 2 hours 30 minutes"))
	}
	return i
}

// parseIntervalField parses an interval whose unit is a field such as day. Smaller units are dropped.
func parseIntervalField(text, field string) interval {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += " " + field
	}
	i := parseInterval(text)
	switch field {
	case "year":
		i = interval{i.months / 12 * 12, 0, 0}
	case "month":
		i = interval{i.months, 0, 0}
	case "day":
		i.micros = 0
	case "hour":
		i.micros -= i.micros % hour
	case "minute":
		i.micros -= i.micros % minute
	}
	return i
}

// wordInterval parses an interval of numbers, units and a time of day. A number without a unit means days before a
// time of day, and seconds at the end.
func wordInterval(tokens []string) (sum interval, ok bool) {
	for n := 0; n < len(tokens); n++ {
		token := tokens[n]
		switch {
		case strings.Contains(token, ":"):
			micros, fits := clockMicros(token)
			if !fits {
				return sum, false
			}
			sum.micros += micros
		default:
			unit := "second"
			if n+1 < len(tokens) {
				if unit = tokens[n+1]; strings.Contains(unit, ":") {
					unit = "day"
				} else {
					n++
				}
			}
			of, known := intervalUnit(unit)
			number, err := strconv.ParseFloat(token, 64)
			if err != nil && !isRange(err) || !known {
				return sum, false
			}
			sum = sum.plus(of.times(number), 1)
		}
	}
	return sum, len(tokens) > 0
}

func intervalUnit(name string) (interval, bool) {
	if of, known := intervalUnits[name]; known {
		return of, true
	}
	of, known := intervalUnits[strings.TrimSuffix(name, "s")]
	return of, known
}

// intervalTokens separates numbers from the units that follow them.
func intervalTokens(word string) (tokens []string) {
	for _, field := range strings.Fields(word) {
		split := 0
		for split < len(field) && strings.IndexByte("+-.:0123456789", field[split]) >= 0 {
			split++
		}
		if split > 0 && split < len(field) && field[split] != 'e' {
			tokens = append(tokens, field[:split], field[split:])
		} else {
			tokens = append(tokens, field)
		}
	}
	return tokens
}

// clockMicros reads 01:30, 01:30:15.5 or -01:30. Two numbers are hours and minutes, unless the last of them has a
// fraction.
func clockMicros(token string) (int64, bool) {
	sign := int64(1)
	if token[0] == '-' || token[0] == '+' {
		if token[0] == '-' {
			sign = -1
		}
		token = token[1:]
	}
	parts := strings.Split(token, ":")
	if len(parts) == 2 && strings.Contains(parts[1], ".") {
		parts = append([]string{"0"}, parts...)
	}
	if len(parts) > 3 {
		return 0, false
	}
	h, err := strconv.ParseInt(parts[0], 10, 32)
	if err != nil {
		return 0, false
	}
	m, err := strconv.ParseInt(parts[1], 10, 32)
	if err != nil || m > 59 {
		return 0, false
	}
	micros := h*hour + m*minute
	if len(parts) == 3 {
		s, err := strconv.ParseFloat(parts[2], 64)
		if err != nil || s >= 61 {
			return 0, false
		}
		micros += int64(math.Round(s * 1e6))
	}
	return sign * micros, true
}

// plus is the sum or the difference of two intervals.
func (i interval) plus(o interval, sign int64) interval {
	wholeNumber(float64(i.micros) + float64(sign)*float64(o.micros))
	return interval{i.months + sign*o.months, i.days + sign*o.days, i.micros + sign*o.micros}
}

// times multiplies an interval. Fractions of a month become days of 30 per month, fractions of
// a day become hours.
func (i interval) times(f float64) interval {
	months, days := float64(i.months)*f, float64(i.days)*f
	wholeMonths, wholeDays := math.Trunc(months), math.Trunc(days)
	more := math.Round((months-wholeMonths)*30*1e6) / 1e6
	wholeMore := math.Trunc(more)
	part := math.Round((days-wholeDays+more-wholeMore)*86400*1e6) / 1e6 // in seconds
	if over := math.Trunc(part / 86400); over != 0 {
		wholeDays, part = wholeDays+over, part-over*86400
	}
	micros := math.RoundToEven(float64(i.micros)*f + part*1e6)
	return interval{wholeNumber(wholeMonths), wholeNumber(wholeDays + wholeMore), wholeNumber(micros)}
}

// String formats the interval like PostgreSQL.
func (i interval) String() string {
	var parts []string
	unit := func(n int64, name string) {
		if n == 0 {
			return
		}
		text := strconv.FormatInt(n, 10)
		if n > 0 && len(parts) > 0 && strings.HasPrefix(parts[len(parts)-1], "-") {
			text = "+" + text
		}
		if n != 1 {
			name += "s"
		}
		parts = append(parts, text+" "+name)
	}
	unit(i.months/12, "year")
	unit(i.months%12, "mon")
	unit(i.days, "day")
	if i.micros != 0 || len(parts) == 0 {
		sign, n := "", i.micros
		if n < 0 {
			sign, n = "-", -n
		} else if len(parts) > 0 && strings.HasPrefix(parts[len(parts)-1], "-") {
			sign = "+"
		}
		text := fmt.Sprintf("%s%02d:%02d:%02d", sign, n/hour, n/minute%60, n/second%60)
		if n%second != 0 {
			text += "." + strings.TrimRight(fmt.Sprintf("%06d", n%second), "0")
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}
