package main

import (
	"context"
	"strings"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/session"
)

// sqlTransaction holds the statements typed since BEGIN. The server keeps no transaction open between two requests, so
// each new statement is previewed together with those before it, and COMMIT sends all of them.
type sqlTransaction struct {
	begin  string
	kept   []string
	failed bool // a statement failed: nothing runs until ROLLBACK
}

// text is all statements so far. A further statement begins on a new line.
func (t *sqlTransaction) text() string {
	return strings.Join(append([]string{t.begin}, t.kept...), ";\n") + ";\n"
}

// inTransaction handles a statement of an open transaction.
func (c *sqlConsole) inTransaction(ctx context.Context, p sqlRequest, statement ddl.Statement) error {
	w := c.transaction
	switch statement.(type) {
	case *ddl.Begin:
		return c.write(api.SQLResult{Tag: "BEGIN", Notices: []string{"there is already a transaction in progress"}})
	case *ddl.Rollback:
		c.transaction = nil
		return c.write(api.SQLResult{Tag: "ROLLBACK"})
	case *ddl.Commit:
		c.transaction = nil
		if w.failed {
			return c.write(api.SQLResult{Tag: "ROLLBACK", Notices: []string{"the transaction failed and was rolled back"}})
		}
		return c.commit(ctx, w)
	}
	if w.failed {
		return &statementError{sqlRequest: p, Problem: api.Problem{
			SQLState: session.StateAborted, Detail: "current transaction is aborted, commands ignored until end of transaction block", Hint: "end it with ROLLBACK",
		}}
	}
	return c.preview(ctx, p, statement)
}

// preview sends the statements so far with a new one and rolls back. It prints the rows of a query. For a write it
// prints only the command tag, since COMMIT runs the statement again with other ids.
func (c *sqlConsole) preview(ctx context.Context, p sqlRequest, statement ddl.Statement) error {
	before := c.transaction.text()
	v, _, took, err := c.send(ctx, sqlRequest{text: before + p.text + ";\nROLLBACK"})
	if err != nil {
		c.transaction.failed = true
		return p.relativeTo(err, strings.Count(before, "\n"))
	}
	if len(v.Results) < 2 {
		return nil
	}
	result := v.Results[len(v.Results)-2]
	if !isReadOnly(statement) {
		c.transaction.kept = append(c.transaction.kept, p.text)
		result.Columns, result.Rows = nil, nil
	}
	if err := c.write(result); err != nil {
		return err
	}
	return c.writeTime(took)
}

// commit sends all statements and COMMIT. It prints only rows and the last command tag, since preview printed the
// others.
func (c *sqlConsole) commit(ctx context.Context, w *sqlTransaction) error {
	v, answer, took, err := c.send(ctx, sqlRequest{text: w.text() + "COMMIT"})
	if err != nil {
		return err
	}
	if c.output != formatTable {
		return c.print(answer, nil)
	}
	for i, result := range v.Results {
		if len(result.Columns) == 0 && i < len(v.Results)-1 {
			continue
		}
		if err := c.write(result); err != nil {
			return err
		}
	}
	return c.writeTime(took)
}

// relativeTo converts the error of a statement that was sent after other lines, so that its line number counts from the
// statement itself.
func (p sqlRequest) relativeTo(err error, lines int) error {
	refusal, is := err.(*statementError)
	if !is {
		return err
	}
	own := *refusal
	own.sqlRequest = p
	if own.Line -= lines; own.Line < 1 {
		own.Line = 0 // an error in an earlier statement, which was valid when it was typed
	}
	return &own
}
