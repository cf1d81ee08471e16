package rota

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ParseDuration parses a duration in Go style (90s, 1h30m), with optional leading days
// (30d, 1d12h), or in SQL style (90 SECONDS, 2 DAYS, 1 HOUR 30 MINUTES). It ignores
// case. The error is Invalid and shows the accepted forms.
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
			return 0, tooLongDuration(text)
		}
		total += part
	}
	return total, nil
}

// goStyle matches a Go duration with optional leading days. It also matches a sign
// alone.
var goStyle = regexp.MustCompile(`^[+-]?(\d+d)?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))*$|^[+-]?0$`)

// goDuration parses a text that matches goStyle. It fails only if the value is too
// large.
func goDuration(text, lower string) (time.Duration, error) {
	days, rest, found := strings.Cut(lower, "d")
	if !found {
		d, err := time.ParseDuration(lower)
		if err != nil {
			return 0, tooLongDuration(text)
		}
		return d, nil
	}
	const day = 24 * time.Hour
	n, err := strconv.ParseInt(strings.TrimLeft(days, "+-"), 10, 64)
	if err != nil || n > int64(math.MaxInt64/day) {
		return 0, tooLongDuration(text)
	}
	d := time.Duration(0)
	if rest != "" {
		if d, err = time.ParseDuration(rest); err != nil || d > math.MaxInt64-time.Duration(n)*day {
			return 0, tooLongDuration(text)
		}
	}
	d += time.Duration(n) * day
	if days[0] == '-' {
		d = -d
	}
	return d, nil
}

// sqlUnits maps SQL units, in the singular, to Go units. Days and weeks are converted to
// hours.
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
		return 0, tooLongDuration(text)
	case err != nil:
		return 0, notDuration(text)
	case d > math.MaxInt64/unit.times:
		return 0, tooLongDuration(text)
	}
	return d * unit.times, nil
}

// notDuration suggests a correction for common mistakes.
func notDuration(text string) error {
	trimmed := strings.TrimSpace(text)
	number := strings.TrimRight(strings.ToLower(trimmed), "w")
	if strings.Trim(number, "0123456789") != "" || number == "" {
		return Invalidf("duration", "%s is not a duration; write it like 90s, 1h30m or 2 DAYS", quote(text))
	}
	if len(number) > 20 {
		return tooLongDuration(text)
	}
	switch strings.ToLower(trimmed[len(number):]) {
	case "":
		return Invalidf("duration", "%s has no unit; for seconds write %ss", quote(text), number)
	case "w":
		return Invalidf("duration", "%s has an unknown unit; for weeks write %s WEEKS", quote(text), number)
	}
	return Invalidf("duration", "%s is not a duration; write it like 90s, 1h30m or 2 DAYS", quote(text))
}

func tooLongDuration(text string) error {
	return Invalidf("duration", "%s is too long; at most 292 years are allowed", quote(text))
}

// FormatDuration formats a duration in Go style without trailing zero units: 1h30m, not
// 1h30m0s. ParseDuration parses it.
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
