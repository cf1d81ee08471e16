package action

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/scrub"
)

// Codes of errors that do not come from the database. An error of the database has
// its SQLSTATE, or the name of SQLite's code.
const (
	codeTarget      = "target"      // no target of the name, or it cannot be used
	codeRole        = "role"        // run_as is not possible on this target, or the user is not a member of the role
	codeDenied      = "denied"      // the user has no login that it may use, or does not exist
	codeTransaction = "transaction" // a statement would end the transaction, or ended it
	codeStatement   = "statement"   // statement that this target does not support
	codeConnect     = "connect"     // the target cannot be reached
)

// sqlFailure is an error of the database about a statement.
type sqlFailure struct {
	code   string // SQLSTATE or SQLITE_…
	text   string
	hint   string
	line   int // line in the script; 0: unknown
	column int // 0: unknown
	syntax bool
}

func (f *sqlFailure) Error() string {
	var b strings.Builder
	switch {
	case f.column > 0:
		fmt.Fprintf(&b, "line %d, column %d: ", f.line, f.column)
	case f.line > 0:
		fmt.Fprintf(&b, "line %d: ", f.line)
	}
	b.WriteString(brief(f.text))
	if f.hint != "" {
		fmt.Fprintf(&b, "; hint: %s", brief(f.hint))
	}
	fmt.Fprintf(&b, " (%s)", f.code)
	return b.String()
}

// Code is the error code of the run.
func (f *sqlFailure) Code() string { return f.code }

// runError is an error as the run reports it: with the target and without its password.
// It is permanent if a retry cannot succeed. A missing table may exist at the next
// attempt, but a syntax error stays.
func runError(auth login, err error) error {
	text := err.Error()
	if password := passwordOf(auth.url); password != "" {
		text = strings.ReplaceAll(text, password, scrub.Hidden)
	}
	var coded interface{ Code() string }
	code := codeConnect
	if errors.As(err, &coded) {
		code = coded.Code()
	}
	failure := failed(code, "target %s: %s", auth.target, text)
	var of *sqlFailure
	if rota.IsPermanent(err) || errors.As(err, &of) && of.syntax {
		return rota.Permanent(failure)
	}
	return failure
}

// unreachable is an error of connecting. The text of the driver is scrubbed, because
// it may repeat the URL.
func unreachable(err error) error {
	return failed(codeConnect, "it cannot be reached: %s", brief(scrub.Text(err.Error())))
}
