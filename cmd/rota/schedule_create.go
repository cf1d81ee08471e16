package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

const scheduleCreateExample = `  rota schedule create nightly --cron '30 2 * * *' --tz Europe/Berlin --type report.build -p format=pdf
  rota schedule create heartbeat --every 30s --template ping --overlap skip
  rota schedule create launch --at '2026-11-15 07:00' --tz Europe/Berlin --template announce
  rota schedule create summaries --cron '0 7 * * *' --template summary --scope user=7 --scope user=8
  rota schedule create load --cron '0 3 * * *' --template load --depends-on nightly`

// scheduleFlags is the flags of create and edit that are no plain fields.
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
	flags.StringVar(&f.template, "template", "", "the template `NAME` that it runs")
	a.completeFlagNames(cmd, "template", "/templates", "name")
	s := newBodyFlags(cmd)
	f.fields = s
	s.add("cron", "cron", "fire at the times of this `EXPRESSION`; rota cron shows them", asText, cronNames...)
	s.add("every", "every", "fire once in every `DURATION`", asDuration)
	s.add("at", "at", "fire once, at `TIME`", asTime)
	flags.StringVar(&f.zone, "tz", "", "IANA `ZONE` of --cron (default UTC), and of times without an offset (default this machine's)")
	completeZones(cmd)
	s.add("starts", "starts_at", "not before `TIME`; --every counts from it", asTime)
	s.add("ends", "ends_at", "not after `TIME`", asTime)
	s.add("catch-up", "catch_up", "what becomes of times that passed while nobody fired, a `WORD`: none, last or all", asText, "none", "last", "all")
	s.add("overlap", "overlap", "what a fire does while the one before has not ended, a `WORD`: allow, skip or cancel", asText, "allow", "skip", "cancel")
	s.add("on-completion", "on_completion", "what becomes of one with --at when it is done, a `WORD`: preserve or drop", asText, "preserve", "drop")
	s.add("class", "class", "what its jobs need of the cluster while they run, a `WORD`: LOCAL_SAFE, LEADER_ONLY or QUORUM_REQUIRED", asText,
		"LOCAL_SAFE", "LEADER_ONLY", "QUORUM_REQUIRED")
	s.add("description", "description", "`TEXT` for people", asText)
	s.policy()
	flags.StringArrayVar(&f.scopes, "scope", nil, "what an execution is for, as `KIND=ID`; a fire makes one for each (repeatable)")
	completeFrom(cmd, "scope", nil)
	flags.StringSliceVar(&f.dependsOn, "depends-on", nil, "wait for the execution of the schedule `NAME` (repeatable)")
	a.completeFlagNames(cmd, "depends-on", "/schedules", "name")
	f.params.flags(cmd)
}

// body puts the flags into a request, except for the params, which go to the template if there is none yet.
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
		scopes := make([]httpapi.Scope, len(f.scopes))
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
	if body["cron"] == nil && (body["at"] != nil || body["every"] != nil) {
		delete(body, "timezone") // it was for reading the time
	}
	return body, nil
}

func newScheduleCreateCommand(a *app) *cobra.Command {
	var f scheduleFlags
	disabled := false
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Makes a schedule", Args: requireArgs("a NAME"), Example: scheduleCreateExample,
		Long: `Makes a schedule that runs a template by --cron, --every or --at. With --type in place of --template it makes a
template of the same name first, and the params become that template's. A template of that name that no schedule
runs is changed to the type and the params.`,
	}
	f.flags(a, cmd)
	cmd.Flags().StringVar(&f.kind, "type", "", "make a template of the schedule's name that runs this `TYPE`")
	a.completeFlagNames(cmd, "type", "/types", "name")
	cmd.Flags().BoolVar(&disabled, "disabled", false, "make it without letting it fire; rota schedule resume does")
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

// check refuses what is missing before anything is made.
func (f *scheduleFlags) check(body map[string]any) error {
	times := 0
	for _, field := range []string{"cron", "every", "at"} {
		if body[field] != nil {
			times++
		}
	}
	switch {
	case times != 1:
		return usagef("give one of them, such as --cron '30 2 * * *'", "schedule create needs one of --cron, --every and --at")
	case f.kind == "" && f.template == "":
		return usagef("name a template, or a type to make one of", "schedule create needs --template or --type")
	case f.kind != "" && f.template != "":
		return usagef("leave one of them out", "--type makes a template, so --template has nothing to name")
	}
	return nil
}

func (a *app) createSchedule(ctx context.Context, name, kind string, params json.RawMessage, body map[string]any) error {
	answer, note, err := a.postSchedule(ctx, name, kind, params, body)
	if err != nil {
		return err
	}
	v, err := decode[httpapi.Schedule](answer)
	if err != nil {
		return err
	}
	next := "does not fire"
	if v.State == string(rota.ScheduleEnabled) && !v.NextFireAt.IsZero() {
		next = "fires " + a.ago(v.NextFireAt.Time)
	}
	return a.printMessage(answer, "made schedule %s: %s; %s%s", v.Name, v.Describe, next, note)
}

// postSchedule makes a schedule of a type or of the template that its body names.
func (a *app) postSchedule(
	ctx context.Context, name, kind string, params json.RawMessage, body map[string]any,
) (answer json.RawMessage, note string, err error) {
	if kind != "" {
		return a.postScheduleOfType(ctx, name, kind, params, body)
	}
	if params != nil {
		body["param_overrides"] = params
	}
	answer, err = a.create(ctx, "/schedules", body)
	return answer, "", err
}

func newScheduleEditCommand(a *app) *cobra.Command {
	var f scheduleFlags
	var reset []string
	cmd := &cobra.Command{
		Use: "edit NAME", Short: "Changes a schedule: only what is named", Args: requireArgs("a NAME"),
		Long: `Changes what the flags name and leaves the rest as it is. --cron, --every and --at replace each other. --params
replaces the schedule's own params whole. --reset FIELD puts a field back to its default, by the name that
JSON output has for it.`,
		Example: `  rota schedule edit nightly --cron '0 3 * * *'
  rota schedule edit nightly --overlap skip --reset ends_at,depends_on`,
		ValidArgsFunction: a.completeNames("/schedules", "name"),
	}
	f.flags(a, cmd)
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
