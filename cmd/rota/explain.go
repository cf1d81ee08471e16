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
	return &cobra.Command{
		Use: use, Short: "Explain why a job does not run, and what to do", Args: requireID("the ID of a job"),
		Example: "  rota explain 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60",
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := a.get(cmd.Context(), "/jobs"+pathSegment(args[0])+"/explain", nil)
			if err != nil {
				return err
			}
			e, err := decode[api.Explanation](answer)
			if err != nil {
				return err
			}
			return a.print(answer, func(w io.Writer) error { return a.writeExplanation(w, e) })
		},
		ValidArgsFunction: a.completeNames("/jobs", "id"),
	}
}

// writeExplanation prints a paragraph for each reason: the reason, its end, the jobs it waits for, and the remedy.
func (a *app) writeExplanation(w io.Writer, e api.Explanation) error {
	var b strings.Builder
	for i, r := range e.Reasons {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(sanitize(r.Text) + "\n")
		if !r.Until.IsZero() {
			fmt.Fprintf(&b, "  until:  %s\n", a.timestamp(r.Until.Time))
		}
		if len(r.Jobs) > 0 {
			ids := make([]string, len(r.Jobs))
			for j, id := range r.Jobs {
				ids[j] = id.String()
			}
			fmt.Fprintf(&b, "  waits for:  %s\n", strings.Join(ids, ", "))
		}
		if r.Remedy != "" {
			fmt.Fprintf(&b, "  remedy:  %s\n", requestsToCommands(sanitize(r.Remedy)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
