package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func newScheduleDeleteCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete a schedule; its jobs are kept", Args: requireArgs("a NAME"),
		Example: "  rota schedule delete nightly",
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := a.call(cmd.Context(), request{method: http.MethodDelete, path: "/schedules" + pathSegment(args[0])}); err != nil {
				return err
			}
			return a.printMessage(rota.EncodeSpec(map[string]string{"deleted": args[0]}), "deleted schedule %s", args[0])
		},
		ValidArgsFunction: a.completeNames("/schedules", "name"),
	}
}

func newSchedulePauseCommand(a *app) *cobra.Command {
	return a.scheduleSwitch("pause", "Pause a schedule; rota schedule resume applies its catch-up mode", "paused")
}

func newScheduleResumeCommand(a *app) *cobra.Command {
	return a.scheduleSwitch("resume", "Resume a paused or disabled schedule", "resumed")
}

func (a *app) scheduleSwitch(verb, short, done string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " NAME", Short: short, Args: requireArgs("a NAME"), Example: "  rota schedule " + verb + " nightly",
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := a.post(cmd.Context(), "/schedules"+pathSegment(args[0])+"/"+verb, nil)
			if err != nil {
				return err
			}
			v, err := decode[api.Schedule](answer)
			if err != nil {
				return err
			}
			next := ""
			if v.State == string(rota.ScheduleEnabled) && !v.NextFireAt.IsZero() {
				next = ", fires " + a.ago(v.NextFireAt.Time)
			}
			return a.printMessage(answer, "%s schedule %s%s", done, v.Name, next)
		},
		ValidArgsFunction: a.completeNames("/schedules", "name"),
	}
}

func newScheduleTriggerCommand(a *app) *cobra.Command {
	var params paramFlags
	cmd := &cobra.Command{
		Use: "trigger NAME", Short: "Fire a schedule now, in addition to its times", Args: requireArgs("a NAME"),
		Example:           "  rota schedule trigger nightly\n  rota schedule trigger nightly -p full=true --priority 10",
		ValidArgsFunction: a.completeNames("/schedules", "name"),
	}
	params.flags(cmd)
	s := newBodyFlags(cmd)
	s.add("priority", "priority", "N", "priority; jobs with a higher N start first", asInt)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body := map[string]any{}
		if err := fillParams(a, body, "params", &params, s); err != nil {
			return err
		}
		answer, err := a.post(cmd.Context(), "/schedules"+pathSegment(args[0])+"/trigger", body)
		if err != nil {
			return err
		}
		result, err := decode[api.Triggered](answer)
		if err != nil {
			return err
		}
		return a.print(answer, func(w io.Writer) error { return a.writeJobs(w, result.Items) })
	}
	return cmd
}

// writeJobs prints a table of created jobs.
func (a *app) writeJobs(w io.Writer, jobs []api.Job) error {
	if len(jobs) == 0 {
		_, err := fmt.Fprintln(w, "no jobs were created")
		return err
	}
	t := newJobTable()
	for _, j := range jobs {
		t.add(a.jobRow(j)...)
	}
	return a.printTable(w, t)
}

func newScheduleBackfillCommand(a *app) *cobra.Command {
	var from, to, zone string
	cmd := &cobra.Command{
		Use: "backfill NAME --from TIME --to TIME", Short: "Create the executions of past times", Args: requireArgs("a NAME"),
		DisableFlagsInUseLine: true,
		Long: `Create an execution for every time of the schedule from --from to --to, both included, that has none yet. A second
call creates no duplicates.`,
		Example:           "  rota schedule backfill nightly --from 2026-11-01 --to 2026-11-07T00:00:00Z",
		ValidArgsFunction: a.completeNames("/schedules", "name"),
	}
	cmd.Flags().StringVar(&from, "from", "", "first `TIME`: RFC 3339, or YYYY-MM-DD[ HH:MM] in the zone of --tz or of this machine")
	cmd.Flags().StringVar(&to, "to", "", "last `TIME`")
	zoneFlag(cmd, &zone)
	completeFrom(cmd, "from", nil)
	completeFrom(cmd, "to", nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if from == "" || to == "" {
			return usagef("add both", "schedule backfill needs --from and --to")
		}
		first, err := parseTimeFlag("--from", from, zone)
		if err != nil {
			return err
		}
		last, err := parseTimeFlag("--to", to, zone)
		if err != nil {
			return err
		}
		answer, err := a.post(cmd.Context(), "/schedules"+pathSegment(args[0])+"/backfill", map[string]any{"from": first.UTC(), "to": last.UTC()})
		if err != nil {
			return err
		}
		return a.printBackfilled(answer)
	}
	return cmd
}

func (a *app) printBackfilled(answer json.RawMessage) error {
	result, err := decode[api.Backfilled](answer)
	if err != nil {
		return err
	}
	return a.print(answer, func(w io.Writer) error {
		if err := a.writeJobs(w, result.Items); err != nil || result.Known == 0 {
			return err
		}
		_, err := fmt.Fprintf(w, "%s already\n", plural(result.Known, "execution existed", "executions existed"))
		return err
	})
}
