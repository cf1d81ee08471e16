package main

import (
	"fmt"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newDeadCommand(a *app) *cobra.Command {
	return newParentCommand("dead", "List and retry dead letters: jobs that failed for good", newDeadListCommand(a), newDeadRetryCommand(a))
}

func newDeadListCommand(a *app) *cobra.Command {
	var l listFlags
	f := filters{}
	cmd := &cobra.Command{
		Use: "list", Short: "List dead letters, newest first", Args: noArgs(), Example: "  rota dead list --type mail.send",
	}
	deadFilters(cmd, f)
	l.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		found, err := a.list(cmd.Context(), "/dead", f.query(), l)
		if err != nil {
			return err
		}
		t := newTable("ID", "^NAME", "ATTEMPTS", "DIED", "CODE", "~ERROR").mayDrop("ATTEMPTS", "CODE", "DIED", "ERROR")
		return printPage(a, found, "no dead letters", t, func(j api.Job) []string {
			return []string{j.ExecutionID.String(), j.Name, fmt.Sprint(j.Attempt), a.ago(j.FinishedAt.Time), runCode(j), runError(j)}
		})
	}
	return cmd
}

func deadFilters(cmd *cobra.Command, f filters) {
	f.add(cmd, "type", "only jobs of this `TYPE`")
	f.add(cmd, "template", "only jobs of the template `NAME`")
	f.add(cmd, "schedule", "only jobs of the schedule `NAME`")
	f.add(cmd, "group", "only jobs of the group with this `ID`")
}

func newDeadRetryCommand(a *app) *cobra.Command {
	m := bulk{filters: filters{}}
	cmd := &cobra.Command{
		Use: "retry [ID]...", Short: "Retry dead letters",
		Example: `  rota dead retry 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60
  rota dead retry --type mail.send           # asks first
  rota dead retry --all --yes`,
		ValidArgsFunction: a.completeNames("/dead", "execution_id"),
	}
	deadFilters(cmd, m.filters)
	cmd.Flags().BoolVar(&m.all, "all", false, "retry all dead letters")
	cmd.Flags().BoolVar(&m.yes, "yes", false, "do not ask for confirmation; required without a terminal")
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if err := m.check(cmd, ids); err != nil {
			return err
		}
		return a.retry(cmd.Context(), &m, ids, deadRetryPath)
	}
	return cmd
}
