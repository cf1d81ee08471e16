package console

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/console/sys"
	"github.com/rotajobs/rota/ddl"
)

// The states of SQL that statements end with.
const (
	StateSyntax       = "42601"
	StateUnknown      = "42704"
	StateDuplicate    = "42710"
	StateDenied       = "42501"
	StateBadValue     = "22023"
	StateNotSupported = "0A000"
	StateNoProcedure  = "42883"
	StateNotNow       = "55000" // the thing is not in a state for that
	StateBusy         = "55P03"
	StateConflict     = "40001" // somebody else changed it meanwhile
	StateLimit        = "54000"
	StateCancelled    = "57014"
	StateUnavailable  = "57P03"
	StateInternal     = "XX000"
	StateInFailed     = "25P02" // the transaction has failed before
	StateNested       = "25001"
	StateNoBlock      = "25P01" // it is for transactions
	StateNoSavepoint  = "3B001"
	StateFixed        = "55P02" // the setting cannot be changed
	StateReadOnly     = "25006"
	StateNoParams     = "08P01"
)

// Error is why a statement was not done. Nothing of it was.
type Error struct {
	State    string // SQLSTATE
	Message  string
	Hint     string
	Position int // in characters of the whole text, from 1; 0: none
	Line     int // from 1; 0: none
	Column   int // in characters
	Err      error
}

// Error reads as "message; hint (SQLSTATE)".
func (e *Error) Error() string {
	text := e.Message
	if e.Line > 0 {
		text = fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, text)
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text + " (" + e.State + ")"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// refuse makes an error of a state.
func refuse(state, hint, format string, args ...any) *Error {
	return &Error{State: state, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// states are the SQLSTATE of each code.
var states = map[rota.Code]string{
	rota.Invalid: StateBadValue, rota.NotFound: StateUnknown, rota.Conflict: StateNotNow, rota.Denied: StateDenied,
	rota.LeaseLost: StateNotNow, rota.Busy: StateBusy, rota.Unavailable: StateUnavailable, rota.Internal: StateInternal,
}

// asError is any error as one of this package, about a statement that begins at an
// offset of a text.
func asError(err error, text string, offset int) *Error {
	var own *Error
	var syntax *ddl.Error
	var query *sys.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &syntax):
		e := &Error{State: syntax.State, Message: bare(syntax), Hint: syntax.Hint, Err: err}
		return e.place(text, offset+syntax.Offset)
	case errors.As(err, &query):
		e := &Error{State: query.State, Message: query.Message, Hint: query.Hint, Err: err}
		if query.Offset >= 0 {
			e.place(text, offset+query.Offset)
		}
		return e
	case errors.Is(err, context.Canceled):
		return &Error{State: StateCancelled, Message: "the statement was cancelled", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{State: StateCancelled, Message: "the statement took too long", Err: err}
	}
	return ofStore(err)
}

// bare is the message of a syntax error without its place and its hint, which have
// fields of their own.
func bare(e *ddl.Error) string {
	plain := *e
	plain.Hint = ""
	_, text, _ := strings.Cut(plain.Error(), ": ")
	return text
}

// place fills in where in a text something stands.
func (e *Error) place(text string, offset int) *Error {
	before := text[:min(max(offset, 0), len(text))]
	e.Position = utf8.RuneCountInString(before) + 1
	e.Line = strings.Count(before, "\n") + 1
	e.Column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return e
}

// inMember is how a store names the part of an All that it refuses.
var inMember = regexp.MustCompile(`^members\[\d+\]\.?`)

// ofStore is the refusal of a store in the words of SQL.
func ofStore(err error) *Error {
	var e *rota.Error
	if !errors.As(err, &e) {
		return &Error{State: StateInternal, Message: err.Error(), Err: err}
	}
	field := inMember.ReplaceAllString(e.Field, "")
	state := states[e.Code]
	if strings.HasPrefix(field, "depends_on") && e.Code == rota.Conflict {
		state = StateBadValue
	}
	plain := *e
	plain.Act, plain.Field, plain.Hint = "", clauseOf(field), ""
	return &Error{State: state, Message: inWords(plain.Error()), Hint: inWords(e.Hint), Err: err}
}

var aSchedule = regexp.MustCompile(`\bschedule\b`)

// inWords calls a schedule what it is called here.
func inWords(text string) string { return aSchedule.ReplaceAllString(text, "job") }

// clauses are what the fields of definitions are called here.
var clauses = map[string]string{
	"cron": "SCHEDULE", "at": "SCHEDULE AT", "every": "SCHEDULE EVERY", "starts_at": "STARTS", "ends_at": "ENDS", "timezone": "TIME ZONE",
	"depends_on": "DEPENDS ON", "max_retries": "MAX_RETRIES", "backoff": "RETRY_BACKOFF", "timeout": "TIMEOUT", "class": "CLASS",
	"on_completion": "ON COMPLETION", "catch_up": "CATCH_UP", "overlap": "OVERLAP", "priority": "PRIORITY", "params": "WITH PARAMS",
	"description": "DESCRIPTION", "name": "the name", "state": "STATE", "template": "the template",
	"job_id": "", "schedule": "", "only_schedule": "", // the reason says which
	"partition.strategy": "PARTITION BY", "partition.shards": "PARTITION BY", "partition.expression": "PARTITION BY",
}

var listed = regexp.MustCompile(`\[\d+\]$`)

// clauseOf is the clause that a field stands in.
func clauseOf(field string) string {
	plain := strings.TrimPrefix(strings.TrimPrefix(field, "spec."), "policy.")
	plain = listed.ReplaceAllString(plain, "")
	if clause, known := clauses[plain]; known {
		return clause
	}
	return field
}
