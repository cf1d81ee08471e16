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
	cmd := &cobra.Command{
		Use: "list", Short: "List dead letters, newest first",
		Long: `List dead letters, newest first: executions that failed for good and were not retried. The column EXECUTION is the id of
the execution, execution_id in JSON output, where id is that of its last attempt; every command takes both. rota
execution list --state dead also has the executions that were retried since.`,
		Example: "  rota dead\n  rota dead list --type mail.send",
	}
	search := &searchFlags{}
	search.flags(cmd, "jobs")
	return listing[api.Job]{
		path: "/dead", search: search, filters: jobFilters(cmd, "jobs", nil), none: "no dead letters",
		heads: []string{"EXECUTION", "^NAME", "ATTEMPTS", "DIED", "CODE", "~ERROR"}, drop: []string{"ATTEMPTS", "CODE", "DIED", "ERROR"},
		row: func(j api.Job) []string {
			return []string{j.ExecutionID.String(), j.Name, fmt.Sprint(j.Attempt), a.ago(j.FinishedAt.Time), runCode(j), runError(j)}
		},
	}.command(a, cmd)
}

func newDeadRetryCommand(a *app) *cobra.Command {
	return retryCommand(a, &cobra.Command{
		Short: "Retry dead letters",
		Long: `Retry dead letters. Each gets a new execution, as with rota job retry, which also takes cancelled and skipped
executions. -p and --params override single params; the others stay.`,
		Example: `  rota dead retry 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60
  rota dead retry ID -p to=ada@example.com   # with a changed param
  rota dead retry --type mail.send           # asks first
  rota dead retry --all --yes`,
	}, "/dead/retry", onlyDead, nil)
}
