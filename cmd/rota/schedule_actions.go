package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

func newScheduleDeleteCommand(a *app) *cobra.Command {
	withTemplate, yes := false, false
	cmd := &cobra.Command{
		Use: "delete NAME", Short: "Delete a schedule; its jobs are kept", Aliases: []string{"rm"},
		Long: `Delete a schedule. Its jobs and its template are kept; with --with-template the template is archived, which is refused
if another schedule uses it. rota schedule create with --type takes over a template of its name that no schedule uses.`,
		Example: "  rota schedule delete nightly\n  rota schedule delete nightly --with-template",
		RunE: func(cmd *cobra.Command, args []string) error {
			query, what := url.Values{}, ""
			if withTemplate {
				query.Set("with_template", "true")
				what = " and archived its template"
			}
			if err := a.confirmDelete(yes, "Delete schedule %s%s?", args[0], map[bool]string{true: " and archive its template"}[withTemplate]); err != nil {
				return err
			}
			if _, err := a.call(cmd.Context(), apiclient.Request{Method: http.MethodDelete, Path: "/schedules" + pathSegment(args[0]), Query: query}); err != nil {
				return err
			}
			return a.printMessage(map[string]string{"deleted": args[0]}, "deleted schedule %s%s", args[0], what)
		},
	}
	yesFlag(cmd, &yes)
	cmd.Flags().BoolVar(&withTemplate, "with-template", false, "also archive its template, if no other schedule uses it")
	onObject(a, cmd, "/schedules")
	return cmd
}

// newScheduleSwitchCommand creates pause or resume.
func newScheduleSwitchCommand(a *app, verb, short, done string) *cobra.Command {
	cmd := &cobra.Command{Use: verb + " NAME", Short: short, Example: "  rota schedule " + verb + " nightly"}
	return actionCommand(a, cmd, "/schedules", func(v api.Schedule) string {
		next := ""
		if v.State == string(rota.ScheduleEnabled) {
			a.warnTemplate(cmd.Context(), v.Template)
		}
		switch at := v.NextFireAt.Time; {
		case v.State != string(rota.ScheduleEnabled) || at.IsZero():
		case at.After(a.now()):
			next = ", fires " + a.ago(at)
		default:
			next = ", applies catch-up " + v.CatchUp + " to the times it missed"
		}
		return fmt.Sprintf("%s schedule %s%s", done, v.Name, next)
	})
}

// warnTemplate warns if nothing runs the jobs of a template.
func (a *app) warnTemplate(ctx context.Context, name string) {
	if t, _, err := fetch[api.Template](ctx, a, newGet("/templates"+pathSegment(name))); err == nil {
		a.warnUnhandled(ctx, t.Type)
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
		result, answer, err := fetch[api.Triggered](cmd.Context(), a, newPost("/schedules"+pathSegment(args[0])+"/trigger", body))
		if err != nil {
			return err
		}
		if len(result.Items) > 0 {
			a.warnUnhandled(cmd.Context(), result.Items[0].Type)
		}
		return a.print(answer, func(w io.Writer) { a.writeJobs(w, result.Items) })
	}
	return cmd
}

// writeJobs prints a table of created jobs.
func (a *app) writeJobs(w io.Writer, jobs []api.Job) {
	t := newTable(jobHeads...).mayDrop(jobDrop...).orElse("no jobs were created")
	for _, j := range jobs {
		t.add(a.jobRow(j)...)
	}
	a.printTable(w, t)
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
		body := map[string]any{"from": first.UTC(), "to": last.UTC()}
		result, answer, err := fetch[api.Backfilled](cmd.Context(), a, newPost("/schedules"+pathSegment(args[0])+"/backfill", body))
		if err != nil {
			return err
		}
		return a.print(answer, func(w io.Writer) {
			a.writeJobs(w, result.Items)
			if result.Known > 0 {
				fmt.Fprintf(w, "%s already\n", plural(result.Known, "execution existed", "executions existed"))
			}
		})
	}
	return cmd
}

func newScheduleUpcomingCommand(a *app) *cobra.Command {
	var count int
	var from, zone string
	cmd := &cobra.Command{
		Use: "upcoming NAME", Short: "List the next times of a schedule, with notes about clock changes", Args: requireArgs("a NAME"),
		Example:           "  rota schedule upcoming nightly -n 5\n  rota schedule upcoming nightly --from 2027-03-27",
		ValidArgsFunction: a.completeNames("/schedules", "name"),
	}
	countFlag(cmd, &count)
	cmd.Flags().StringVar(&from, "from", "", "list times after `TIME` (default: now)")
	zoneFlag(cmd, &zone)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		query := url.Values{"n": {strconv.Itoa(count)}}
		if from != "" {
			start, err := parseTimeFlag("--from", from, zone)
			if err != nil {
				return err
			}
			query.Set("from", start.UTC().Format(time.RFC3339Nano))
		}
		path := "/schedules" + pathSegment(args[0]) + "/upcoming"
		u, answer, err := fetch[api.Upcoming](cmd.Context(), a, apiclient.Request{Method: http.MethodGet, Path: path, Query: query})
		if err != nil {
			return err
		}
		return a.print(answer, func(w io.Writer) { a.writeUpcoming(w, u) })
	}
	return cmd
}

// writeUpcoming prints the table of rota cron with the times from the server. The distance is from now, not from the
// start of the list.
func (a *app) writeUpcoming(w io.Writer, u api.Upcoming) {
	fmt.Fprintf(w, "%s\n\n", sanitize(u.Describe))
	t := newTimesTable().orElse("the schedule does not fire again")
	for _, item := range u.Items {
		local, err := time.Parse(time.RFC3339Nano, item.At)
		if err != nil {
			local = item.UTC.Time
		}
		t.add(local.Format("Mon"), local.Format("2006-01-02 15:04:05 -07:00"), item.UTC.UTC().Format("2006-01-02 15:04:05"),
			a.until(item.UTC.Time), item.Note)
	}
	a.printTable(w, t)
}
