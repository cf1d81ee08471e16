package console

import (
	"fmt"

	"github.com/rotajobs/rota/console/sys"
)

// Answer is what one statement gave.
type Answer struct {
	Tag     string       // what was done, such as CREATE JOB or SELECT 3
	Columns []sys.Column // nil: it answers with no rows
	Rows    [][]any      // int64, float64, bool, string, []byte or nil
	Notices []string
	Forget  *string // the prepared statement that is to be forgotten, empty: all; nil: none
}

// done answers a statement without rows.
func done(tag string) *Answer { return &Answer{Tag: tag} }

// notice adds something that is good to know and no error.
func (a *Answer) notice(format string, args ...any) *Answer {
	a.Notices = append(a.Notices, fmt.Sprintf(format, args...))
	return a
}

// table answers with rows.
func table(tag string, columns []sys.Column, rows ...[]any) *Answer {
	return &Answer{Tag: tag, Columns: columns, Rows: rows}
}

// add takes a row of a query.
func (a *Answer) add(row []any) error {
	a.Rows = append(a.Rows, row)
	return nil
}
