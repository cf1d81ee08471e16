package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
	"github.com/rotajobs/rota/httpapi"
)

// The exit codes that scripts rely on.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotClean    = 3
	exitNotFound    = 4
	exitDenied      = 5
	exitUnavailable = 6
)

// exitCodes is what each code of the store's errors exits with.
var exitCodes = map[rota.Code]int{
	rota.Invalid:     exitUsage,
	rota.NotFound:    exitNotFound,
	rota.Conflict:    exitFailed,
	rota.Denied:      exitDenied,
	rota.LeaseLost:   exitFailed,
	rota.Busy:        exitUnavailable,
	rota.Unavailable: exitUnavailable,
	rota.Internal:    exitFailed,
}

// exitError is an error that knows its exit code, and a hint for the person who reads it.
type exitError struct {
	code   int
	hint   string
	err    error
	fields []string // that a server refused, if it did

	reasons []string // why, field by field

	statement *httpapi.Problem // of SQL, if it was one
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as one of the command line, unless it says more of itself.
func usage(err error, hint string) error {
	var coded *exitError
	if errors.As(err, &coded) {
		return err
	}
	return &exitError{code: exitUsage, hint: hint, err: errors.New(shortened(err.Error()))}
}

// usagef is usage for a message of our own, with a hint of its own.
func usagef(hint, message string, args ...any) error {
	return &exitError{code: exitUsage, hint: hint, err: fmt.Errorf(message, args...)}
}

// exitCode is the one table from errors to exit codes.
func exitCode(err error) int {
	var coded *exitError
	var expression *cron.Error
	var refusal *rota.Error
	var statement *statementError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &statement):
		return statement.exit()
	case errors.As(err, &expression):
		return exitUsage
	case errors.As(err, &refusal):
		return exitCodes[refusal.Code]
	}
	return exitFailed
}

// report tells a person what went wrong and, on a line of its own, what to do about it.
func report(w io.Writer, err error) {
	if err == nil {
		return
	}
	var statement *statementError
	if errors.As(err, &statement) {
		statement.write(w)
		return
	}
	message, hint := err.Error(), ""
	var coded *exitError
	var expression *cron.Error
	var refusal *rota.Error
	switch {
	case errors.As(err, &coded):
		hint = coded.hint
	case errors.As(err, &refusal):
		bare := *refusal
		bare.Hint = ""
		message, hint = bare.Error(), refusal.Hint
	case errors.As(err, &expression):
		bare := *expression
		bare.Remedy = ""
		message, hint = bare.Error(), expression.Remedy
	}
	fmt.Fprintf(w, "rota: %s\n", message)
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
}

// usageMax bounds a message about the command line, which repeats what was typed.
const usageMax = 200

// shortened cuts the middle out of a message that is too long, since its end says what is allowed, and keeps control
// characters from the terminal.
func shortened(message string) string {
	if len(message) > usageMax {
		message = strings.ToValidUTF8(message[:60]+"..."+message[len(message)-60:], "?")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, message)
}
