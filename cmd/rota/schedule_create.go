package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

const scheduleCreateExample = `  rota schedule create nightly --cron '30 2 * * *' --tz Europe/Berlin --type report.build -p format=pdf
  rota schedule create heartbeat --every 30s --template ping --overlap skip
  rota schedule create launch --at '2026-11-15 07:00' --tz Europe/Berlin --template announce
  rota schedule create summaries --cron '0 7 * * *' --template summary --scope user=7 --scope user=8
  rota schedule create load --cron '0 3 * * *' --template load --depends-on nightly`

// scheduleFlags holds the flags of create and edit.
type scheduleFlags struct {
	kind, template string
	zone           string
	scopes         []string
	dependsOn      []string
	params         paramFlags
	fields         *bodyFlags
}

func (f *scheduleFlags) flags(a *app, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.template, "template", "", "`NAME` of the template to run")
	s := newBodyFlags(cmd)
	f.fields = s
	s.add("cron", "cron", "EXPRESSION", "fire at the times of a cron expression; rota cron shows them", asText, cronNames...)
	s.add("every", "every", "DURATION", "fire at this interval", asDuration)
	s.add("at", "at", "TIME", "fire once at this time", asTime)
	flags.StringVar(&f.zone, "tz", "", "IANA time `ZONE` of --cron (default: UTC) and of times without an offset (default: the zone of this machine)")
	s.add("starts", "starts_at", "TIME", "fire not before this time; intervals of --every start here", asTime)
	s.add("ends", "ends_at", "TIME", "fire not after this time", asTime)
	s.add("catch-up", "catch_up", "MODE", "which missed times to run after a pause or downtime: none, last or all", asText, "none", "last", "all")
	s.add("overlap", "overlap", "MODE", "what a fire does while the previous execution runs: allow, skip or cancel (the previous one)", asText, "allow", "skip", "cancel")
	s.add("on-completion", "on_completion", "ACTION", "what to do with a schedule with --at after it fired: preserve or drop", asText, "preserve", "drop")
	s.add("class", "class", "CLASS", "what its jobs need from the cluster while they run: LOCAL_SAFE, LEADER_ONLY or QUORUM_REQUIRED", asText,
		"LOCAL_SAFE", "LEADER_ONLY", "QUORUM_REQUIRED")
	s.add("description", "description", "TEXT", "description of the schedule", asText)
	s.policy()
	flags.StringArrayVar(&f.scopes, "scope", nil, "scope of an execution, as `KIND=ID`; each fire creates one execution for each scope (repeatable)")
	flags.StringSliceVar(&f.dependsOn, "depends-on", nil, "start after the execution of the schedule `NAME` for the same time (repeatable)")
	f.params.flags(cmd)
}

// body builds the request without the params, since create may put those into a new template.
func (f *scheduleFlags) body() (map[string]any, error) {
	body := map[string]any{}
	f.fields.zone = f.zone
	if f.zone != "" {
		body["timezone"] = f.zone
	}
	if f.template != "" {
		body["template"] = f.template
	}
	if len(f.scopes) > 0 {
		scopes := make([]api.Scope, len(f.scopes))
		for i, text := range f.scopes {
			var err error
			if scopes[i], err = readScope(text); err != nil {
				return nil, err
			}
		}
		body["scopes"] = scopes
	}
	if len(f.dependsOn) > 0 {
		body["depends_on"] = f.dependsOn
	}
	if err := f.fields.fill(body); err != nil {
		return nil, err
	}
	return body, nil
}

func newScheduleCreateCommand(a *app) *cobra.Command {
	var f scheduleFlags
	disabled := false
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a schedule", Args: requireArgs("a NAME"), Example: scheduleCreateExample,
		Long: `Create a schedule that runs a template by --cron, --every or --at. With --type instead of --template the command also
creates a template of the same name with that type and the params, both or neither. If a template of that name exists
and no schedule runs it, the command changes its type and params.`,
	}
	f.flags(a, cmd)
	cmd.Flags().StringVar(&f.kind, "type", "", "create a template of the same name for this `TYPE`")
	cmd.Flags().BoolVar(&disabled, "disabled", false, "create the schedule disabled; rota schedule resume enables it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body, err := f.body()
		if err != nil {
			return err
		}
		if err := f.check(body); err != nil {
			return err
		}
		body["name"] = args[0]
		if disabled {
			body["state"] = string(rota.ScheduleDisabled)
		}
		params, err := f.params.read(a)
		if err != nil {
			return err
		}
		return a.createSchedule(cmd.Context(), args[0], f.kind, params, body)
	}
	return cmd
}

// check reports missing flags before anything is created.
func (f *scheduleFlags) check(body map[string]any) error {
	times := 0
	for _, field := range []string{"cron", "every", "at"} {
		if body[field] != nil {
			times++
		}
	}
	switch {
	case times > 1:
		return usagef("keep one of them", "--cron, --every and --at cannot be combined")
	case times == 0:
		return usagef("add one of them, such as --cron '30 2 * * *'", "schedule create needs one of --cron, --every and --at")
	case f.kind == "" && f.template == "":
		return usagef("name a template, or a type to create one", "schedule create needs --template or --type")
	case f.kind != "" && f.template != "":
		return usagef("remove one of them", "--type creates a template, so it cannot be combined with --template")
	}
	return nil
}

func (a *app) createSchedule(ctx context.Context, name, kind string, params json.RawMessage, body map[string]any) error {
	var v api.Schedule
	var answer json.RawMessage
	var note string
	var err error
	if kind != "" {
		v, answer, note, err = a.createScheduleOfType(ctx, name, kind, params, body)
	} else {
		if params != nil {
			body["param_overrides"] = params
		}
		v, answer, err = create[api.Schedule](ctx, a, "/schedules", body)
	}
	if err != nil {
		return err
	}
	next := "does not fire"
	if v.State == string(rota.ScheduleEnabled) && !v.NextFireAt.IsZero() {
		next = "fires " + a.ago(v.NextFireAt.Time)
	}
	return a.printMessage(answer, "created schedule %s: %s; %s%s", v.Name, v.Describe, next, note)
}

func newScheduleEditCommand(a *app) *cobra.Command {
	var f scheduleFlags
	var reset []string
	cmd := &cobra.Command{
		Use: "edit NAME", Short: "Change the fields of a schedule that the flags name", Args: requireArgs("a NAME"),
		Long: `Change the fields that the flags name and leave the others. --cron, --every and --at replace each other. --params
replaces all params of the schedule. --reset FIELD resets a field to its default; FIELD is its name in JSON
output.`,
		Example: `  rota schedule edit nightly --cron '0 3 * * *'
  rota schedule edit nightly --overlap skip --reset ends_at,depends_on
  rota schedule edit nightly --owner ada`,
		ValidArgsFunction: a.completeNames("/schedules", "name"),
	}
	f.flags(a, cmd)
	ownerFlag(f.fields)
	resetFlag(cmd, &reset)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body, err := f.body()
		if err != nil {
			return err
		}
		params, err := f.params.read(a)
		if err != nil {
			return err
		}
		if params != nil {
			body["param_overrides"] = params
		}
		return a.patch(cmd, "/schedules"+pathSegment(args[0]), body, reset, "changed schedule "+args[0])
	}
	return cmd
}
