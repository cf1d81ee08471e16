package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/sql/system"
)

const sqlHelp = `A statement ends with a semicolon. Tab completes keywords, tables, columns and names of jobs. Ctrl-C discards
the input, or cancels the running statement. Ctrl-D exits. Between BEGIN and COMMIT each statement is checked
when it is entered, and COMMIT applies all of them together.

  \d [TABLE]            list the tables of sys, or the columns of a table
  \j, \l                list the jobs, like SHOW JOBS
  \i FILE               run the statements of a file
  \x [on|off|auto]      print each row as lines; auto: only rows wider than the terminal
  \timing [on|off]      print the duration of each request
  \r                    discard the incomplete statement
  \?                    show this help
  \q                    exit

  CREATE JOB name SCHEDULE CRON '0 3 * * *' AS '…';          ALTER JOB name SET PRIORITY = 5;
  CREATE JOB name SCHEDULE EVERY 5 MINUTES AS CALL type();   EXECUTE JOB name;
  SELECT * FROM sys.job_runs ORDER BY started_at DESC LIMIT 10;
`

// command executes a line that begins with a backslash.
func (c *sqlConsole) command(ctx context.Context, line string) {
	name, argument, _ := strings.Cut(strings.TrimRight(line, "; "), " ")
	argument = strings.TrimSpace(argument)
	var err error
	switch name {
	case `\q`:
		c.quit = true
	case `\?`, `\h`:
		_, err = io.WriteString(c.out, sqlHelp)
	case `\r`:
		c.pending = ""
	case `\d`, `\dt`:
		err = c.describe(argument)
	case `\j`, `\l`:
		c.statement(ctx, sqlRequest{text: "SHOW JOBS"})
	case `\i`:
		c.include(ctx, argument)
	case `\x`:
		err = c.switchExpanded(argument)
	case `\timing`:
		err = c.switchTiming(argument)
	default:
		err = usagef(`\? lists the commands`, "there is no command %s", shortened(name))
	}
	if err != nil {
		c.printError(err)
	}
}

// describe prints the tables of sys, or the columns of one table.
func (c *sqlConsole) describe(name string) error {
	tables := system.Tables()
	v := api.SQLResult{Columns: []api.SQLColumn{{Name: "table"}, {Name: "columns", Type: string(system.Integer)}}}
	if name == "" {
		for _, table := range slices.Sorted(maps.Keys(tables)) {
			v.Rows = append(v.Rows, []api.SQLValue{api.SQLText("sys." + table), api.SQLValue(fmt.Sprint(len(tables[table])))})
		}
		return c.show(v)
	}
	columns, known := tables[strings.TrimPrefix(strings.ToLower(name), "sys.")]
	if !known {
		return usagef(`\d lists the tables`, "there is no table %s", shortened(name))
	}
	v.Columns = []api.SQLColumn{{Name: "column"}, {Name: "type"}}
	for _, column := range columns {
		v.Rows = append(v.Rows, []api.SQLValue{api.SQLText(column.Name), api.SQLText(string(column.Kind))})
	}
	return c.show(v)
}

// show prints a table of the console itself, followed by an empty line.
func (c *sqlConsole) show(v api.SQLResult) error {
	c.lastWasTable = false
	if err := c.write(v); err != nil {
		return err
	}
	_, err := io.WriteString(c.out, "\n")
	return err
}

// include runs the statements of a file as if they were typed, and stops at the first error.
func (c *sqlConsole) include(ctx context.Context, name string) {
	if name == "" || name == "-" {
		c.printError(usagef(`write \i FILE`, `\i needs the name of a file`))
		return
	}
	content, err := c.fileText(name)
	if err != nil {
		c.printError(err)
		return
	}
	requests, err := splitStatements(name, string(content))
	if err != nil {
		c.printError(err)
		return
	}
	for _, p := range requests {
		if !c.statement(ctx, p) {
			return
		}
	}
}

func (c *sqlConsole) switchExpanded(word string) error {
	switch mode := expandedMode(word); {
	case word == "" && c.expanded == expandedOn:
		c.expanded = expandedOff
	case word == "":
		c.expanded = expandedOn
	case mode == expandedOn || mode == expandedOff || mode == expandedAuto:
		c.expanded = mode
	default:
		return usagef(`write \x on, \x off or \x auto`, `unknown value %s of \x`, shortened(word))
	}
	_, err := fmt.Fprintf(c.out, "Expanded display is %s.\n", c.expanded)
	return err
}

func (c *sqlConsole) switchTiming(word string) error {
	switch word {
	case "":
		c.timing = !c.timing
	case "on", "off":
		c.timing = word == "on"
	default:
		return usagef(`write \timing on or \timing off`, `unknown value %s of \timing`, shortened(word))
	}
	_, err := fmt.Fprintf(c.out, "Timing is %s.\n", map[bool]string{true: "on", false: "off"}[c.timing])
	return err
}
