package translate

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// Function is a function that the texts for SQLite call in addition to those of SQLite. Its
// arguments and results are int64, float64, string, []byte or nil. The result depends only on
// the arguments.
type Function struct {
	Name string
	Args int // number of arguments; -1: any number
	Call func(args []any) (any, error)
}

// Functions are the functions of this package that the texts call. The texts also call
// functions of SQLite, and functions that the caller must provide: now(), and two for each
// kind of catalogue ids, such as rota_regclass(text) and rota_regclass_text(id). Aggregates that keep their input call rota_weigh(n) for each value of n bytes,
// which returns true. A caller that limits the memory of a query replaces it by a function
// that counts the bytes, and declares it as not deterministic.
var Functions = collect(compareFunctions, castFunctions, numberFunctions, textFunctions, regexFunctions, timeFunctions, zoneFunctions, formatFunctions, arrayFunctions, aggregateFunctions, documentFunctions)

func collect(lists ...[]Function) (all []Function) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// strict declares a function that returns NULL if any argument is NULL.
func strict(name string, args int, f func(a arguments) any) Function {
	return withNulls(name, args, func(a arguments) any {
		if slices.Contains(a, nil) {
			return nil
		}
		return f(a)
	})
}

// withNulls declares a function that also receives NULL arguments.
func withNulls(name string, args int, f func(a arguments) any) Function {
	return Function{name, args, func(list []any) (v any, err error) {
		defer catch(&err)
		return f(list), nil
	}}
}

// arguments are the arguments of a function.
type arguments []any

func (a arguments) text(i int) string { return asText(a[i]) }

func (a arguments) kind(i int) kind.Kind { return kind.Kind(asText(a[i])) }

// real is an argument as a number, like SQLite converts texts.
func (a arguments) real(i int) float64 { return realOf(a[i]) }

func realOf(v any) float64 {
	switch v := scalarOf(v).(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case string:
		f, _ := strconv.ParseFloat(strings.TrimSpace(v), 64) // SQLite calculates so, too
		return f
	}
	return 0
}

func (a arguments) int(i int) int64 {
	if n, is := a[i].(int64); is {
		return n
	}
	f := a.real(i)
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

func (a arguments) array(i int) []any { return decodeArray(asText(a[i])) }

// boolean returns the stored form of a boolean.
func boolean(is bool) any {
	if is {
		return int64(1)
	}
	return int64(0)
}

// valueMax limits the size of a text result in bytes.
const valueMax = 4 << 20

func checkLength(text string) any {
	if len(text) > valueMax {
		panic(tooLong())
	}
	return text
}

func tooLong() *Error { return valueError(StateLimit, "value exceeds the limit of %d bytes", valueMax) }

// castFunctions parse and format values.
var castFunctions = []Function{
	strict("rota_read", 2, func(a arguments) any { return parseIn(time.UTC, a.kind(0), a.text(1)) }),
	strict("rota_read", 3, func(a arguments) any { return parseIn(a.zone(2), a.kind(0), a.text(1)) }),
	strict("rota_text", 2, asWritten),
	strict("rota_text", 3, asWritten),
	strict("rota_int", 2, func(a arguments) any { return toInteger(a[0], a.kind(1)) }),
	strict("rota_jsonb", 1, func(a arguments) any { return normalizeJSON(a.text(0), false) }),
	strict("rota_json_same", 1, func(a arguments) any { return canonicalJSON(a.text(0)) }),
	strict("rota_array_cast", 3, arrayCast),
	strict("rota_array_cast", 4, arrayCast),
	withNulls("rota_many", 1, func(arguments) any {
		panic(valueError(StateManyRows, "more than one row returned by a subquery used as an expression").WithHint("add LIMIT 1, or a condition that matches one row"))
	}),
}

func asWritten(a arguments) any {
	if a.kind(0) == kind.Boolean {
		return map[bool]string{true: "true", false: "false"}[a.int(1) != 0]
	}
	return formatIn(a.zone(2), a.kind(0), a[1])
}

// toInteger rounds to the nearest integer, halves to even.
func toInteger(v any, k kind.Kind) any {
	switch v := v.(type) {
	case int64:
		return inRange(k, v)
	case float64:
		f := math.RoundToEven(v)
		if math.IsNaN(f) || f >= math.MaxInt64 || f < math.MinInt64 {
			panic(valueError(StateRange, "%s out of range", typeTitle(k)))
		}
		return inRange(k, int64(f))
	}
	return parseIn(time.UTC, k, asText(v))
}

func arrayCast(a arguments) any {
	list := a.array(0)
	zone := a.zone(3)
	for i, v := range list {
		if v == nil {
			continue
		}
		list[i] = castOne(scalarOf(v), a.kind(1), a.kind(2), zone)
	}
	return encode(list)
}

func castOne(v any, from, to kind.Kind, zone *time.Location) any {
	if isInteger(to) && categoryOf(from) == categoryNumber {
		if f, is := v.(float64); is && from == kind.Numeric {
			v = math.Round(f)
		}
		return toInteger(v, to)
	}
	if categoryOf(to) == categoryNumber && categoryOf(from) == categoryNumber {
		return v
	}
	text := formatIn(zone, from, v)
	if from == kind.Boolean {
		text = map[string]string{"t": "true", "f": "false"}[text]
	}
	return parseIn(zone, to, text)
}
