package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/session"
)

// sqlExits maps the SQLSTATE of a refused statement to an exit code; other states exit with exitFailed.
var sqlExits = map[string]int{
	session.StateBadValue: exitUsage, session.StateUnknown: exitNotFound, session.StateDenied: exitDenied, session.StateUnavailable: exitUnavailable,
}

// statementError is the error of a statement. It is printed as psql does, with the line of the error.
type statementError struct {
	api.Problem
	sqlRequest
	colour bool
}

func (e *statementError) Error() string { return e.Detail }

// exit is the exit code of the error.
func (e *statementError) exit() int {
	if code, known := sqlExits[e.SQLState]; known {
		return code
	}
	return exitFailed
}

// asStatementError converts an error about the statement to a statementError, in colour on a terminal.
func (s *sqlPrinter) asStatementError(p sqlRequest, err error) error {
	err = p.asStatementError(err)
	var refusal *statementError
	if errors.As(err, &refusal) {
		refusal.colour = s.terminal.err && s.useColour()
	}
	return err
}

// asStatementError converts an error about the statement to a statementError; other errors stay unchanged.
func (p sqlRequest) asStatementError(err error) error {
	var refused *exitError
	var syntax *ddl.Error
	switch {
	case errors.As(err, &refused) && refused.statement != nil:
		return &statementError{Problem: *refused.statement, sqlRequest: p}
	case errors.As(err, &syntax): // the text could not be split into statements
		problem := api.Problem{Detail: syntax.Reason, Hint: syntax.Hint, SQLState: syntax.State, Line: syntax.Line, Column: syntax.Column}
		return &statementError{Problem: problem, sqlRequest: p}
	}
	return err
}

// write prints the error, its line and its hint.
func (e *statementError) write(w io.Writer) {
	line := max(1, e.Line)
	if e.file != "" {
		fmt.Fprintf(w, "%s:%d: ", sanitize(e.file), e.lines+line)
	}
	word := "ERROR:"
	if e.colour {
		word = colourBad + word + colourOff
	}
	fmt.Fprintf(w, "%s  %s: %s\n", word, sanitize(e.SQLState), sanitize(e.Detail))
	if e.Line > 0 && !mayHoldSecret(e.text) { // a line with a password or a secret is not printed again
		e.writeLine(w, fmt.Sprintf("LINE %d: ", e.lines+line))
	}
	if e.Hint != "" {
		fmt.Fprintf(w, "HINT:  %s\n", requestsToCommands(sanitize(e.Hint)))
	}
}

// excerptMax is how many characters of a long line are printed on each side of the error.
const excerptMax = 60

// writeLine prints the line with a caret under the error.
func (e *statementError) writeLine(w io.Writer, head string) {
	lines := strings.Split(e.text, "\n")
	if e.Line > len(lines) {
		return
	}
	text := []rune(sanitize(strings.TrimRight(lines[e.Line-1], "\r")))
	at := min(max(0, e.Column-1), len(text))
	if from := at - excerptMax; from > 0 {
		text = append([]rune("..."), text[from:]...)
		at = excerptMax + len("...")
	}
	if to := at + excerptMax; to < len(text) {
		text = append(text[:to:to], []rune("...")...)
	}
	fmt.Fprintf(w, "%s%s\n%s^\n", head, strings.TrimRight(string(text), " "), strings.Repeat(" ", utf8.RuneCountInString(head)+at))
}
