package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/cron"
)

// The exit codes. Scripts depend on them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotClean    = 3
	exitNotFound    = 4
	exitDenied      = 5
	exitUnavailable = 6
)

// exitCodes maps the code of a rota.Error to an exit code.
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

// exitError is an error with an exit code and a hint for the user.
type exitError struct {
	code   int
	hint   string
	err    error
	fields []string // fields that the server refused

	reasons []string // reason for each field, in the same order

	statement *api.Problem // problem of a SQL statement; nil for other requests
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as a usage error, unless it already has an exit code.
func usage(err error, hint string) error {
	var coded *exitError
	if errors.As(err, &coded) {
		return err
	}
	return &exitError{code: exitUsage, hint: hint, err: errors.New(shortened(err.Error()))}
}

// usagef creates a usage error with a hint.
func usagef(hint, message string, args ...any) error {
	return failf(exitUsage, hint, message, args...)
}

// failf creates an error with an exit code and a hint.
func failf(code int, hint, message string, args ...any) error {
	return &exitError{code: code, hint: hint, err: fmt.Errorf(message, args...)}
}

// exitCode maps an error to the exit code. It is the only place that does.
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

// report prints an error and, on a line of its own, its hint.
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

// usageMax is the longest usage message in bytes. Messages repeat arguments, which may be long.
const usageMax = 200

// shortened cuts the middle out of a long message, since its end names what is allowed, and replaces control
// characters, which the terminal would interpret.
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
