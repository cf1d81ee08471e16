package dialect

import (
	"fmt"
	"strings"

	"github.com/rotajobs/rota/console/kind"
	"github.com/rotajobs/rota/internal/suggest"
)

// The states of SQL that a query is refused with.
const (
	StateTable          = "42P01"
	StateColumn         = "42703"
	StateAmbiguous      = "42702"
	StateAlias          = "42712" // two sources of one name
	StateFunction       = "42883"
	StateMismatch       = "42804"
	StateGrouping       = "42803"
	StateWindow         = "42P20"
	StatePosition       = "42P10"
	StateBadText        = "22P02"
	StateBadTime        = "22007"
	StateRange          = "22003"
	StateTimeRange      = "22008" // a time beyond all times
	StateDivisionByZero = "22012"
	StateValue          = "22023"
	StateParameter      = "42P02"
	StateObject         = "42704"
	StateSyntax         = "42601"
	StateRecursion      = "42P19"
	StateUnsupported    = "0A000"
	StateLimit          = "54000"
	StatePattern        = "2201B"
	StateManyRows       = "21000" // rows where one is wanted
)

// Error is why a query has no meaning, or why a function has no answer.
type Error struct {
	State   string // SQLSTATE
	Message string
	Hint    string
	Offset  int // position in the query, in bytes; -1: none
}

// Error is the message with its hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// queryError makes an error that has a place in the query.
func queryError(state string, at int, format string, args ...any) *Error {
	return &Error{State: state, Offset: at, Message: fmt.Sprintf(format, args...)}
}

// valueError makes an error of a value, which has a place only if somebody gives it one.
func valueError(state, format string, args ...any) *Error {
	return queryError(state, -1, format, args...)
}

// withHint gives an error its remedy.
func (e *Error) withHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// withOffset gives the error of a value the place where the value stands.
func withOffset(err error, at int) error {
	e, ours := err.(*Error)
	if !ours || e.Offset >= 0 {
		return err
	}
	there := *e
	there.Offset = at
	return &there
}

// unsupported is for what PostgreSQL has and we do not.
func unsupported(at int, format string, args ...any) *Error {
	return queryError(StateUnsupported, at, format, args...)
}

// badText says that a text is not of a kind.
func badText(k kind.Kind, text string) *Error {
	return valueError(StateBadText, "invalid input syntax for type %s: %q", typeTitle(k), shorten(text))
}

// typeTitle is what PostgreSQL calls a kind in its messages.
func typeTitle(k kind.Kind) string {
	if elem, is := strings.CutSuffix(string(k), "[]"); is {
		return typeTitle(kind.Kind(elem)) + "[]"
	}
	switch k {
	case kind.Unknown:
		return "unknown"
	case dynamic:
		return "any"
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

// shorten is a text that fits into a message.
func shorten(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// suggestion is a hint to the name that was probably meant, else to all there are.
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
