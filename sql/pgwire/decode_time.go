package pgwire

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// layoutOf are the formats of times that the console reads.
var layoutOf = map[kind.Kind]string{
	kind.Timestamp: "2006-01-02T15:04:05.000000Z", kind.Local: "2006-01-02T15:04:05.000000",
	kind.Date: "2006-01-02", kind.Time: "15:04:05.000000",
}

func momentFromBinary(k kind.Kind, raw []byte) (any, error) {
	switch k {
	case kind.Date:
		n := int32(binary.BigEndian.Uint32(raw))
		if n == math.MaxInt32 || n == math.MinInt32 {
			return infinity(n > 0), nil
		}
		return formatTime(k, epoch.AddDate(0, 0, int(n)))
	case kind.Interval:
		days, months := int32(binary.BigEndian.Uint32(raw[8:])), int32(binary.BigEndian.Uint32(raw[12:]))
		s := span{months: int64(months), days: int64(days), micros: int64(binary.BigEndian.Uint64(raw))}
		return string(s.append(nil)), nil
	}
	n := int64(binary.BigEndian.Uint64(raw))
	switch {
	case k == kind.Time && (n < 0 || n >= 86400e6):
		return nil, badBinary(k)
	case k == kind.Time:
		return time.UnixMicro(n).UTC().Format(layoutOf[k]), nil
	case n == math.MaxInt64 || n == math.MinInt64:
		return infinity(n > 0), nil
	case n > math.MaxInt64/2 || n < math.MinInt64/2:
		return nil, errorf(stateRange, "", "%s out of range", k)
	}
	return formatTime(k, time.UnixMicro(epoch.UnixMicro()+n).UTC())
}

func infinity(up bool) string {
	if up {
		return "infinity"
	}
	return "-infinity"
}

// formatTime formats a time for the console. Texts sort correctly only if the year has four
// digits.
func formatTime(k kind.Kind, t time.Time) (any, error) {
	if t.Year() < 0 || t.Year() > 9999 {
		return nil, errorf(stateRange, "use a year from 0 to 9999", "%s out of range", k)
	}
	return t.Format(layoutOf[k]), nil
}
