package translate

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// ParseValue parses a value in PostgreSQL's input format and returns its stored form in SQLite:
// int64, float64, string, []byte or nil. A time without a zone is in UTC.
func ParseValue(k kind.Kind, text string) (any, error) { return ParseValueIn("", k, text) }

// ParseValueIn is ParseValue for a session with a time zone.
func ParseValueIn(zone string, k kind.Kind, text string) (v any, err error) {
	defer catch(&err)
	return parseIn(sessionZone(zone), k, text), nil
}

func parseIn(zone *time.Location, k kind.Kind, text string) any {
	word := strings.TrimSpace(text)
	switch k {
	case kind.Int2, kind.Int4, kind.Integer:
		return parseInteger(k, word)
	case kind.OID, kind.XID, kind.Regclass, kind.Regtype, kind.Regproc, kind.Regspace, kind.Regrole:
		return parseOID(k, word)
	case kind.Float, kind.Float4, kind.Numeric:
		return parseReal(k, word)
	case kind.Boolean:
		return parseBoolean(text)
	case kind.UUID:
		return parseUUID(text)
	case kind.Timestamp, kind.Local, kind.Date, kind.Time:
		return parseTimeValue(k, word, zone)
	case kind.Interval:
		return parseInterval(text).stored()
	case kind.JSON, kind.PlainJSON:
		return parseDocument(k, text)
	case kind.Bytea:
		return parseBytes(text)
	case kind.Char:
		return text[:min(len(text), 1)]
	case kind.Name:
		return text[:min(len(text), 63)]
	case kind.Int2s, kind.OIDs:
		return parseVector(k, text)
	}
	if k.Elem() != kind.Unknown {
		return parseArray(k, text, zone)
	}
	return text
}

func parseInteger(k kind.Kind, word string) any {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		if isRange(err) {
			panic(outOfRange(k, word))
		}
		panic(badText(k, word))
	}
	return inRange(k, n)
}

func isRange(err error) bool {
	e, is := err.(*strconv.NumError)
	return is && e.Err == strconv.ErrRange
}

func outOfRange(k kind.Kind, word string) *Error {
	return valueError(StateRange, "value %q is out of range for type %s", shorten(word), typeTitle(k))
}

// inRange checks the range of an integer kind.
func inRange(k kind.Kind, n int64) any {
	if k == kind.Int4 && (n > math.MaxInt32 || n < math.MinInt32) || k == kind.Int2 && (n > math.MaxInt16 || n < math.MinInt16) {
		panic(valueError(StateRange, "%s out of range", typeTitle(k)).WithHint("cast to bigint"))
	}
	return n
}

func parseOID(k kind.Kind, word string) any {
	if word == "-" && k != kind.OID {
		return int64(0)
	}
	n, err := strconv.ParseUint(word, 10, 32)
	if err != nil {
		panic(badText(k, word))
	}
	return int64(n)
}

func parseReal(k kind.Kind, word string) any {
	if n, err := strconv.ParseInt(word, 10, 64); err == nil && k == kind.Numeric {
		return n
	}
	f, err := strconv.ParseFloat(word, 64)
	low := strings.ToLower(word)
	switch {
	case isRange(err) && k == kind.Numeric:
		return f
	case isRange(err):
		panic(outOfRange(k, word))
	case err != nil || strings.ContainsAny(low, "xp_"):
		panic(badText(k, word))
	case math.IsNaN(f):
		panic(valueError(StateUnsupported, "NaN is not supported").WithHint("use NULL"))
	case k == kind.Float4:
		return float64(float32(f))
	}
	return f
}

func parseBoolean(text string) any {
	word := strings.ToLower(strings.TrimSpace(text))
	is := func(of string, least int) bool { return len(word) >= least && strings.HasPrefix(of, word) }
	switch {
	case word == "1", is("true", 1), is("yes", 1), is("on", 2):
		return int64(1)
	case word == "0", is("false", 1), is("no", 1), is("off", 2):
		return int64(0)
	}
	panic(badText(kind.Boolean, text).WithHint("write true or false"))
}

func parseUUID(text string) any {
	word := strings.ToLower(text)
	if strings.HasPrefix(word, "{") && strings.HasSuffix(word, "}") {
		word = word[1 : len(word)-1]
	}
	digits := strings.ReplaceAll(word, "-", "")
	if _, err := hex.DecodeString(digits); err != nil || len(digits) != 32 {
		panic(badText(kind.UUID, text).WithHint("a uuid has 32 digits: 6f9619ff-8b86-d011-b42d-00c04fc964ff"))
	}
	return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}

func parseDocument(k kind.Kind, text string) any {
	if !json.Valid([]byte(text)) {
		panic(valueError(StateBadText, "invalid input syntax for type json").WithHint("the text is not valid JSON: %s", shorten(text)))
	}
	if k == kind.PlainJSON {
		return text
	}
	return normalizeJSON(text, false)
}

func parseBytes(text string) any {
	if !strings.Contains(text, `\`) {
		return []byte(text)
	}
	digits, isHex := strings.CutPrefix(text, `\x`)
	b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
	if err != nil || !isHex {
		panic(badText(kind.Bytea, text).WithHint(`write \x and two digits for each byte`))
	}
	return b
}

// FormatValue formats a stored value like PostgreSQL, with times in UTC. The value must not be
// NULL.
func FormatValue(k kind.Kind, v any) string { return FormatValueIn("", k, v) }

// FormatValueIn is FormatValue for a session with a time zone. A value that is not a stored value
// of the kind is formatted as it is.
func FormatValueIn(zone string, k kind.Kind, v any) string {
	text, err := CheckedFormat(zone, k, v)
	if err != nil {
		return asText(v)
	}
	return text
}

// CheckedFormat is FormatValueIn with an error for a value that is not a stored value of the kind.
func CheckedFormat(zone string, k kind.Kind, v any) (text string, err error) {
	defer catch(&err)
	return formatIn(sessionZone(zone), k, v), nil
}

func formatIn(zone *time.Location, k kind.Kind, v any) string {
	switch k {
	case kind.Boolean:
		if n, is := scalarOf(v).(int64); is && n != 0 {
			return "t"
		}
		return "f"
	case kind.Timestamp, kind.Local, kind.Date, kind.Time:
		return formatTimeValue(k, asText(v), zone)
	case kind.Interval:
		return loadInterval(asText(v)).String()
	case kind.JSON:
		return normalizeJSON(asText(v), true)
	case kind.Float, kind.Numeric, kind.Float4:
		return formatReal(k, v)
	case kind.Bytea:
		if b, is := v.([]byte); is {
			return `\x` + hex.EncodeToString(b)
		}
		return `\x` + hex.EncodeToString([]byte(asText(v)))
	case kind.Int2s, kind.OIDs:
		return formatVector(asText(v))
	case kind.Record:
		return formatRecord(asText(v))
	}
	if k.Elem() != kind.Unknown {
		return formatArray(k, asText(v), zone)
	}
	return asText(v)
}

func formatReal(k kind.Kind, v any) string {
	f, is := scalarOf(v).(float64)
	switch {
	case !is:
		return asText(v)
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0: // and not -0
		return "0"
	case k == kind.Numeric:
		return strconv.FormatFloat(RoundNumeric(f), 'f', -1, 64)
	}
	bits := 64
	if k == kind.Float4 {
		bits = 32
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e15 && bits == 64 || a >= 1e6 && bits == 32) {
		return strconv.FormatFloat(f, 'e', -1, bits)
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

// RoundNumeric returns the numeric that a calculation means: a number that differs from one of
// 15 digits only by the rounding of a calculation is that number, so that 0.1 + 0.2 is 0.3. The
// microseconds of an epoch differ by more and stay.
func RoundNumeric(f float64) float64 {
	const certain, epsilon = 15, 0x1p-52
	tolerance := 2 * epsilon * math.Abs(f)
	if math.Abs(f) >= 1e9 {
		tolerance /= 2
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', certain, 64), 64)
	if err != nil || math.IsInf(f, 0) || math.Abs(rounded-f) > tolerance {
		return f
	}
	return rounded
}

// asText is a value as a text, whatever it is.
func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []byte:
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	}
	return ""
}
