package main

import (
	"context"
	"fmt"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newJobCancelCommand(a *app) *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use: "cancel [ID|NAME]...", Short: "Cancel jobs; running jobs are asked to stop",
		Example: `  rota job cancel 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60 --reason 'wrong month'
  rota job cancel --type report.build --state queued     # asks first
  rota job cancel --schedule nightly --yes`,
		ValidArgsFunction: a.completeNames("/jobs", "id"),
	}
	cmd.Flags().Var(textFlag(&reason, "TEXT"), "reason", "reason, which is stored with each job")
	body := func() map[string]any { return reasonBody(reason) }
	return (&bulk{
		path: cancelPath, names: onlyOpen, question: "Cancel every job%s that has not ended%s?", body: body,
		one: func(ctx context.Context, id string) error { return a.cancelJob(ctx, id, body()) },
		done: func(total api.Many) string {
			return fmt.Sprintf("cancelled %s, asked %s to stop", plural(total.Cancelled, "job", "jobs"), plural(total.Stopping, "running job", "running jobs"))
		},
	}).command(a, cmd, "cancel all jobs that have not ended", openStates)
}

// reasonBody is a request with a reason, if there is one.
func reasonBody(reason string) map[string]any {
	body := map[string]any{}
	if reason != "" {
		body["reason"] = reason
	}
	return body
}

func (a *app) cancelJob(ctx context.Context, id string, body map[string]any) error {
	j, answer, err := fetch[api.JobCancelled](ctx, a, newPost("/jobs"+pathSegment(id)+"/cancel", body))
	if err != nil {
		return err
	}
	if j.Stopping {
		return a.printMessage(answer, "%s is running and was asked to stop", j.ID)
	}
	return a.printMessage(answer, "%s %s", j.ID, j.State)
}

func newJobRetryCommand(a *app) *cobra.Command {
	return retryCommand(a, &cobra.Command{
		Short: "Retry jobs that failed for good, were cancelled or were skipped",
		Long: `Retry executions that ended without completing. Each gets a new execution with the same params and policy, a redrive: its
field redrive_of is the old execution, and the audit entry is JOB_REDRIVEN. Automatic retries are attempts of the same
execution instead. A NAME stands for its only dead letter or, if it has none, for its only execution that was cancelled
or skipped, and was not retried. -p and --params override single params; the others stay. rota job run-again also takes
completed executions.`,
		Example: `  rota job retry 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60
  rota job retry ID -p to=ada@example.com
  rota job retry --type mail.send --state failed`,
	}, "/jobs/retry", onlyEnded, []string{"failed", "cancelled", "skipped"})
}

// retryCommand completes a command that retries jobs by their ids, or all that match the filter.
func retryCommand(a *app, cmd *cobra.Command, path string, names meaning, states []string) *cobra.Command {
	cmd.Use, cmd.ValidArgsFunction = "retry [ID|NAME]...", a.completeNames("/dead", "execution_id")
	var params paramFlags
	params.flags(cmd)
	var body map[string]any
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		body, err = repeatBody(a, &params)
		return err
	}
	return (&bulk{
		path: path, names: names, question: "Retry every job%s that ended without completing%s?", body: func() map[string]any { return body },
		one:  func(ctx context.Context, id string) error { return a.retryJob(ctx, id, body) },
		done: func(total api.Many) string { return "retried " + plural(total.Retried, "job", "jobs") },
	}).command(a, cmd, "retry all dead letters", states)
}

func (a *app) retryJob(ctx context.Context, id string, body map[string]any) error {
	j, answer, err := fetch[api.Job](ctx, a, newPost("/jobs"+pathSegment(id)+"/retry", body))
	if err != nil {
		return err
	}
	return a.printMessage(answer, "%s retries %s: %s", j.ID, id, a.stateText(j))
}
