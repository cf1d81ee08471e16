package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/httpapi"
)

const sqlExample = `  rota sql                                             # a console; \? in it helps
  rota sql "CREATE JOB tidy SCHEDULE CRON '0 3 * * *' AS CALL noop()"
  rota sql 'SELECT job_name, state, next_run_time_ts FROM sys.jobs'
  rota sql -f jobs.sql                                 # statement by statement, until one is refused
  rota sql 'SHOW JOBS' --output json`

func newSQLCommand(a *app) *cobra.Command {
	s, file, keepGoing := &sqlPrinter{app: a, expanded: expandedAuto}, "", false
	expanded := false
	cmd := &cobra.Command{
		Use:   "sql [STATEMENT]",
		Short: "Runs SQL: one statement, a file of them, or a console",
		Long: `Runs a statement, or several with semicolons between them, which are then done together or not at all.
With -f, or from a pipe, each statement of a file is done by itself, those between BEGIN and COMMIT
together. Without any of it, at a terminal, it is a console.`,
		Example: sqlExample,
		Args:    optionalArg("a STATEMENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if expanded {
				s.expanded = expandedOn
			}
			switch {
			case len(args) > 0 && file != "":
				return usagef("give one of them", "a STATEMENT and a file are given")
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
	flags.StringVarP(&file, "file", "f", "", "run the statements of `FILE`; - is standard input")
	flags.BoolVar(&keepGoing, "keep-going", false, "of a file: go on after a statement that is refused")
	flags.BoolVar(&s.timing, "timing", false, "say how long each request took")
	flags.BoolVarP(&expanded, "expanded", "x", false, "write each row as lines, a column on each")
	return cmd
}

// sqlRequest is what is sent in one request, and where it comes from.
type sqlRequest struct {
	text  string
	file  string // empty: somebody typed it
	lines int    // of the file before it
}

// run runs a piece and prints what it gave.
func (s *sqlPrinter) run(ctx context.Context, p sqlRequest) error {
	answer, took, err := s.send(ctx, p)
	if err != nil {
		return err
	}
	if s.output != formatTable {
		return s.print(answer, nil)
	}
	v, err := decode[httpapi.SQLAnswer](answer)
	if err != nil {
		return err
	}
	if err := s.writeAll(v); err != nil {
		return err
	}
	return s.writeTime(took)
}

// send sends a piece. A refusal knows what it is about.
func (s *sqlPrinter) send(ctx context.Context, p sqlRequest) (answer json.RawMessage, took time.Duration, err error) {
	began := time.Now()
	answer, err = s.post(ctx, "/sql", map[string]string{"statement": p.text})
	if err != nil {
		return nil, 0, s.asStatementError(p, err)
	}
	return answer, time.Since(began), nil
}

func (s *sqlPrinter) writeTime(took time.Duration) error {
	if !s.timing {
		return nil
	}
	_, err := fmt.Fprintf(s.out, "Time: %.3f ms\n", float64(took.Microseconds())/1000)
	return err
}
