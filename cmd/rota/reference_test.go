package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const cliPage = "../../docs/reference/cli.md"

const cliHead = `# The command line

Made from the program itself: ` + "`go test ./cmd/rota -update`" + ` writes this page anew. ` + "`rota COMMAND --help`" + ` says the same.

Every command takes these:

`

const cliExits = `
| exit | means |
|---|---|
| 0 | done |
| 1 | failed: the job did not complete, or what is there forbids it |
| 2 | the command line, or a value in it, is wrong |
| 3 | not clean: ` + "`rota verify`" + ` found violations, or ` + "`rota import crontab`" + ` refused lines |
| 4 | not found |
| 5 | denied: no token, or a wrong one |
| 6 | unavailable: no server answers, it is busy, or a process holds the store |

Errors are one line and a hint on standard error. JSON is the server's answer as it came, YAML the same in other
clothes; tables are for people and may change. Colours and progress appear on a terminal only, and ` + "`NO_COLOR`" + `
turns colours off; ` + "`COLUMNS`" + ` says how wide tables may be. A write that lost its connection is sent once more under the
same Idempotency-Key, so it is not done twice. A server that was started on this machine is found by its data directory.
What acts on many at once asks first; where there is no terminal to ask at it does nothing without ` + "`--yes`" + `. What waits or
follows stays over a restart of the server, for 30 seconds.

Times are RFC 3339, or ` + "`YYYY-MM-DD[ HH:MM[:SS]]`" + ` on this machine's clock or that of ` + "`--tz`" + `. Durations are ` + "`90s`, `1h30m`, `2d`" + ` or
` + "`'5 MINUTES'`, `'2 DAYS'`" + `.
`

// TestCommandReference holds the page to the commands there are.
func TestCommandReference(t *testing.T) {
	var b bytes.Buffer
	root := newRootCommand(&app{environment: environment{getenv: func(string) string { return "" }}, output: formatTable})
	b.WriteString(cliHead + flagTable(root.PersistentFlags()) + cliExits)
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n", strings.TrimSuffix(group.Title, ":"))
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID {
				describe(&b, cmd)
			}
		}
	}
	b.WriteString("\n## Others\n\n`rota version` says which rota this is, `rota completion SHELL` prints a script that completes commands, flags and\nnames, and `rota help COMMAND` explains one.\n")
	if *update {
		if err := os.WriteFile(cliPage, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(cliPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Errorf("%s is stale (run with -update and read the diff); first at %s", cliPage, parting(string(want), b.String()))
	}
}

func describe(b *bytes.Buffer, cmd *cobra.Command) {
	if cmd.HasSubCommands() {
		if cmd.Example != "" { // it does something by itself, too
			describeOne(b, cmd, "###")
		} else {
			fmt.Fprintf(b, "\n### %s\n\n%s.\n", cmd.CommandPath(), cmd.Short)
		}
		for _, verb := range cmd.Commands() {
			describeOne(b, verb, "####")
		}
		return
	}
	describeOne(b, cmd, "###")
}

func describeOne(b *bytes.Buffer, cmd *cobra.Command, level string) {
	fmt.Fprintf(b, "\n%s %s\n\n", level, strings.TrimPrefix(strings.TrimSuffix(cmd.UseLine(), " [flags]"), "rota "))
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	if strings.Contains(text, "\n  ") { // it has a table of its own
		text = "```\n" + text + "\n```"
	}
	fmt.Fprintf(b, "%s\n\n```\n%s\n```\n", text, strings.TrimRight(unindent(cmd.Example), "\n"))
	if cmd.LocalNonPersistentFlags().HasAvailableFlags() {
		if table := flagTable(cmd.LocalNonPersistentFlags()); table != "" {
			b.WriteString("\n" + table)
		}
	}
}

func unindent(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}

func flagTable(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		noun, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if noun != "" {
			name += " " + noun
		}
		if def := f.DefValue; def != "" && def != "false" && def != "[]" && def != "0" {
			usage += " (default " + def + ")"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(usage, "|", "\\|"))
	})
	if b.Len() == 0 {
		return ""
	}
	return "| flag | |\n|---|---|\n" + b.String()
}

// TestEveryCommandExplainsItself: a person who asks for help gets a sentence and an example.
func TestEveryCommandExplainsItself(t *testing.T) {
	root := newRootCommand(&app{environment: environment{getenv: func(string) string { return "" }}, output: formatTable})
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if cmd.Short == "" {
			t.Errorf("%s has no sentence", cmd.CommandPath())
		}
		if !cmd.HasSubCommands() && cmd.Name() != "help" && cmd.Name() != "version" && cmd.Parent().Name() != "completion" && cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
	}
	walk(root)
}
