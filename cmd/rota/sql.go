package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/sql/ddl"
)

const sqlExample = `  rota sql                                             # a console; \? shows its help
  rota sql "CREATE JOB tidy SCHEDULE CRON '0 3 * * *' AS CALL noop()"
  rota sql 'SELECT job_name, state, next_run_time_ts FROM sys.jobs'
  rota sql -f jobs.sql                                 # stop at the first error
  rota sql 'SHOW JOBS' --output json`

func newSQLCommand(a *app) *cobra.Command {
	s, file, keepGoing := &sqlPrinter{app: a, expanded: expandedAuto}, "", false
	expanded, statement := false, ""
	cmd := &cobra.Command{
		Use:   "sql [STATEMENT]",
		Short: "Run SQL: a statement, a file, or a console",
		Long: `Run a statement. Several statements with semicolons between them run in one transaction. With -f, or from a
pipe, each statement runs in its own transaction, and those between BEGIN and COMMIT run together. Without a
statement and a file, on a terminal, the command starts a console.`,
		Example: sqlExample,
		Args:    optionalArg("a STATEMENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if expanded {
				s.expanded = expandedOn
			}
			if statement != "" {
				args = append(args, statement)
			}
			switch {
			case len(args) > 1:
				return usagef("remove one of them", "sql takes a STATEMENT or --command, not both")
			case len(args) > 0 && file != "":
				return usagef("remove one of them", "sql takes a STATEMENT or --file, not both")
			case len(args) > 0:
				return s.run(cmd.Context(), sqlRequest{text: args[0]})
			case file != "":
				return s.runFile(cmd.Context(), file, keepGoing)
			case a.terminal.in && a.terminal.out:
				return newSQLConsole(s).interact(cmd.Context())
			}
			return s.runFile(cmd.Context(), "-", keepGoing)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&statement, "command", "c", "", "run `STATEMENT`, as psql -c does")
	flags.StringVarP(&file, "file", "f", "", "run the statements in `FILE`; - is standard input")
	flags.BoolVar(&keepGoing, "keep-going", false, "with a file: continue after an error")
	flags.BoolVar(&s.timing, "timing", false, "print the duration of each request")
	flags.BoolVarP(&expanded, "expanded", "x", false, "print each row as lines, with one column on each")
	return cmd
}

// sqlRequest is the SQL text of one request and its source.
type sqlRequest struct {
	text  string
	file  string // name of the file; empty for typed text
	lines int    // number of lines of the file before the text
}

// run sends a request and prints the result.
func (s *sqlPrinter) run(ctx context.Context, p sqlRequest) error {
	v, answer, took, err := s.send(ctx, p)
	if err != nil {
		return err
	}
	if s.output != formatTable {
		return s.print(answer, nil)
	}
	if err := s.writeAll(v); err != nil {
		return err
	}
	return s.writeTime(took)
}

// send sends a request and measures its duration. A refused statement is a statementError.
func (s *sqlPrinter) send(ctx context.Context, p sqlRequest) (v api.SQLAnswer, answer json.RawMessage, took time.Duration, err error) {
	began := time.Now()
	v, answer, err = fetch[api.SQLAnswer](ctx, s.app, newPost("/sql", map[string]string{"statement": p.text}))
	return v, answer, time.Since(began), s.asStatementError(p, err)
}

func (s *sqlPrinter) writeTime(took time.Duration) error {
	if !s.timing {
		return nil
	}
	_, err := fmt.Fprintf(s.out, "Time: %.3f ms\n", float64(took.Microseconds())/1000)
	return err
}

// runFile runs the statements of a file one by one. It stops at the first error, or runs all of them with keepGoing and
// returns an error if one failed.
func (s *sqlPrinter) runFile(ctx context.Context, name string, keepGoing bool) error {
	content, err := s.fileText(name)
	if err != nil {
		return err
	}
	text := string(bytes.TrimPrefix(content, []byte("\ufeff")))
	requests, err := splitFile(fileName(name), text)
	if err != nil {
		return err
	}
	refused := 0
	for _, p := range requests {
		err := s.run(ctx, p)
		var refusal *statementError
		switch {
		case err == nil:
			continue
		case !errors.As(err, &refusal) || !keepGoing:
			return inFile(err)
		}
		refusal.write(s.err)
		refused++
	}
	if refused > 0 {
		return &exitError{code: exitFailed, err: fmt.Errorf("%d of %s failed", refused, plural(len(requests), "request", "requests"))}
	}
	return nil
}

// inFile converts the error of one statement to the error of the file: every refused statement exits with exitFailed.
func inFile(err error) error {
	var refusal *statementError
	if errors.As(err, &refusal) && refusal.exit() != exitUnavailable {
		return &exitError{code: exitFailed, err: refusal}
	}
	return err
}

// splitFile splits the text of a file into requests: a statement, or all statements of a transaction.
func splitFile(name, text string) (requests []sqlRequest, err error) {
	sources, err := ddl.Split(text)
	if err != nil {
		return nil, sqlRequest{text: text, file: name}.asStatementError(err)
	}
	for i := 0; i < len(sources); i++ {
		first, last := sources[i], i
		if _, begins := parseStatement(first).(*ddl.Begin); begins {
			last = endOfTransaction(sources, i)
		}
		requests = append(requests, requestOf(name, text, first, sources[last]))
		i = last
	}
	return requests, nil
}

// splitStatements splits the text of a file into statements.
func splitStatements(name, text string) (requests []sqlRequest, err error) {
	sources, err := ddl.Split(text)
	if err != nil {
		return nil, sqlRequest{text: text, file: name}.asStatementError(err)
	}
	for _, one := range sources {
		requests = append(requests, requestOf(name, text, one, one))
	}
	return requests, nil
}

// requestOf returns the text from the first to the last statement as one request.
func requestOf(name, text string, first, last ddl.Source) sqlRequest {
	return sqlRequest{text: text[first.Offset : last.Offset+len(last.Text)], file: name, lines: strings.Count(text[:first.Offset], "\n")}
}

// endOfTransaction returns the index of the statement that ends the transaction, or of the last statement.
func endOfTransaction(sources []ddl.Source, begin int) int {
	for i := begin + 1; i < len(sources); i++ {
		switch parseStatement(sources[i]).(type) {
		case *ddl.Commit, *ddl.Rollback:
			return i
		}
	}
	return len(sources) - 1
}

// parseStatement parses a statement. It returns nil for an invalid one, which the server reports.
func parseStatement(source ddl.Source) ddl.Statement {
	statement, err := ddl.Parse(source.Text)
	if err != nil {
		return nil
	}
	return statement
}
