package sys

import (
	"fmt"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// run answers one query.
func (d *desk) run(text string, args []any, to Answer) error {
	d.conn.SetInterrupt(d.query.ctx.Done())
	tokens, err := scan(text)
	if err != nil {
		return err
	}
	d.query.common = commonTables(tokens)
	plain, sorted, err := translate(tokens, text)
	if err != nil {
		return err
	}
	chosen := plain
	if sorted.text != plain.text && d.sorts(plain.text) {
		chosen = sorted
	}
	stmt, tail, err := d.conn.PrepareTransient(chosen.text)
	if err != nil {
		return chosen.explain(err)
	}
	defer stmt.Finalize()
	if rest := chosen.text[len(chosen.text)-tail:]; strings.TrimSpace(rest) != "" {
		return &Error{State: StateSyntax, Offset: chosen.origin(len(chosen.text) - tail), Message: "there is more than one statement"}
	}
	if err := bind(stmt, args); err != nil {
		return err
	}
	return d.step(stmt, d.titles(chosen, stmt, tokens, text), to)
}

// sorts says whether SQLite itself would sort the rows of a query, or merge those
// of several, which it does with NULLs first. Where it does not, the rows come as a
// table yields them, with NULLs last.
func (d *desk) sorts(text string) bool {
	found := false
	err := sqlitex.ExecuteTransient(d.conn, "EXPLAIN QUERY PLAN "+text, &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error {
			step := s.ColumnText(3)
			found = found || strings.Contains(step, "TEMP B-TREE") || strings.Contains(step, "MERGE") || strings.Contains(step, "COMPOUND")
			return nil
		},
	})
	return found || err != nil
}

func bind(stmt *sqlite.Stmt, args []any) error {
	if n := stmt.BindParamCount(); n != len(args) {
		return &Error{
			State: StateParams, Offset: -1, Message: fmt.Sprintf("the statement has %d parameters, and %d arguments were given", n, len(args)),
		}
	}
	for i, a := range args {
		switch a := a.(type) {
		case nil:
			stmt.BindNull(i + 1)
		case bool:
			stmt.BindBool(i+1, a)
		case int:
			stmt.BindInt64(i+1, int64(a))
		case int64:
			stmt.BindInt64(i+1, a)
		case float64:
			if whole := int64(a); float64(whole) == a { // a number of JSON
				stmt.BindInt64(i+1, whole)
			} else {
				stmt.BindFloat(i+1, a)
			}
		case string:
			stmt.BindText(i+1, a)
		case []byte:
			stmt.BindBytes(i+1, a)
		case time.Time:
			stmt.BindText(i+1, a.UTC().Format(TimeLayout))
		default:
			return &Error{State: StateType, Offset: -1, Message: fmt.Sprintf("argument %d is a %T, which no column holds", i+1, a)}
		}
	}
	return nil
}

func (d *desk) step(stmt *sqlite.Stmt, columns []Column, to Answer) error {
	told := false
	for {
		some, err := stmt.Step()
		switch {
		case d.query.err != nil:
			return d.query.err
		case err != nil:
			return stepError(err)
		}
		if !told { // an error comes before the columns
			if err := to.Columns(columns); err != nil {
				return err
			}
			told = true
		}
		if !some {
			return nil
		}
		if err := to.Row(row(stmt, columns)); err != nil {
			return err
		}
	}
}

func row(stmt *sqlite.Stmt, columns []Column) []any {
	values := make([]any, len(columns))
	for i := range values {
		switch stmt.ColumnType(i) {
		case sqlite.TypeInteger:
			values[i] = number(stmt.ColumnInt64(i), columns[i].Kind)
		case sqlite.TypeFloat:
			values[i] = stmt.ColumnFloat(i)
		case sqlite.TypeText:
			values[i] = stmt.ColumnText(i)
		case sqlite.TypeBlob:
			b := make([]byte, stmt.ColumnLen(i))
			stmt.ColumnBytes(i, b)
			values[i] = b
		}
	}
	return values
}

// number is a number, or the boolean that it stands for. Of a UNION another part may
// have others.
func number(n int64, k Kind) any {
	if k == Boolean && (n == 0 || n == 1) {
		return n != 0
	}
	return n
}
