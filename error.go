package rota

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// Code is the class of an error. Each user-facing interface has one table that maps
// codes to HTTP statuses, SQLSTATEs or exit codes.
type Code string

// The closed set of codes.
const (
	Invalid     Code = "invalid"     // the request is wrong; Field names the field
	NotFound    Code = "not_found"   // the object does not exist
	Conflict    Code = "conflict"    // the state of the object does not allow this
	Denied      Code = "denied"      // the actor has no right to do this
	LeaseLost   Code = "lease_lost"  // the caller does not hold the lease of the run
	Busy        Code = "busy"        // in use; may succeed later
	Unavailable Code = "unavailable" // the store cannot be reached or written; the result is unknown
	Internal    Code = "internal"    // a defect of Rota, or a damaged file
)

// Codes lists every code. Tests use it to prove that a table of codes is complete.
var Codes = []Code{Invalid, NotFound, Conflict, Denied, LeaseLost, Busy, Unavailable, Internal}

// Error is the only error type that crosses package borders. Its text names the
// object, the reason and the remedy.
type Error struct {
	Code   Code   `wire:"1"` // class of the error
	Act    string `wire:"2"` // what failed: a verb, or a package and a verb
	Field  string `wire:"3"` // with Invalid: path of the field, such as jobs[3].type
	Reason string `wire:"4"` // what is wrong
	Hint   string `wire:"5"` // remedy; may be empty
	Err    error  `wire:"6"` // cause; may be nil
}

// Error returns "act: field: reason: cause; hint".
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

// CodeOf returns the code of the first Error in the chain of err, or an empty code for
// nil. An ended context is Unavailable. Any other error is Internal.
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

// Invalidf returns an Invalid error for a field.
func Invalidf(field, format string, args ...any) *Error {
	return &Error{Code: Invalid, Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Errorf returns an error of any code. It wraps the operands of %w.
func Errorf(code Code, act, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	switch err.(type) {
	case interface{ Unwrap() error }, interface{ Unwrap() []error }:
		return &Error{Code: code, Act: act, Err: err}
	}
	return &Error{Code: code, Act: act, Reason: err.Error()}
}

// quote quotes a value for an error and truncates a long one.
func quote(value string) string {
	const shown = 64
	if len(value) > shown {
		return strconv.Quote(value[:shown]) + "…"
	}
	return strconv.Quote(value)
}
