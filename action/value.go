package action

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"time"
)

// number is a number as its database wrote it, or the text if JSON has no such
// number, as for NaN.
func number(text string) any {
	if n := json.Number(text); json.Valid([]byte(text)) && text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') {
		return n
	}
	return validText([]byte(text))
}

func floatValue(f float64) any {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return f
}

func bytesValue(b []byte) any { return `\x` + hex.EncodeToString(b) }

// timeLayouts are how servers write a time with a zone.
var timeLayouts = []string{"2006-01-02 15:04:05.999999999-07", "2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05.999999999-07:00:00"}

// zonedTime is a time with a zone as RFC 3339 in UTC, or the text if it is beyond
// what that can say, as infinity is.
func zonedTime(text string) any {
	for _, layout := range timeLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return validText([]byte(text))
}

// localTime is a time that has no zone, and gets none.
func localTime(text string) any {
	const layout = "2006-01-02 15:04:05.999999999"
	if _, err := time.Parse(layout, text); err == nil {
		return strings.Replace(text, " ", "T", 1)
	}
	return validText([]byte(text))
}
