package rota

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a duration as people write one: Go style, such as 90s and
// 1h30m, with whole days before it, such as 30d and 1d12h, or SQL style, such as 90 SECONDS, 2 DAYS and 1 HOUR 30 MINUTES. Upper
// and lower case are the same. An error is Invalid and says how to write it.
func ParseDuration(text string) (time.Duration, error) {
	lower := strings.ToLower(strings.TrimSpace(text))
	if lower == "" {
		return 0, Invalidf("duration", "is empty; write it like 90s, 1h30m or 2 DAYS")
	}
	if goStyle.MatchString(lower) && strings.ContainsAny(lower, "0123456789") {
		return goDuration(text, lower)
	}
	words := strings.Fields(lower)
	if len(words)%2 != 0 {
		return 0, notDuration(text)
	}
	total := time.Duration(0)
	for i := 0; i < len(words); i += 2 {
		part, err := sqlDuration(text, words[i], words[i+1])
		if err != nil {
			return 0, err
		}
		if total > math.MaxInt64-part {
			return 0, uncountable(text)
		}
		total += part
	}
	return total, nil
}

// goStyle is what Go reads, and whole days before it. It matches a sign alone, too.
var goStyle = regexp.MustCompile(`^[+-]?(\d+d)?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))*$|^[+-]?0$`)

// goDuration reads what has the form: it can only be too long.
func goDuration(text, lower string) (time.Duration, error) {
	days, rest, found := strings.Cut(lower, "d")
	if !found {
		d, err := time.ParseDuration(lower)
		if err != nil {
			return 0, uncountable(text)
		}
		return d, nil
	}
	const day = 24 * time.Hour
	n, err := strconv.ParseInt(strings.TrimLeft(days, "+-"), 10, 64)
	if err != nil || n > int64(math.MaxInt64/day) {
		return 0, uncountable(text)
	}
	d := time.Duration(0)
	if rest != "" {
		if d, err = time.ParseDuration(rest); err != nil || d > math.MaxInt64-time.Duration(n)*day {
			return 0, uncountable(text)
		}
	}
	d += time.Duration(n) * day
	if days[0] == '-' {
		d = -d
	}
	return d, nil
}

// sqlUnits are the words of SQL, in the singular. What Go has no letter for is
// written as hours.
var sqlUnits = map[string]struct {
	letter string
	times  time.Duration
}{
	"millisecond": {"ms", 1},
	"second":      {"s", 1},
	"minute":      {"m", 1},
	"hour":        {"h", 1},
	"day":         {"h", 24},
	"week":        {"h", 7 * 24},
}

func sqlDuration(text, number, word string) (time.Duration, error) {
	unit, known := sqlUnits[strings.TrimSuffix(word, "s")]
	if !known || strings.Trim(number, "0123456789.") != "" {
		return 0, notDuration(text)
	}
	d, err := time.ParseDuration(number + unit.letter)
	switch {
	case err != nil && strings.Trim(number, "0123456789") == "":
		return 0, uncountable(text)
	case err != nil:
		return 0, notDuration(text)
	case d > math.MaxInt64/unit.times:
		return 0, uncountable(text)
	}
	return d * unit.times, nil
}

// notDuration guesses what was meant where that is easy.
func notDuration(text string) error {
	trimmed := strings.TrimSpace(text)
	number := strings.TrimRight(strings.ToLower(trimmed), "w")
	if strings.Trim(number, "0123456789") != "" || number == "" {
		return Invalidf("duration", "%s is not a duration; write it like 90s, 1h30m or 2 DAYS", quote(text))
	}
	if len(number) > 20 {
		return uncountable(text)
	}
	switch strings.ToLower(trimmed[len(number):]) {
	case "":
		return Invalidf("duration", "%s has no unit; for seconds write %ss", quote(text), number)
	case "w":
		return Invalidf("duration", "%s has a unit that is not known; for weeks write %s WEEKS", quote(text), number)
	}
	return Invalidf("duration", "%s is not a duration; write it like 90s, 1h30m or 2 DAYS", quote(text))
}

func uncountable(text string) error {
	return Invalidf("duration", "%s is longer than can be counted, which is 292 years", quote(text))
}

// FormatDuration writes a duration in Go style and as short as can be: 1h30m,
// not 1h30m0s. ParseDuration reads it back.
func FormatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
