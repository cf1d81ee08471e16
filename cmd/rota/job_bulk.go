package main

import (
	"context"
	"fmt"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newJobCancelCommand(a *app) *cobra.Command {
	var m bulk
	reason := ""
	cmd := &cobra.Command{
		Use: "cancel [ID]...", Short: "Cancel jobs; running jobs are asked to stop",
		Example: `  rota job cancel 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60 --reason 'wrong month'
  rota job cancel --type report.build --state queued     # asks first
  rota job cancel --schedule nightly --yes`,
		ValidArgsFunction: a.completeNames("/jobs", "id"),
	}
	m.flags(cmd, "cancel all jobs that have not ended", openStates)
	cmd.Flags().Var(textFlag(&reason, "TEXT"), "reason", "reason, which is stored with each job")
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if err := m.check(cmd, ids); err != nil {
			return err
		}
		body := reasonBody(reason)
		if len(ids) > 0 {
			return forEachID(ids, func(id string) error { return a.cancelJob(cmd.Context(), id, body) })
		}
		if err := a.confirm(m.yes, func() string {
			return "Cancel every job" + m.filterText() + " that has not ended" + m.countText(cmd.Context(), a, cancelPath) + "?"
		}); err != nil {
			return err
		}
		done, err := m.apply(cmd.Context(), a, cancelPath, body)
		if err != nil {
			return err
		}
		return a.printBulk(done, fmt.Sprintf("cancelled %s, asked %s to stop", plural(done.Cancelled, "job", "jobs"), plural(done.Stopping, "running job", "running jobs")))
	}
	return cmd
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
	var m bulk
	cmd := &cobra.Command{
		Use: "retry [ID]...", Short: "Retry jobs that failed for good or were cancelled",
		Long: `Retry an execution that ended without completing. The retry is a new execution with the same params and policy, and
refers to the old one.`,
		Example: `  rota job retry 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60
  rota job retry --type mail.send --state failed`,
		ValidArgsFunction: a.completeNames("/dead", "execution_id"),
	}
	m.flags(cmd, "retry all dead letters", []string{"failed", "cancelled", "skipped"})
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if err := m.check(cmd, ids); err != nil {
			return err
		}
		return a.retry(cmd.Context(), &m, ids, retryPath)
	}
	return cmd
}

// retry retries jobs by their ids, or all that match the filter.
func (a *app) retry(ctx context.Context, m *bulk, ids []string, path string) error {
	if len(ids) > 0 {
		return forEachID(ids, func(id string) error { return a.retryJob(ctx, id) })
	}
	if err := a.confirm(m.yes, func() string {
		return "Retry every job" + m.filterText() + " that ended without completing" + m.countText(ctx, a, path) + "?"
	}); err != nil {
		return err
	}
	done, err := m.apply(ctx, a, path, nil)
	if err != nil {
		return err
	}
	return a.printBulk(done, "retried "+plural(done.Retried, "job", "jobs"))
}

func (a *app) retryJob(ctx context.Context, id string) error {
	j, answer, err := fetch[api.Job](ctx, a, newPost("/jobs"+pathSegment(id)+"/retry", nil))
	if err != nil {
		return err
	}
	return a.printMessage(answer, "%s retries %s: %s", j.ID, id, a.stateText(j))
}

// forEachID calls act for each id and stops at the first error.
func forEachID(ids []string, act func(id string) error) error {
	for _, id := range ids {
		if err := act(id); err != nil {
			return err
		}
	}
	return nil
}

// printBulk prints how many jobs were changed.
func (a *app) printBulk(done api.Many, text string) error {
	if done.Refused > 0 {
		text += fmt.Sprintf("; %d skipped because they changed meanwhile", done.Refused)
	}
	return a.printMessage(done, "%s", text)
}
