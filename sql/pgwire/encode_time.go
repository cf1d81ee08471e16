package pgwire

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// epoch is the zero of PostgreSQL's binary times.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// stampLayouts are the formats in which the console stores times. Fractions are parsed with each
// of them.
var stampLayouts = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"}

// moment parses a time. The result infinite is 1 or -1 for infinity and -infinity.
func moment(value any, k kind.Kind) (t time.Time, infinite int, err error) {
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
	for _, layout := range stampLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), 0, nil
		}
	}
	return t, 0, errorf(stateData, "", "text %.40q is not a valid %s", text, k)
}

// momentText formats a time, or returns the text of an infinite one.
func momentText(dst []byte, value any, k kind.Kind, write func([]byte, time.Time) []byte) ([]byte, error) {
	t, infinite, err := moment(value, k)
	if err != nil || infinite != 0 {
		text, _ := value.(string)
		return append(dst, text...), err
	}
	return write(dst, t), nil
}

func stampText(dst []byte, value any, v *formatSettings) ([]byte, error) {
	return momentText(dst, value, kind.Timestamp, func(dst []byte, t time.Time) []byte {
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
	return momentText(dst, value, kind.Local, func(dst []byte, t time.Time) []byte {
		return t.AppendFormat(dst, "2006-01-02 15:04:05.999999")
	})
}

// microsBinary writes the microseconds since epoch.
func microsBinary(k kind.Kind) encoder {
	return func(dst []byte, value any, _ *formatSettings) ([]byte, error) {
		t, infinite, err := moment(value, k)
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
