package pgwire

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// epoch is the zero of PostgreSQL's binary times.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Formats in which the console stores times. Fractions are parsed with each of them.
var (
	stampLayouts = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"}
	dateLayouts  = []string{"2006-01-02"}
	timeLayouts  = []string{"15:04:05", "15:04"}
)

// moment parses a time. The result infinite is 1 or -1 for infinity and -infinity.
func moment(value any, k kind.Kind, layouts []string) (t time.Time, infinite int, err error) {
	text, is := value.(string)
	if !is {
		return t, 0, wrongType(value, k)
	}
	switch text {
	case "infinity":
		return t, 1, nil
	case "-infinity":
		return t, -1, nil
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), 0, nil
		}
	}
	return t, 0, errorf(stateData, "", "text %.40q is not a valid %s", text, k)
}

// momentText formats a time, or returns the text of an infinite one.
func momentText(dst []byte, value any, k kind.Kind, layouts []string, write func([]byte, time.Time) []byte) ([]byte, error) {
	t, infinite, err := moment(value, k, layouts)
	if err != nil || infinite != 0 {
		text, _ := value.(string)
		return append(dst, text...), err
	}
	return write(dst, t), nil
}

func stampText(dst []byte, value any, v *formatSettings) ([]byte, error) {
	return momentText(dst, value, kind.Timestamp, stampLayouts, func(dst []byte, t time.Time) []byte {
		if v.zone != nil {
			t = t.In(v.zone)
		}
		return appendOffset(t.AppendFormat(dst, "2006-01-02 15:04:05.999999"), t)
	})
}

// appendOffset appends the offset from UTC without its zero parts.
func appendOffset(dst []byte, t time.Time) []byte {
	_, offset := t.Zone()
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	dst = fmt.Appendf(dst, "%c%02d", sign, offset/3600)
	if offset%3600 != 0 {
		dst = fmt.Appendf(dst, ":%02d", offset/60%60)
	}
	if offset%60 != 0 {
		dst = fmt.Appendf(dst, ":%02d", offset%60)
	}
	return dst
}

func localText(dst []byte, value any, _ *formatSettings) ([]byte, error) {
	return momentText(dst, value, kind.Local, stampLayouts, func(dst []byte, t time.Time) []byte {
		return t.AppendFormat(dst, "2006-01-02 15:04:05.999999")
	})
}

func dateText(dst []byte, value any, _ *formatSettings) ([]byte, error) {
	return momentText(dst, value, kind.Date, append(dateLayouts, stampLayouts...), func(dst []byte, t time.Time) []byte {
		return t.AppendFormat(dst, "2006-01-02")
	})
}

func timeText(dst []byte, value any, _ *formatSettings) ([]byte, error) {
	return momentText(dst, value, kind.Time, timeLayouts, func(dst []byte, t time.Time) []byte {
		return t.AppendFormat(dst, "15:04:05.999999")
	})
}

// microsBinary writes the microseconds since epoch.
func microsBinary(k kind.Kind) encoder {
	return func(dst []byte, value any, _ *formatSettings) ([]byte, error) {
		t, infinite, err := moment(value, k, stampLayouts)
		n := t.UnixMicro() - epoch.UnixMicro()
		switch infinite {
		case 1:
			n = math.MaxInt64
		case -1:
			n = math.MinInt64
		}
		return binary.BigEndian.AppendUint64(dst, uint64(n)), err
	}
}

// span is an interval. Months and days have no fixed length, so the parts stay separate.
type span struct {
	months, days, micros int64
}

// spanOf parses an interval as the console stores it.
func spanOf(value any) (s span, err error) {
	text, is := value.(string)
	if !is {
		return s, wrongType(value, kind.Interval)
	}
	if n, err := fmt.Sscanf(text, "%d %d %d", &s.months, &s.days, &s.micros); err != nil || n != 3 {
		return s, errorf(stateData, "", "text %.40q is not a valid %s", text, kind.Interval)
	}
	return s, nil
}

func intervalText(dst []byte, value any, _ *formatSettings) ([]byte, error) {
	s, err := spanOf(value)
	if err != nil {
		return dst, err
	}
	return s.append(dst), nil
}

// append formats an interval like PostgreSQL: a part after a negative one has a sign, and zero
// parts are omitted.
func (s span) append(dst []byte) []byte {
	start, before := len(dst), false
	for _, part := range []struct {
		n    int64
		unit string
	}{{s.months / 12, "year"}, {s.months % 12, "mon"}, {s.days, "day"}} {
		if part.n == 0 {
			continue
		}
		dst = appendPart(dst, start, before, part.n)
		dst = append(append(dst, ' '), part.unit...)
		if part.n != 1 {
			dst = append(dst, 's')
		}
		before = part.n < 0
	}
	if s.micros != 0 || len(dst) == start {
		dst = appendClock(dst, start, before, s.micros)
	}
	return dst
}

func appendPart(dst []byte, start int, before bool, n int64) []byte {
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	if before && n > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, n, 10)
}

func appendClock(dst []byte, start int, before bool, micros int64) []byte {
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	left := uint64(micros)
	switch {
	case micros < 0:
		dst, left = append(dst, '-'), -left
	case before:
		dst = append(dst, '+')
	}
	dst = fmt.Appendf(dst, "%02d:%02d:%02d", left/3600e6, left/60e6%60, left/1e6%60)
	if fraction := left % 1e6; fraction != 0 {
		dst = append(dst, strings.TrimRight(fmt.Sprintf(".%06d", fraction), "0")...)
	}
	return dst
}
