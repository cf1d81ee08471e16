package session

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/system"
)

// The states of SQL that statements end with.
const (
	StateSyntax            = "42601"
	StateUnknown           = "42704"
	StateDuplicate         = "42710"
	StateDependent         = "2BP01" // other objects depend on it
	StateDenied            = "42501"
	StateBadValue          = "22023"
	StateNotSupported      = "0A000"
	StateNoProcedure       = "42883"
	StateWrongState        = "55000" // the object is not in the required state
	StateBusy              = "55P03"
	StateConflict          = "40001" // another session changed the object meanwhile
	StateLimit             = "54000"
	StateOutOfMemory       = "53200" // results of all sessions use the memory that they may
	StateCancelled         = "57014"
	StateUnavailable       = "57P03"
	StateInternal          = "XX000"
	StateAborted           = "25P02" // an earlier statement of the transaction failed
	StateActiveTransaction = "25001"
	StateNoTransaction     = "25P01" // the statement needs a transaction
	StateNoSavepoint       = "3B001"
	StateCannotChange      = "55P02" // the setting cannot be changed
	StateReadOnly          = "25006"
	StateProtocol          = "08P01"
)

// Error states why a statement failed. The statement has no effect.
type Error struct {
	State    string // SQLSTATE
	Message  string
	Hint     string
	Position int // in characters of the whole text, from 1; 0: none
	Line     int // from 1; 0: none
	Column   int // in characters
	Err      error
	place    string // part of the statement that it is about, as ddl.Places names it; empty: none
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

// newError returns an error with a SQLSTATE.
func newError(state, hint, format string, args ...any) *Error {
	return &Error{State: state, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// at names the part of the statement that the error is about.
func (e *Error) at(place string) *Error {
	e.place = place
	return e
}

// locate sets the position of the part that the error is about, in a statement of a text.
func (e *Error) locate(text string, in span) *Error {
	if e.place == "" || e.Line > 0 {
		return e
	}
	places := ddl.Places(text[in.start:in.stop])
	offset, found := places[e.place]
	for _, clause := range []string{"SCHEDULE", "DEPENDS ON"} { // SCHEDULE AT is part of SCHEDULE
		if !found && strings.HasPrefix(e.place, clause+" ") {
			offset, found = places[clause]
		}
	}
	if !found {
		return e
	}
	return e.setPosition(text, in.start+offset)
}

// sqlStates are the SQLSTATE of each code.
var sqlStates = map[rota.Code]string{
	rota.Invalid: StateBadValue, rota.NotFound: StateUnknown, rota.Conflict: StateWrongState, rota.Denied: StateDenied,
	rota.LeaseLost: StateWrongState, rota.Busy: StateBusy, rota.Unavailable: StateUnavailable, rota.Internal: StateInternal,
}

// asError converts any error of a statement that begins at an offset of a text.
func asError(err error, text string, offset int) *Error {
	var own *Error
	var syntax *ddl.Error
	var query *system.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &syntax):
		e := &Error{State: syntax.State, Message: syntaxMessage(syntax), Hint: syntax.Hint, Err: err}
		return e.setPosition(text, offset+syntax.Offset)
	case errors.As(err, &query):
		e := &Error{State: query.State, Message: query.Message, Hint: query.Hint, Err: err}
		if query.Offset >= 0 {
			e.setPosition(text, offset+query.Offset)
		}
		return e
	case errors.Is(err, context.Canceled):
		return &Error{State: StateCancelled, Message: "the statement was cancelled", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{State: StateCancelled, Message: "the statement took too long", Err: err}
	}
	return storeError(err)
}

// syntaxMessage returns the message of a syntax error without its position and hint, which are separate fields.
func syntaxMessage(e *ddl.Error) string {
	plain := *e
	plain.Hint = ""
	_, text, _ := strings.Cut(plain.Error(), ": ")
	return text
}

// hasSecret finds texts that may contain the value of a secret.
var hasSecret = regexp.MustCompile(`(?is)\bsecret\b.*['"$]`)

// setPosition sets the position, line and column of an offset of a text.
func (e *Error) setPosition(text string, offset int) *Error {
	before := text[:min(max(offset, 0), len(text))]
	if !hasSecret.MatchString(text) && !ddl.SetsUnknown(text) { // psql prints the line at the position again, and its output may be kept
		e.Position = utf8.RuneCountInString(before) + 1
	}
	e.Line = strings.Count(before, "\n") + 1
	e.Column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return e
}

// memberPrefix is the field prefix that names the member of a rota.All.
var memberPrefix = regexp.MustCompile(`^members\[\d+\]\.?`)

// storeError converts an error of the store: fields become clauses, and schedules become jobs.
func storeError(err error) *Error {
	var e *rota.Error
	if !errors.As(err, &e) {
		return &Error{State: StateInternal, Message: err.Error(), Err: err}
	}
	field := memberPrefix.ReplaceAllString(e.Field, "")
	state := sqlStates[e.Code]
	if strings.HasPrefix(field, "depends_on") && e.Code == rota.Conflict {
		state = StateBadValue
	}
	plain := *e
	plain.Act, plain.Field, plain.Hint = "", clauseName(field), ""
	place := plain.Field
	if job, missing := strings.CutPrefix(e.Reason, "there is no schedule "); missing && place == "DEPENDS ON" {
		place = ddl.DependsPlace(job)
	}
	return &Error{State: state, Message: scheduleAsJob(plain.Error()), Hint: scheduleAsJob(e.Hint), Err: err, place: place}
}

var scheduleWord = regexp.MustCompile(`\bschedule\b`)

// scheduleAsJob replaces the word schedule, because SQL calls it a job.
func scheduleAsJob(text string) string { return scheduleWord.ReplaceAllString(text, "job") }

// clauseNames maps fields of definitions to clauses.
var clauseNames = map[string]string{
	"cron": "SCHEDULE", "at": "SCHEDULE AT", "every": "SCHEDULE EVERY", "starts_at": "STARTS", "ends_at": "ENDS", "timezone": "TIME ZONE",
	"depends_on": "DEPENDS ON", "max_retries": "MAX_RETRIES", "backoff": "RETRY_BACKOFF", "timeout": "TIMEOUT", "class": "CLASS",
	"on_completion": "ON COMPLETION", "catch_up": "CATCH_UP", "overlap": "OVERLAP", "priority": "PRIORITY", "params": "WITH PARAMS",
	"description": "DESCRIPTION", "name": "the name", "state": "STATE", "template": "the template",
	"verifier": "PASSWORD", "certificate": "CERTIFICATE", "owner": "OWNER TO",
	"job_id": "", "schedule": "", "only_schedule": "", // the reason names the object
	"partition.strategy": "PARTITION BY", "partition.shards": "PARTITION BY", "partition.expression": "PARTITION BY",
}

var indexSuffix = regexp.MustCompile(`\[\d+\]$`)

// clauseName returns the clause of a field.
func clauseName(field string) string {
	plain := strings.TrimPrefix(strings.TrimPrefix(field, "spec."), "policy.")
	plain = indexSuffix.ReplaceAllString(plain, "")
	if clause, known := clauseNames[plain]; known {
		return clause
	}
	return field
}
