package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const cliPage = "../../docs/reference/cli.md"

const cliHead = `# The command line

` + "`rota COMMAND --help`" + ` prints the same text as this page. The page is generated: ` + "`go test ./cmd/rota -update`" + ` writes it.

Every command accepts these flags:

`

const cliExits = `
| exit | meaning |
|---|---|
| 0 | done |
| 1 | failed: the job did not complete, or the current state forbids it |
| 2 | the command line, or a value in it, is wrong |
| 3 | not clean: ` + "`rota verify`" + ` found violations, or ` + "`rota import crontab`" + ` refused lines |
| 4 | not found |
| 5 | denied: no token, or a wrong one |
| 6 | unavailable: no server answers, it is busy, or a process holds the store |

- **Output.** JSON is the server's answer, unchanged. YAML has the same content. Tables are for people and may change.
- **Errors** are one line and a hint on standard error.
- **Terminal.** Colours and progress appear on a terminal only. ` + "`NO_COLOR`" + ` turns colours off. ` + "`COLUMNS`" + ` sets the width of tables.
- **Server.** A server on this machine is found by its data directory.
- **Retries.** A write that loses its connection is sent once more with the same Idempotency-Key, so it is not applied twice.
  Commands that wait or follow survive a restart of the server for 30 seconds.
- **Ids.** The first 8 or more characters of an id are enough if they are unique. Otherwise the command lists the candidates, says how many
  characters are needed, and exits with 2. The first 13 characters are the time of creation in milliseconds, so ids of the same minute
  differ after the eighth.
- **Names.** A job can be named by the name that lists show, or by its template, its schedule or its type. ` + "`show`, `explain` and `logs`" + ` take the latest execution. Commands
  that change a job take a name only if exactly one execution is meant, such as the only one that waits. The command prints which one it took.
- **Lists.** A command with subcommands lists if no subcommand is given: ` + "`rota audit --since 24h`" + ` is ` + "`rota audit list --since 24h`" + `.
  ` + "`ls`" + ` is short for ` + "`list`" + `; ` + "`status`" + ` is another name of ` + "`show`" + ` and of ` + "`rota stats`" + `.
- **Confirmation.** Commands that act on many things ask first. Without a terminal they do nothing unless ` + "`--yes`" + ` is given. Commands that
  delete one thing ask on a terminal unless ` + "`--yes`" + ` is given, and do not ask without one. Standard input decides; the output may go to a file.
- **Times** are RFC 3339, or ` + "`YYYY-MM-DD[ HH:MM[:SS]]`" + ` in this machine's zone or that of ` + "`--tz`" + `.
- **Durations** are ` + "`90s`" + `, ` + "`1h30m`" + `, ` + "`2d`" + `, ` + "`'5 MINUTES'`" + ` or ` + "`'2 DAYS'`" + `.
`

// TestCommandReferencePage compares the page with the commands, or writes it with -update.
func TestCommandReferencePage(t *testing.T) {
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
	b.WriteString("\n## Others\n\n`rota version` prints the version. `rota completion SHELL` prints a script that completes commands, flags and names.\n`rota help COMMAND` explains a command.\n")
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
		t.Errorf("%s is stale (run with -update and read the diff); first at %s", cliPage, firstDifference(string(want), b.String()))
	}
}

func describe(b *bytes.Buffer, cmd *cobra.Command) {
	if cmd.HasSubCommands() {
		if cmd.Example != "" { // the command also runs by itself
			describeOne(b, cmd, "###")
		} else {
			fmt.Fprintf(b, "\n### %s\n\n%s\n", cmd.CommandPath(), cmp.Or(cmd.Long, cmd.Short+"."))
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
	if strings.Contains(text, "\n  ") { // the text contains a table
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
		escape := strings.NewReplacer("|", `\|`)
		fmt.Fprintf(&b, "| `%s` | %s |\n", escape.Replace(name), escape.Replace(usage))
	})
	if b.Len() == 0 {
		return ""
	}
	return "| flag | |\n|---|---|\n" + b.String()
}

// TestEveryCommandHasShortTextAndExample covers all commands except help, version and completion.
func TestEveryCommandHasShortTextAndExample(t *testing.T) {
	root := newRootCommand(&app{environment: environment{getenv: func(string) string { return "" }}, output: formatTable})
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if cmd.Short == "" {
			t.Errorf("%s has no short text", cmd.CommandPath())
		}
		if !cmd.HasSubCommands() && cmd.Name() != "help" && cmd.Name() != "version" && cmd.Parent().Name() != "completion" && cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
	}
	walk(root)
}
