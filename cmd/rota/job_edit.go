package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

func newJobEditCommand(a *app) *cobra.Command {
	var params paramFlags
	cmd := &cobra.Command{
		Use: "edit ID|NAME", Short: "Change the start time, priority or params of a queued job", Args: requireArgs("an ID or a NAME"),
		Long: `Change a job that has not started, or a retry that waits. The id of an earlier attempt selects the waiting retry. With a
time in the future the job is delayed until then, even if it was ready. With --delay 0s or a time in the past a delayed
job becomes ready. -p changes single params, and --params replaces all of them.`,
		Example: `  rota job edit ID --at '2026-11-15 07:00' --tz Europe/Berlin
  rota job edit ID --delay 2h --priority 10
  rota job edit ID -p month=2026-11`,
		ValidArgsFunction: a.completeNames("/jobs", "id"),
	}
	s := newBodyFlags(cmd)
	s.add("at", "run_at", "TIME", "start the job at this time: RFC 3339, or YYYY-MM-DD HH:MM in the zone of --tz or of this machine", asTime)
	s.add("delay", "delay", "DURATION", "start the job this long from now at the earliest", asDuration)
	s.add("priority", "priority", "N", "priority; jobs with a higher N start first", asInt)
	s.zoneFlag()
	params.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		field := "merge_params"
		if params.document != "" {
			field = "params"
		}
		body := map[string]any{}
		if err := fillParams(a, body, field, &params, s); err != nil {
			return err
		}
		if len(body) == 0 {
			return usagef("add --at, --delay, --priority, -p or --params", "job edit needs a change")
		}
		if err := refuseTwoTimes(body); err != nil {
			return err
		}
		id, err := a.resolveJob(cmd.Context(), args[0], onlyWaiting)
		if err != nil {
			return err
		}
		j, answer, err := fetch[api.Job](cmd.Context(), a, apiclient.Request{Method: http.MethodPatch, Path: "/jobs" + pathSegment(id), Body: body})
		if err != nil {
			return err
		}
		return a.printMessage(answer, "%s changed: %s%s", j.ID, a.stateText(j), a.startText(cmd, s.zone))
	}
	return cmd
}

// startText describes the time of --at in the zone in which it was written. A time that has passed is no delay.
func (a *app) startText(cmd *cobra.Command, zone string) string {
	if !cmd.Flags().Changed("at") {
		return ""
	}
	at, err := parseTimeFlag("--at", cmd.Flag("at").Value.String(), zone)
	if err != nil {
		return ""
	}
	local := at.Format("2006-01-02 15:04:05 -07:00")
	if !at.After(a.now()) {
		return "; " + local + " has passed, so it may start at once"
	}
	return ", at " + local
}

// refuseTwoTimes refuses two flags that set the start of a job.
func refuseTwoTimes(body map[string]any) error {
	if body["run_at"] != nil && body["delay"] != nil {
		return usagef("remove one of them", "--at and --delay both set when the job starts")
	}
	return nil
}

func newJobRunNowCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "run-now ID|NAME", Short: "Run a delayed job or a waiting retry now",
		Long: `End the delay of a job or of a waiting retry. The job becomes ready, at the end of its priority. The id of an earlier
attempt selects the waiting retry. A job that is not delayed stays as it is; if a limit holds it back, the command
says which. A job that waits for earlier members of its group, for another schedule or for an earlier execution is
refused; rota job explain shows what it waits for.`,
		Example: "  rota job run-now 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60",
	}
	onObject(a, cmd, "/jobs")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := a.resolveJob(cmd.Context(), args[0], onlyWaiting)
		if err != nil {
			return err
		}
		j, answer, err := fetch[api.Job](cmd.Context(), a, newPost("/jobs"+pathSegment(id)+"/run-now", nil))
		if err != nil {
			return err
		}
		return a.printMessage(answer, "%s %s%s", j.ID, a.stateText(j), a.whyBlocked(cmd.Context(), j))
	}
	return cmd
}

// whyBlocked is the first reason why a blocked job does not run, after a colon. It is empty for other jobs, and if the
// server cannot explain it.
func (a *app) whyBlocked(ctx context.Context, j api.Job) string {
	if j.State != string(rota.StateBlocked) || a.output != formatTable {
		return ""
	}
	e, _, err := fetch[api.Explanation](ctx, a, newGet("/jobs"+pathSegment(j.ID.String())+"/explain"))
	if err != nil || len(e.Reasons) == 0 {
		return ""
	}
	return ": " + sanitize(e.Reasons[0].Text)
}

func newJobRunAgainCommand(a *app) *cobra.Command {
	var params paramFlags
	cmd := &cobra.Command{
		Use: "run-again ID|NAME", Short: "Run an ended job again, as a new execution", Args: requireArgs("an ID or a NAME"),
		Long: `Run an execution that has ended again, also one that completed. The new execution has the same type, template, params,
priority, policy and scope, and its field redrive_of is the old one. -p and --params override single params; the others
stay. For an execution that did not complete this is the same as rota job retry.`,
		Example: `  rota job run-again 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60
  rota job run-again ID -p month=2026-10`,
		ValidArgsFunction: a.completeNames("/executions", "id"),
	}
	params.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body, err := repeatBody(a, &params)
		if err != nil {
			return err
		}
		id, err := a.resolveJob(cmd.Context(), args[0], latest)
		if err != nil {
			return err
		}
		j, answer, err := fetch[api.Job](cmd.Context(), a, newPost("/jobs"+pathSegment(id)+"/run-again", body))
		if err != nil {
			return err
		}
		return a.printMessage(answer, "%s runs %s again: %s%s", j.ID, id, a.stateText(j), a.lostKey(cmd.Context(), id, j))
	}
	return cmd
}

// lostKey says that a repeated execution does not have the unique key of the first, because that still holds it.
func (a *app) lostKey(ctx context.Context, id string, j api.Job) string {
	if j.UniqueKey != "" || a.output != formatTable {
		return ""
	}
	before, _, err := fetch[api.Job](ctx, a, newGet("/jobs"+pathSegment(id)))
	if err != nil || before.UniqueKey == "" {
		return ""
	}
	return fmt.Sprintf("; it has no unique key, because %s still holds %s", before.ExecutionID, strconv.Quote(string(before.UniqueKey)))
}

// repeatBody is the request of a retry or a repeat: the params to change, if there are any.
func repeatBody(a *app, params *paramFlags) (map[string]any, error) {
	body := map[string]any{}
	changes, err := params.read(a)
	if changes != nil {
		body["params"] = changes
	}
	return body, err
}
