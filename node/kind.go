package node

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// kind parses and shows one field of a Config. Its errors state only the reason; the
// caller adds where the text was written and what is allowed.
type kind interface {
	Set(text string) error
	String() string
	check() error
	noun() string // placeholder for the value in the help of a flag
}

// kindOf is the kind of a field of type T.
type kindOf[T any] struct {
	to     *T
	name   string // placeholder for the value
	parse  func(text string) (T, error)
	format func(T) string
	valid  func(T) error
}

func (k kindOf[T]) noun() string { return k.name }

func (k kindOf[T]) String() string { return k.format(*k.to) }

func (k kindOf[T]) check() error { return k.valid(*k.to) }

func (k kindOf[T]) Set(text string) error {
	value, err := k.parse(text)
	if err != nil {
		return err
	}
	*k.to = value
	return k.check()
}

// bounded is the kind of an amount with bounds.
func bounded[N int | int64 | float64 | time.Duration](to *N, name string, low, high N, parse func(string) (N, error), format func(N) string) kind {
	return kindOf[N]{to, name, parse, format, func(n N) error {
		if !(n >= low && n <= high) { // NaN is out of range, too
			return fmt.Errorf("%s is out of range", format(n))
		}
		return nil
	}}
}

func wholeKind(to *int, low, high int) kind {
	return bounded(to, "N", low, high, parseWhole, strconv.Itoa)
}

func durationKind(to *time.Duration, low, high time.Duration) kind {
	return bounded(to, "DURATION", low, high, parseDuration, formatDuration)
}

// auditKind is the kind of the retention of the audit: 0, or at least rota.AuditKeepMin.
func auditKind(to *time.Duration) kind {
	k := bounded(to, "DURATION", 0, keepMax, parseDuration, formatDuration).(kindOf[time.Duration])
	inRange := k.valid
	k.valid = func(d time.Duration) error {
		if d > 0 && d < rota.AuditKeepMin {
			return fmt.Errorf("%s is too short: a change that is sent again is recognised by its audit entry", formatDuration(d))
		}
		return inRange(d)
	}
	return k
}

func sizeKind(to *int64, low, high int64) kind {
	return bounded(to, "SIZE", low, high, parseSize, formatSize)
}

// memoryKind is the kind of a memory limit; auto: 0.
func memoryKind(to *int64) kind {
	const auto = "auto"
	k := sizeKind(to, memoryLimitMin, math.MaxInt64).(kindOf[int64])
	inRange := k.valid
	k.parse = func(text string) (int64, error) {
		if text == auto {
			return 0, nil
		}
		return parseSize(text)
	}
	k.format = func(n int64) string {
		if n == 0 {
			return auto
		}
		return formatSize(n)
	}
	k.valid = func(n int64) error {
		if n == 0 {
			return nil
		}
		return inRange(n)
	}
	return k
}

func fractionKind(to *float64, low, high float64) kind {
	return bounded(to, "FRACTION", low, high, func(text string) (float64, error) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("%s is not a number", quoted(text))
		}
		return f, nil
	}, func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) })
}

func parseWhole(text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is out of range", quoted(text))
	case err != nil:
		return 0, fmt.Errorf("%s is not a whole number", quoted(text))
	}
	return n, nil
}

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

func levelKind(to *slog.Level) kind {
	return kindOf[slog.Level]{to, "LEVEL", func(text string) (slog.Level, error) {
		level, known := levels[strings.ToLower(text)]
		if !known {
			return 0, fmt.Errorf("unknown value %s", quoted(text))
		}
		return level, nil
	}, func(l slog.Level) string { return strings.ToLower(l.String()) }, func(slog.Level) error { return nil }}
}

// boolKind is the kind of a switch.
func boolKind(to *bool) kind {
	return kindOf[bool]{to, "true|false", func(text string) (bool, error) {
		if text != "true" && text != "false" {
			return false, fmt.Errorf("unknown value %s", quoted(text))
		}
		return text == "true", nil
	}, strconv.FormatBool, func(bool) error { return nil }}
}

// rateKind is the kind of a rate limit; none: no limit.
func rateKind(to *rota.Rate) kind {
	return kindOf[rota.Rate]{to, "RATE", parseRate, formatRate, checkRate}
}

func parseRate(text string) (r rota.Rate, err error) {
	if text == unset {
		return r, nil
	}
	count, per, found := strings.Cut(text, "/")
	if !found {
		return r, fmt.Errorf("%s is not a rate", quoted(text))
	}
	if err := wholeKind(&r.Count, 1, rateMax).Set(strings.TrimSpace(count)); err != nil {
		return r, fmt.Errorf("the count: %w", err)
	}
	if err := durationKind(&r.Per, rota.RatePerMin, ratePeriods).Set(strings.TrimSpace(per)); err != nil {
		return r, fmt.Errorf("the time: %w", err)
	}
	return r, nil
}

func formatRate(r rota.Rate) string {
	if r == (rota.Rate{}) {
		return unset
	}
	return fmt.Sprintf("%d/%s", r.Count, formatDuration(r.Per))
}

func checkRate(r rota.Rate) error {
	if r != (rota.Rate{}) && (r.Count < 1 || r.Count > rateMax || r.Per < rota.RatePerMin || r.Per > ratePeriods) {
		return fmt.Errorf("%d/%s is out of range", r.Count, r.Per)
	}
	return nil
}

// quoted quotes the text of a value and shortens a long one.
func quoted(text string) string {
	const shown = 64
	if len(text) > shown {
		return strconv.Quote(strings.ToValidUTF8(text[:shown], "")) + "…"
	}
	return strconv.Quote(text)
}

// parseDuration parses durations as all of Rota does; 0 needs no unit.
func parseDuration(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	d, err := rota.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s is not a duration", quoted(text))
	}
	return d, nil
}

func formatDuration(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return rota.FormatDuration(d)
}

// units are the units of sizes. formatSize uses the first that divides the size.
var units = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
}

// parseSize parses a whole number of bytes, or of a unit.
func parseSize(text string) (int64, error) {
	count, size := text, int64(1)
	for _, unit := range units {
		if before, ok := strings.CutSuffix(text, unit.name); ok {
			count, size = strings.TrimSpace(before), unit.bytes
			break
		}
	}
	n, err := strconv.ParseInt(count, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && (n > math.MaxInt64/size || n < 0):
		return 0, fmt.Errorf("%s is out of range", quoted(text))
	case err != nil:
		return 0, fmt.Errorf("%s is not a size", quoted(text))
	}
	return n * size, nil
}

func formatSize(size int64) string {
	for _, unit := range units {
		if size >= unit.bytes && size%unit.bytes == 0 {
			return strconv.FormatInt(size/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(size, 10) + "B"
}
