package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func newExecutionCommand(a *app) *cobra.Command {
	return newParentCommand("execution", "List and show executions: jobs with their retries", newExecutionListCommand(a), newExecutionShowCommand(a))
}

func newExecutionListCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List executions, newest first",
		Example: `  rota execution list --state dead
  rota execution list --error 'connection refused' --since 7d
  rota execution list --schedule nightly --limit 7`,
	}
	list := a.executionListing()
	list.filters, list.search = jobFilters(cmd, "executions", api.ExecutionStates), &searchFlags{}
	list.search.flags(cmd, "executions")
	return list.command(a, cmd)
}

func (a *app) executionListing() listing[api.Execution] {
	return listing[api.Execution]{
		path: "/executions", none: "no executions",
		heads: []string{"ID", "^NAME", "!STATE", "?PROGRESS", "ATTEMPTS", "PLANNED", "STARTED", "TOOK", "~ERROR"},
		drop:  []string{"PLANNED", "TOOK", "ATTEMPTS", "STARTED", "ERROR", "PROGRESS"},
		row: func(e api.Execution) []string {
			took := ""
			if !e.FinishedAt.IsZero() || e.State == api.ExecutionRunning {
				took = a.elapsed(e.StartedAt.Time, e.FinishedAt.Time)
			}
			return []string{
				e.ID.String(), e.Name, e.State, cutText(progressText(e.Progress), progressMax), a.attemptsText(e), planText(e.PlanTime.Time),
				a.ago(e.StartedAt.Time), took, firstLine(string(e.Error)),
			}
		},
	}
}

// attemptsText is the number of attempts that have started, of those that may, and when a waiting retry starts.
func (a *app) attemptsText(e api.Execution) string {
	switch {
	case e.State == api.ExecutionFailed && e.NextRetryAt.After(a.now()):
		return fmt.Sprintf("%d/%d, retry %s", e.AttemptCount-1, e.MaxAttempts, a.ago(e.NextRetryAt.Time))
	case e.State == api.ExecutionFailed:
		return fmt.Sprintf("%d/%d, retry queued", e.AttemptCount-1, e.MaxAttempts)
	case e.StartedAt.IsZero():
		return fmt.Sprintf("0/%d", e.MaxAttempts)
	}
	return fmt.Sprintf("%d/%d", e.AttemptCount, e.MaxAttempts)
}

func planText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

func newExecutionShowCommand(a *app) *cobra.Command {
	return showCommand(a, &cobra.Command{
		Use: "show ID|NAME", Short: "Show an execution with its attempts; ID may be the id of any attempt",
		Example: "  rota execution show 01926a5e-7c3b\n  rota execution show nightly    # the latest execution of that name",
	}, "/executions", "", a.writeExecution)
}

func (a *app) writeExecution(w io.Writer, e api.ExecutionDetail) {
	s := &keyValues{}
	s.add("id", e.ID.String())
	s.add("name", e.Name)
	s.add("type", e.Type)
	s.add("state", e.State)
	s.add("template", string(e.Template))
	s.add("schedule", string(e.Schedule))
	s.add("group", e.GroupID.String())
	s.add("redrive of", e.RedriveOf.String())
	s.add("planned for", a.timestamp(e.PlanTime.Time))
	if e.ScopeKind != rota.GlobalScopeKind {
		s.add("scope", e.ScopeKind+" "+e.ScopeID)
	}
	s.add("created", a.timestamp(e.CreatedAt.Time))
	s.add("started", a.timestamp(e.StartedAt.Time))
	s.add("finished", a.timestamp(e.FinishedAt.Time))
	s.add("next retry", a.timestamp(e.NextRetryAt.Time))
	a.printKeyValues(w, s)
	fmt.Fprintln(w)
	t := newTable("ATTEMPT", "JOB", "!STATE", "?PROGRESS", "STARTED", "TOOK", "CODE", "~ERROR").mayDrop("TOOK", "STARTED", "CODE", "ERROR", "PROGRESS")
	for _, j := range e.Attempts {
		t.add(fmt.Sprint(j.Attempt), j.ID.String(), j.State, cutText(jobProgress(j), progressMax), a.ago(j.StartedAt.Time), a.elapsed(j.StartedAt.Time, j.FinishedAt.Time),
			runCode(j), runError(j))
	}
	a.printTable(w, t)
	writeLastError(w, e)
}

// writeLastError prints the whole error of the last attempt if the table shows only its first line.
func writeLastError(w io.Writer, e api.ExecutionDetail) {
	if len(e.Attempts) == 0 {
		return
	}
	last := e.Attempts[len(e.Attempts)-1]
	if last.Run == nil || sanitizeLines(string(last.Run.Error)) == runError(last) {
		return
	}
	indented := strings.ReplaceAll(sanitizeLines(string(last.Run.Error)), "\n", "\n  ")
	fmt.Fprintf(w, "\nThe error of attempt %d:\n%s", last.Attempt, trimLines("  "+indented))
}

// newJobRunsCommand lists the executions of one name.
func newJobRunsCommand(a *app) *cobra.Command {
	var l listFlags
	cmd := &cobra.Command{
		Use: "runs [NAME]", Short: "List executions, of one name or all", Args: optionalArg("a NAME"),
		Long: `List executions, newest first. NAME is the name that lists show: that of the schedule, or else of the template, or else
the type. If no execution has the name, it is that of a template, a schedule or a type, searched in this order. For all
executions of a type, whatever their names are: rota execution list --type TYPE.`,
		Example: `  rota job runs
  rota job runs nightly --limit 7
  rota job runs nightly --state dead --since 7d`,
		ValidArgsFunction: a.completeNames("/templates", "name"),
	}
	f := filters{}
	f.add(cmd, "state", "only executions in this `STATE`; several with commas between them", api.ExecutionStates...)
	l.flags(cmd)
	search := &searchFlags{}
	search.flags(cmd, "executions")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		query := f.query()
		if len(args) > 0 {
			field, err := a.kindOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			query.Set(field, args[0])
		}
		list := a.executionListing()
		list.search = search
		return list.print(cmd.Context(), a, query, l)
	}
	return cmd
}
