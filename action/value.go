package action

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"time"
)

// number is the text of a number as JSON number, or as text if JSON cannot represent
// it, such as NaN.
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

// timeLayouts are the formats of a time with a zone.
var timeLayouts = []string{"2006-01-02 15:04:05.999999999-07", "2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05.999999999-07:00:00"}

// zonedTime is a time with a zone as RFC 3339 in UTC, or the text if RFC 3339
// cannot represent it, such as infinity.
func zonedTime(text string) any {
	for _, layout := range timeLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return validText([]byte(text))
}

// localTime is a time without a zone in the format of RFC 3339.
func localTime(text string) any {
	const layout = "2006-01-02 15:04:05.999999999"
	if _, err := time.Parse(layout, text); err == nil {
		return strings.Replace(text, " ", "T", 1)
	}
	return validText([]byte(text))
}
