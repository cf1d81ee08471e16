package action

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/scrub"
)

// The codes of what goes wrong before a database has its say. What it says itself
// has its SQLSTATE, or the name of SQLite's code.
const (
	codeTarget      = "target"      // there is none of the name, or it is not to be used
	codeRole        = "role"        // nobody can be run as on this target
	codeTransaction = "transaction" // a statement would end the transaction, or has
	codeStatement   = "statement"   // it is not for this target
	codeConnect     = "connect"     // the target cannot be reached
)

// sqlFailure is what a database says of a statement.
type sqlFailure struct {
	code   string // SQLSTATE or SQLITE_…
	text   string
	hint   string
	line   int // where in the script; 0: it does not say
	column int // 0: the line alone
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

// runError is an error as the run tells it: with the target, without its password,
// and for good if trying again is of no use. A table that is missing may be there
// the next time; what is not SQL will not be SQL then.
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
	told := failed(code, "target %s: %s", auth.target, text)
	var of *sqlFailure
	if rota.IsPermanent(err) || errors.As(err, &of) && of.syntax {
		return rota.Permanent(told)
	}
	return told
}

// unreachable is an error of connecting. What drivers say of it is scrubbed: it
// may repeat the URL.
func unreachable(err error) error {
	return failed(codeConnect, "it cannot be reached: %s", brief(scrub.Text(err.Error())))
}
