package main

import (
	"context"
	"strings"

	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/ddl"
	"github.com/rotajobs/rota/httpapi"
)

// sqlWork is what was typed since BEGIN. A request is all that the server knows of a conversation, so the statements are
// kept here, tried together with each that follows, and sent with COMMIT.
type sqlWork struct {
	begin  string
	kept   []string
	failed bool // until ROLLBACK nothing more is done
}

// text is the statements up to a further one, which begins a line of its own.
func (w *sqlWork) text() string {
	return strings.Join(append([]string{w.begin}, w.kept...), ";\n") + ";\n"
}

// inWork takes a statement of a transaction.
func (c *sqlConsole) inWork(ctx context.Context, p piece, statement ddl.Statement) error {
	w := c.work
	switch statement.(type) {
	case *ddl.Begin:
		return c.write(httpapi.SQLResult{Tag: "BEGIN", Notices: []string{"there is a transaction already"}})
	case *ddl.Rollback:
		c.work = nil
		return c.write(httpapi.SQLResult{Tag: "ROLLBACK"})
	case *ddl.Commit:
		c.work = nil
		if w.failed {
			return c.write(httpapi.SQLResult{Tag: "ROLLBACK", Notices: []string{"the transaction had failed: nothing of it was done"}})
		}
		return c.commit(ctx, w)
	}
	if w.failed {
		return &statementError{piece: p, Problem: httpapi.Problem{
			SQLState: console.StateInFailed, Detail: "the transaction has failed, and nothing more is done in it", Hint: "end it with ROLLBACK",
		}}
	}
	return c.try(ctx, p, statement)
}

// try sends a statement behind those before it and takes all of it back. One that asks is answered; of one that is to do
// something only the words are shown, since what it makes is made anew by COMMIT.
func (c *sqlConsole) try(ctx context.Context, p piece, statement ddl.Statement) error {
	before := c.work.text()
	answer, took, err := c.send(ctx, piece{text: before + p.text + ";\nROLLBACK"})
	if err != nil {
		c.work.failed = true
		return p.within(err, strings.Count(before, "\n"))
	}
	v, err := decode[httpapi.SQLAnswer](answer)
	if err != nil {
		return err
	}
	if len(v.Results) < 2 {
		return nil
	}
	result := v.Results[len(v.Results)-2]
	if !asks(statement) {
		c.work.kept = append(c.work.kept, p.text)
		result.Columns, result.Rows = nil, nil
	}
	if err := c.write(result); err != nil {
		return err
	}
	return c.writeTime(took)
}

// commit sends everything. What was said when it was typed is not said again, but for rows: they are of what was now
// made.
func (c *sqlConsole) commit(ctx context.Context, w *sqlWork) error {
	answer, took, err := c.send(ctx, piece{text: w.text() + "COMMIT"})
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

// within is a refusal as one of a statement that was sent behind some lines.
func (p piece) within(err error, lines int) error {
	refusal, is := err.(*statementError)
	if !is {
		return err
	}
	own := *refusal
	own.piece = p
	if own.Line -= lines; own.Line < 1 {
		own.Line = 0 // of one that was right when it was typed
	}
	return &own
}
