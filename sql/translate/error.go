package translate

import (
	"fmt"
	"strings"

	"github.com/rotajobs/rota/internal/suggest"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// SQLSTATE codes of errors of queries.
const (
	StateTable          = "42P01"
	StateColumn         = "42703"
	StateAmbiguous      = "42702"
	StateAlias          = "42712" // duplicate table name
	StateFunction       = "42883"
	StateMismatch       = "42804"
	StateGrouping       = "42803"
	StateWindow         = "42P20"
	StatePosition       = "42P10"
	StateBadText        = "22P02"
	StateBadTime        = "22007"
	StateRange          = "22003"
	StateTimeRange      = "22008" // time out of range
	StateDivisionByZero = "22012"
	StateValue          = "22023"
	StateParameter      = "42P02"
	StateObject         = "42704"
	StateSyntax         = "42601"
	StateUnsupported    = "0A000"
	StateLimit          = "54000"
	StatePattern        = "2201B"
	StateEncoding       = "22021" // bytes that are no text in an encoding
	StateManyRows       = "21000" // several rows where one is expected
)

// Error is an error of a query or of a function.
type Error = query.Error

// queryError creates an error with a position in the query.
func queryError(state string, at int, format string, args ...any) *Error {
	return &Error{State: state, Offset: at, Message: fmt.Sprintf(format, args...)}
}

// valueError creates an error of a value. Its position is that of the current expression.
func valueError(state, format string, args ...any) *Error {
	return queryError(state, -1, format, args...)
}

// catch returns the error that a panic carries. Errors inside this package are panics with an *Error, because returning
// an error from every step would double the length of the translator; package query does the same.
func catch(err *error) {
	switch failure := recover().(type) {
	case nil:
	case *Error:
		*err = failure
	default:
		panic(failure)
	}
}

// unsupported is the error of a PostgreSQL feature that this package does not support.
func unsupported(at int, format string, args ...any) *Error {
	return queryError(StateUnsupported, at, format, args...)
}

// badText is the error of a text that is not a value of the kind.
func badText(k kind.Kind, text string) *Error {
	return valueError(StateBadText, "invalid input syntax for type %s: %q", typeTitle(k), shorten(text))
}

// typeTitle is PostgreSQL's name of a kind in messages.
func typeTitle(k kind.Kind) string {
	if elem, is := strings.CutSuffix(string(k), "[]"); is {
		return typeTitle(kind.Kind(elem)) + "[]"
	}
	switch k {
	case kind.Unknown:
		return "unknown"
	case kind.Timestamp:
		return "timestamp with time zone"
	case kind.Local:
		return "timestamp without time zone"
	case kind.Time:
		return "time without time zone"
	case kind.Varchar:
		return "character varying"
	case kind.BPChar:
		return "character"
	}
	return string(k)
}

// shorten cuts a text for a message.
func shorten(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// suggestion returns a hint with the nearest name, or else with all names.
func suggestion(word, what string, candidates []string) string {
	if meant := suggest.Nearest(word, candidates); meant != "" {
		return "did you mean " + meant + "?"
	}
	const most = 60
	switch {
	case len(candidates) == 0:
		return ""
	case len(candidates) > most:
		return what + " " + strings.Join(candidates[:most], ", ") + ", …"
	}
	return what + " " + strings.Join(candidates, ", ")
}
