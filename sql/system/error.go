package system

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rotajobs/rota/sql/translate"
	"zombiezen.com/go/sqlite"
)

// The states of SQL that a query can end with.
const (
	StateSyntax    = "42601"
	StateDenied    = "42501"
	StateParams    = "08P01"
	StateType      = "42804"
	StateValue     = "22000"
	StateLimit     = "54000"
	StateTooMany   = "53300" // too many queries at once
	StateCancelled = "57014"
	StateInternal  = "XX000"
)

// Error states why a query was rejected or ended.
type Error = translate.Error

// resultTooLarge reports a result above a limit.
func resultTooLarge(what string) error {
	return &Error{
		State: StateLimit, Offset: -1, Message: "the result has " + what + ", which is the limit",
		Hint: "add a LIMIT, or select fewer rows",
	}
}

// explain converts an error that SQLite reports for a statement. It returns the interrupt of a cancelled query unchanged.
func (d *memoryDB) explain(err error) error {
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultInterrupt {
		return err
	}
	e := &Error{State: StateSyntax, Offset: -1, Message: messageOf(err)}
	if strings.HasPrefix(e.Message, "too many arguments on function") { // an array is too long: the translator checks calls
		e.State, e.Hint = StateLimit, fmt.Sprintf("write an array of at most %d elements, or '{…}'::text[]", translate.ArgsMax)
	}
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultTooBig {
		return d.query.tooLong()
	}
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultAuth {
		e.State, e.Message, e.Hint = StateDenied, "only the tables of sys can be read: "+e.Message, "read one of "+tableList()
	}
	return e
}

// tooLong reports a value that is longer than the query may have.
func (q *query) tooLong() error {
	return &Error{
		State: StateLimit, Offset: -1, Message: fmt.Sprintf("a value or row is longer than %d bytes, the limit of this query", q.valueMax),
		Hint: "select fewer columns, fewer rows or shorter values: all values of a query together have 64 MiB, so that a query of many expressions has a lower limit for each, and so has one that groups or compares all its rows",
	}
}

func (d *memoryDB) stepError(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultInterrupt:
		return err
	case sqlite.ResultTooBig:
		return d.query.tooLong()
	case sqlite.ResultNoMem, sqlite.ResultFull:
		return &Error{State: StateLimit, Offset: -1, Message: messageOf(err), Hint: "select fewer rows or shorter values"}
	case sqlite.ResultError, sqlite.ResultMismatch, sqlite.ResultRange:
		return &Error{State: StateValue, Offset: -1, Message: messageOf(err)}
	}
	return &Error{State: StateInternal, Offset: -1, Message: messageOf(err)}
}

// messageOf returns SQLite's own message without the prefixes of the Go package.
func messageOf(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	text := err.Error()
	if _, after, found := strings.Cut(text, "SQL logic error: "); found {
		return after
	}
	return strings.TrimPrefix(text, "sqlite: ")
}

func tableList() string { return schema + "." + strings.Join(TableNames(), ", "+schema+".") }
