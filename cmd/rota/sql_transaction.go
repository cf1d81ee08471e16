package main

import (
	"context"
	"strings"

	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/ddl"
	"github.com/rotajobs/rota/httpapi"
)

// sqlTransaction is what was typed since BEGIN. A request is all that the server knows of a conversation, so the statements are
// kept here, tried together with each that follows, and sent with COMMIT.
type sqlTransaction struct {
	begin  string
	kept   []string
	failed bool // until ROLLBACK nothing more is done
}

// text is the statements up to a further one, which begins a line of its own.
func (w *sqlTransaction) text() string {
	return strings.Join(append([]string{w.begin}, w.kept...), ";\n") + ";\n"
}

// inTransaction takes a statement of a transaction.
func (c *sqlConsole) inTransaction(ctx context.Context, p sqlRequest, statement ddl.Statement) error {
	w := c.transaction
	switch statement.(type) {
	case *ddl.Begin:
		return c.write(httpapi.SQLResult{Tag: "BEGIN", Notices: []string{"there is a transaction already"}})
	case *ddl.Rollback:
		c.transaction = nil
		return c.write(httpapi.SQLResult{Tag: "ROLLBACK"})
	case *ddl.Commit:
		c.transaction = nil
		if w.failed {
			return c.write(httpapi.SQLResult{Tag: "ROLLBACK", Notices: []string{"the transaction had failed: nothing of it was done"}})
		}
		return c.commit(ctx, w)
	}
	if w.failed {
		return &statementError{sqlRequest: p, Problem: httpapi.Problem{
			SQLState: console.StateInFailed, Detail: "the transaction has failed, and nothing more is done in it", Hint: "end it with ROLLBACK",
		}}
	}
	return c.preview(ctx, p, statement)
}

// preview sends a statement behind those before it and takes all of it back. One that asks is answered; of one that is to do
// something only the words are shown, since what it makes is made anew by COMMIT.
func (c *sqlConsole) preview(ctx context.Context, p sqlRequest, statement ddl.Statement) error {
	before := c.transaction.text()
	answer, took, err := c.send(ctx, sqlRequest{text: before + p.text + ";\nROLLBACK"})
	if err != nil {
		c.transaction.failed = true
		return p.relativeTo(err, strings.Count(before, "\n"))
	}
	v, err := decode[httpapi.SQLAnswer](answer)
	if err != nil {
		return err
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

// commit sends everything. What was said when it was typed is not said again, but for rows: they are of what was now
// made.
func (c *sqlConsole) commit(ctx context.Context, w *sqlTransaction) error {
	answer, took, err := c.send(ctx, sqlRequest{text: w.text() + "COMMIT"})
	if err != nil {
		return err
	}
	if c.output != formatTable {
		return c.print(answer, nil)
	}
	v, err := decode[httpapi.SQLAnswer](answer)
	if err != nil {
		return err
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

// relativeTo is a refusal as one of a statement that was sent behind some lines.
func (p sqlRequest) relativeTo(err error, lines int) error {
	refusal, is := err.(*statementError)
	if !is {
		return err
	}
	own := *refusal
	own.sqlRequest = p
	if own.Line -= lines; own.Line < 1 {
		own.Line = 0 // of one that was right when it was typed
	}
	return &own
}
