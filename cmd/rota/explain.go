package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// newExplainCommand creates the explain command, which is both a subcommand of job and a top-level command.
func newExplainCommand(a *app, use string) *cobra.Command {
	return showCommand(a, &cobra.Command{
		Use: use, Short: "Explain why a job does not run, and what to do",
		Example: "  rota explain 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60\n  rota explain nightly    # its latest execution",
	}, "/jobs", "/explain", a.writeExplanation)
}

// writeExplanation prints a paragraph for each reason: the reason, its end, the jobs it names, the remedy, and the commands
// of the remedy on lines of their own, to be copied.
func (a *app) writeExplanation(w io.Writer, e api.Explanation) {
	for i, r := range e.Reasons {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, sanitize(r.Text))
		if !r.Until.IsZero() {
			fmt.Fprintf(w, "  until:  %s\n", a.timestamp(r.Until.Time))
		}
		if len(r.Jobs) > 0 {
			ids := make([]string, len(r.Jobs))
			for j, id := range r.Jobs {
				ids[j] = id.String()
			}
			label := "waits for"
			if r.Code == string(rota.ReasonEnded) {
				label = "retried as"
			}
			fmt.Fprintf(w, "  %s:  %s\n", label, strings.Join(ids, ", "))
		}
		if r.Remedy == "" {
			continue
		}
		remedy := requestsToCommands(sanitize(r.Remedy))
		fmt.Fprintf(w, "  remedy:  %s\n", remedy)
		for _, command := range commandsIn(remedy) {
			fmt.Fprintf(w, "  run:  %s\n", command)
		}
	}
}

// commandsIn returns the commands in a sentence: from rota to the next comma, semicolon or end. A command with a
// placeholder such as N cannot be copied and is left out.
func commandsIn(text string) (commands []string) {
	for {
		at := strings.Index(text, "rota ")
		if at < 0 {
			return commands
		}
		begins := at == 0 || text[at-1] == ' '
		text = text[at:]
		end := strings.IndexAny(text, ",;")
		if end < 0 {
			end = len(text)
		}
		command := strings.TrimRight(text[:end], ". ")
		text = text[end:]
		words := strings.Fields(command)
		if last := words[len(words)-1]; begins && (strings.ToUpper(last) != last || strings.ContainsAny(last, "0123456789")) {
			commands = append(commands, command)
		}
	}
}
