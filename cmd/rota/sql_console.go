package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/ddl"
	"github.com/rotajobs/rota/httpapi"
)

// sqlConsole is a conversation at a terminal.
type sqlConsole struct {
	*sqlPrinter
	history *sqlHistory
	typed   string   // of a statement that has no end yet
	work    *sqlWork // since BEGIN; nil: each statement is done by itself
	left    bool

	interrupts chan os.Signal // while no line is typed
}

func newSQLConsole(s *sqlPrinter) *sqlConsole {
	return &sqlConsole{sqlPrinter: s, history: openSQLHistory(historyFile(s.getenv))}
}

// The prompts.
const (
	promptReady  = "rota=> "
	promptMore   = "rota-> "
	promptWork   = "rota*> "
	promptFailed = "rota!> "
)

// converse reads and runs statements until somebody leaves.
func (c *sqlConsole) converse(ctx context.Context) error {
	if err := c.greet(ctx); err != nil {
		return err
	}
	c.interrupts = make(chan os.Signal, 1)
	signal.Notify(c.interrupts, os.Interrupt) // from here on, or one that comes between two lines would end the program
	defer signal.Stop(c.interrupts)
	lines := newSQLLines(c)
	for !c.left {
		c.calm()
		line, err := lines.read(c.prompt())
		switch {
		case errors.Is(err, errDropped):
			c.typed = ""
		case err != nil: // Ctrl-D, or the terminal is gone
			_, err := io.WriteString(c.out, "\n")
			return err
		default:
			c.take(ctx, line)
		}
	}
	return nil
}

// calm forgets an interrupt that came too late for what it was to end.
func (c *sqlConsole) calm() {
	select {
	case <-c.interrupts:
	default:
	}
}

// greet meets the server, so that somebody whom it does not let in is told at once.
func (c *sqlConsole) greet(ctx context.Context) error {
	answer, _, err := c.send(ctx, piece{text: "SHOW rota_version"})
	if err != nil {
		return err
	}
	v, err := decode[httpapi.SQLAnswer](answer)
	if err != nil {
		return err
	}
	version := ""
	if len(v.Rows) == 1 && len(v.Rows[0]) == 1 {
		version = " " + cellText(v.Rows[0][0])
	}
	address, _ := c.address()
	_, err = fmt.Fprintf(c.out, "Rota%s at %s. A statement ends with a semicolon; \\? helps, \\q leaves.\n\n", version, plainText(address))
	return err
}

func (c *sqlConsole) prompt() string {
	switch {
	case c.typed != "":
		return promptMore
	case c.work == nil:
		return promptReady
	case c.work.failed:
		return promptFailed
	}
	return promptWork
}

// take takes a line: a command of the console, or a part of a statement.
func (c *sqlConsole) take(ctx context.Context, line string) {
	word := strings.TrimSpace(line)
	switch {
	case c.typed == "" && word == "":
		return
	case c.typed == "" && plainWords[strings.ToLower(strings.TrimRight(word, "; "))] != "":
		word = plainWords[strings.ToLower(strings.TrimRight(word, "; "))]
		fallthrough
	case strings.HasPrefix(word, `\`) && !quoteOpen(c.typed):
		c.history.settle(line)
		c.command(ctx, word)
		return
	}
	c.typed += line + "\n"
	c.runTyped(ctx)
}

// plainWords are what people type who know no backslash.
var plainWords = map[string]string{"exit": `\q`, "quit": `\q`, "help": `\?`}

// runTyped runs the statements that have their end.
func (c *sqlConsole) runTyped(ctx context.Context) {
	whole, rest, err := cutTyped(c.typed)
	if err != nil {
		c.fail(piece{text: c.typed}.blame(err))
		c.typed = ""
		return
	}
	if len(whole) == 0 && rest != "" {
		return
	}
	c.history.settle(c.typed)
	c.typed = rest
	for _, source := range whole {
		c.statement(ctx, piece{text: source.Text})
	}
}

// cutTyped tells the statements that have their end from what is still being typed. A word behind the text is a
// statement of its own only if the one before it has ended.
func cutTyped(text string) (whole []ddl.Source, rest string, err error) {
	const behind = "\nbehind"
	sources, err := ddl.Split(text + behind)
	if quoteOpenIn(err) {
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

// quoteOpen says whether a text ends within quotes or a comment.
func quoteOpen(text string) bool {
	_, err := ddl.Split(text)
	return quoteOpenIn(err)
}

// quoteOpenIn tells that from other reasons for which a text cannot be cut, such as one that is no text.
func quoteOpenIn(err error) bool {
	var syntax *ddl.Error
	return errors.As(err, &syntax) && syntax.State == console.StateSyntax
}

// statement runs one statement and reports whether it was done. An interrupt cancels it.
func (c *sqlConsole) statement(ctx context.Context, p piece) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-c.interrupts:
			stop()
		case <-ctx.Done():
		}
	}()
	c.tabled = false
	statement := parsed(ddl.Source{Text: p.text})
	err := c.perform(ctx, p, statement)
	if err != nil && ctx.Err() != nil {
		err = cancelled(p, statement)
	}
	if err != nil {
		c.fail(err)
	} else if c.tabled && c.output == formatTable {
		_, _ = io.WriteString(c.out, "\n") // room before the next prompt
	}
	return err == nil
}

func (c *sqlConsole) perform(ctx context.Context, p piece, statement ddl.Statement) error {
	if c.work != nil {
		return c.inWork(ctx, p, statement)
	}
	if _, begins := statement.(*ddl.Begin); begins {
		c.work = &sqlWork{begin: p.text}
		return c.write(httpapi.SQLResult{Tag: "BEGIN"})
	}
	return c.run(ctx, p)
}

// cancelled says what is known of a statement that nobody waited for.
func cancelled(p piece, statement ddl.Statement) error {
	problem := httpapi.Problem{SQLState: console.StateCancelled, Detail: "the statement was cancelled"}
	if !asks(statement) {
		problem.Hint = "it may have been done before that; look before you send it again"
	}
	return &statementError{Problem: problem, piece: p}
}

// asks says whether a statement changes nothing.
func asks(statement ddl.Statement) bool {
	switch statement.(type) {
	case *ddl.Select, *ddl.ExplainQuery, *ddl.ExplainRun, *ddl.Show, *ddl.ShowJobs, *ddl.ShowCreateJob:
		return true
	}
	return false
}

// fail tells of an error, after which the conversation goes on.
func (c *sqlConsole) fail(err error) { report(c.err, c.blame(piece{}, err)) }
