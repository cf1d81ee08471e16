package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/session"
)

// sqlConsole is an interactive session on a terminal.
type sqlConsole struct {
	*sqlPrinter
	history     *sqlHistory
	pending     string          // text of an incomplete statement
	transaction *sqlTransaction // open transaction; nil if there is none
	quit        bool

	interrupts chan os.Signal // interrupts that arrive while no line is edited
}

func newSQLConsole(s *sqlPrinter) *sqlConsole {
	return &sqlConsole{sqlPrinter: s, history: openSQLHistory(historyFile(s.getenv))}
}

// The prompts.
const (
	promptReady       = "rota=> "
	promptMore        = "rota-> "
	promptTransaction = "rota*> "
	promptFailed      = "rota!> "
)

// interact reads and runs statements until the user exits.
func (c *sqlConsole) interact(ctx context.Context) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	c.interrupts = make(chan os.Signal, 1)
	signal.Notify(c.interrupts, os.Interrupt) // an interrupt between two lines must not end the program
	defer signal.Stop(c.interrupts)
	lines := newLineEditor(c)
	for !c.quit {
		c.drainInterrupt()
		line, err := lines.read(c.prompt())
		switch {
		case errors.Is(err, errLineCancelled):
			c.pending = ""
		case err != nil: // Ctrl-D, or the terminal is closed
			_, err := io.WriteString(c.out, "\n")
			return err
		default:
			c.handleLine(ctx, line)
		}
	}
	return nil
}

// drainInterrupt discards an interrupt that arrived after the statement had ended.
func (c *sqlConsole) drainInterrupt() {
	select {
	case <-c.interrupts:
	default:
	}
}

// connect sends a first request, so that a missing server or a wrong token is reported at once, and prints the banner.
func (c *sqlConsole) connect(ctx context.Context) error {
	v, _, _, err := c.send(ctx, sqlRequest{text: "SHOW rota_version"})
	if err != nil {
		return err
	}
	version := ""
	if len(v.Rows) == 1 && len(v.Rows[0]) == 1 {
		version = " " + cellText(v.Rows[0][0])
	}
	address, _ := c.address()
	_, err = fmt.Fprintf(c.out, "Rota%s at %s. A statement ends with a semicolon; \\? shows help, \\q exits.\n\n", version, sanitize(address))
	return err
}

func (c *sqlConsole) prompt() string {
	switch {
	case c.pending != "":
		return promptMore
	case c.transaction == nil:
		return promptReady
	case c.transaction.failed:
		return promptFailed
	}
	return promptTransaction
}

// handleLine handles one line: a command of the console, or a part of a statement.
func (c *sqlConsole) handleLine(ctx context.Context, line string) {
	word := strings.TrimSpace(line)
	switch {
	case c.pending == "" && word == "":
		return
	case c.pending == "" && bareCommands[strings.ToLower(strings.TrimRight(word, "; "))] != "":
		word = bareCommands[strings.ToLower(strings.TrimRight(word, "; "))]
		fallthrough
	case strings.HasPrefix(word, `\`) && !quoteOpen(c.pending):
		c.history.save(line)
		c.command(ctx, word)
		return
	}
	c.pending += line + "\n"
	c.runPending(ctx)
}

// bareCommands are commands without a backslash.
var bareCommands = map[string]string{"exit": `\q`, "quit": `\q`, "help": `\?`}

// runPending runs the complete statements of the input.
func (c *sqlConsole) runPending(ctx context.Context) {
	whole, rest, err := splitTyped(c.pending)
	if err != nil {
		c.printError(sqlRequest{text: c.pending}.asStatementError(err))
		c.pending = ""
		return
	}
	if len(whole) == 0 && rest != "" {
		return
	}
	c.history.save(c.pending)
	c.pending = rest
	for _, source := range whole {
		c.statement(ctx, sqlRequest{text: source.Text})
	}
}

// splitTyped splits the input into complete statements and an incomplete rest. It appends a sentinel word: the word
// becomes a statement of its own only if the statement before it is complete.
func splitTyped(text string) (whole []ddl.Source, rest string, err error) {
	const sentinel = "\nbehind"
	sources, err := ddl.Split(text + sentinel)
	if isQuoteOpenError(err) {
		return nil, text, nil
	}
	if err != nil {
		return nil, "", err
	}
	last := sources[len(sources)-1]
	if last.Offset >= len(text) {
		return sources[:len(sources)-1], "", nil
	}
	return sources[:len(sources)-1], text[last.Offset:], nil
}

// quoteOpen reports whether a text ends inside quotes or a comment.
func quoteOpen(text string) bool {
	_, err := ddl.Split(text)
	return isQuoteOpenError(err)
}

// isQuoteOpenError reports whether splitting failed because of open quotes, and not because of invalid text.
func isQuoteOpenError(err error) bool {
	var syntax *ddl.Error
	return errors.As(err, &syntax) && syntax.State == session.StateSyntax
}

// statement runs one statement and reports whether it succeeded. An interrupt cancels it.
func (c *sqlConsole) statement(ctx context.Context, p sqlRequest) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-c.interrupts:
			stop()
		case <-ctx.Done():
		}
	}()
	c.lastWasTable = false
	statement := parseStatement(ddl.Source{Text: p.text})
	err := c.execute(ctx, p, statement)
	if err != nil && ctx.Err() != nil {
		err = cancelledError(p, statement)
	}
	if err != nil {
		c.printError(err)
	} else if c.lastWasTable && c.output == formatTable {
		_, _ = io.WriteString(c.out, "\n") // an empty line before the next prompt
	}
	return err == nil
}

func (c *sqlConsole) execute(ctx context.Context, p sqlRequest, statement ddl.Statement) error {
	if c.transaction != nil {
		return c.inTransaction(ctx, p, statement)
	}
	if _, begins := statement.(*ddl.Begin); begins {
		c.transaction = &sqlTransaction{begin: p.text}
		return c.write(api.SQLResult{Tag: "BEGIN"})
	}
	return c.run(ctx, p)
}

// cancelledError is the error of a statement that the user cancelled. A write may have been applied.
func cancelledError(p sqlRequest, statement ddl.Statement) error {
	problem := api.Problem{SQLState: session.StateCancelled, Detail: "the statement was cancelled"}
	if !isReadOnly(statement) {
		problem.Hint = "the statement may have been applied; check before you run it again"
	}
	return &statementError{Problem: problem, sqlRequest: p}
}

// isReadOnly reports whether a statement changes nothing.
func isReadOnly(statement ddl.Statement) bool {
	switch statement.(type) {
	case *ddl.Select, *ddl.ExplainQuery, *ddl.ExplainRun, *ddl.Show, *ddl.ShowJobs, *ddl.ShowCreateJob,
		*ddl.ShowGrants, *ddl.ShowUsers, *ddl.ShowRoles:
		return true
	}
	return false
}

// printError prints an error. The session continues.
func (c *sqlConsole) printError(err error) { report(c.err, c.asStatementError(sqlRequest{}, err)) }
