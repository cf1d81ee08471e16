package rota

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// Code says what kind of thing went wrong. Each face maps it, in one table, to
// an HTTP status, an SQLSTATE or an exit code.
type Code string

// The closed set of codes.
const (
	Invalid     Code = "invalid"     // the request itself is wrong; Field names where
	NotFound    Code = "not_found"   // what it names is not there
	Conflict    Code = "conflict"    // it is there, but in a state that forbids this
	Denied      Code = "denied"      // the actor may not do this
	LeaseLost   Code = "lease_lost"  // the run belongs to nobody, or to somebody else
	Busy        Code = "busy"        // held by another just now; may succeed later
	Unavailable Code = "unavailable" // the store cannot be reached or written; nothing was decided
	Internal    Code = "internal"    // a promise was broken; always a defect or a damaged file
)

// Codes lists every code, so that a face can prove its table complete.
var Codes = []Code{Invalid, NotFound, Conflict, Denied, LeaseLost, Busy, Unavailable, Internal}

// Error is the one error type that crosses package borders. What a person
// reads names the thing, the reason and what to do next.
type Error struct {
	Code   Code   // what kind
	Act    string // what was being done: a verb, or a package and a verb
	Field  string // with Invalid: the field, as a path such as jobs[3].type
	Reason string // what is wrong, in words
	Hint   string // what to do about it; may be empty
	Err    error  // the cause, if another error is
}

// Error reads as "act: field: reason: cause; hint".
func (e *Error) Error() string {
	text := ""
	for _, part := range []string{e.Act, e.Field, e.Reason} {
		if part != "" {
			text = join(text, part)
		}
	}
	if e.Err != nil {
		text = join(text, e.Err.Error())
	}
	if text == "" {
		text = string(e.Code)
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

func join(left, right string) string {
	if left == "" {
		return right
	}
	return left + ": " + right
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first Error in err's chain, and the empty code
// for a nil error. A context that ended is Unavailable: nothing was decided.
// Any other error is Internal.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return Unavailable
	}
	return Internal
}

// Invalidf refuses a field with a reason.
func Invalidf(field, format string, args ...any) *Error {
	return &Error{Code: Invalid, Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Errorf makes an error of any code. Causes given for %w are kept.
func Errorf(code Code, act, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	switch err.(type) {
	case interface{ Unwrap() error }, interface{ Unwrap() []error }:
		return &Error{Code: code, Act: act, Err: err}
	}
	return &Error{Code: code, Act: act, Reason: err.Error()}
}

// quote shows a bad value in an error without letting it flood the reader.
func quote(value string) string {
	const shown = 64
	if len(value) > shown {
		return strconv.Quote(value[:shown]) + "…"
	}
	return strconv.Quote(value)
}
