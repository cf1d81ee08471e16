package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

// newExplainCommand creates the explain command, which is both a subcommand of job and a top-level command.
func newExplainCommand(a *app, use string) *cobra.Command {
	return showCommand(a, &cobra.Command{
		Use: use, Short: "Explain why a job does not run, and what to do", Args: requireID("the ID of a job"),
		Example: "  rota explain 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60",
	}, "/jobs", "/explain", a.writeExplanation)
}

// writeExplanation prints a paragraph for each reason: the reason, its end, the jobs it waits for, and the remedy.
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
			fmt.Fprintf(w, "  waits for:  %s\n", strings.Join(ids, ", "))
		}
		if r.Remedy != "" {
			fmt.Fprintf(w, "  remedy:  %s\n", requestsToCommands(sanitize(r.Remedy)))
		}
	}
}
