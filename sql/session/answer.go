package session

import (
	"fmt"

	"github.com/rotajobs/rota/sql/system"
)

// Answer is the result of one statement.
type Answer struct {
	Tag        string          // command tag, such as CREATE JOB or SELECT 3
	Columns    []system.Column // nil: the statement returns no rows
	Rows       [][]any         // int64, float64, bool, string, []byte or nil
	Notices    []string
	Deallocate *string // prepared statement to remove; empty: all; nil: none

	kept *keptRows // memory of the rows; nil: not counted
}

// tagAnswer answers a statement without rows.
func tagAnswer(tag string) *Answer { return &Answer{Tag: tag} }

// notice adds a notice.
func (a *Answer) notice(format string, args ...any) *Answer {
	a.Notices = append(a.Notices, fmt.Sprintf(format, args...))
	return a
}

// rowsAnswer answers with rows.
func rowsAnswer(tag string, columns []system.Column, rows ...[]any) *Answer {
	return &Answer{Tag: tag, Columns: columns, Rows: rows}
}

// add adds a row of a query.
func (a *Answer) add(row []any) error {
	if err := a.kept.add(system.RowBytes(row)); err != nil {
		return err
	}
	a.Rows = append(a.Rows, row)
	return nil
}
