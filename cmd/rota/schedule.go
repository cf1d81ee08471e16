package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func newScheduleCommand(a *app) *cobra.Command {
	return newParentCommand("schedule", "List, create, change and trigger schedules",
		newScheduleListCommand(a), newScheduleShowCommand(a), newScheduleCreateCommand(a), newScheduleEditCommand(a),
		newScheduleDeleteCommand(a),
		newScheduleSwitchCommand(a, "pause", "Pause a schedule; rota schedule resume applies its catch-up mode", "paused"),
		newScheduleSwitchCommand(a, "resume", "Resume a paused or disabled schedule", "resumed"), newScheduleTriggerCommand(a),
		newScheduleUpcomingCommand(a), newScheduleBackfillCommand(a))
}

func newScheduleListCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List schedules by name", Example: "  rota schedule list\n  rota schedule list --state DISABLED",
	}
	f := filters{}
	f.add(cmd, "state", "only schedules in this `STATE`", api.ScheduleStates...)
	f.add(cmd, "template", "only schedules of the template `NAME`")
	return listing[api.Schedule]{
		path: "/schedules", filters: f, none: "no schedules; create one with rota schedule create",
		heads: []string{"NAME", "!STATE", "NEXT", "LAST", "^TEMPLATE", "~WHEN"}, drop: []string{"LAST", "TEMPLATE", "WHEN"},
		row: func(s api.Schedule) []string {
			return []string{s.Name, s.State, a.nextFire(s), a.ago(latestTime(s.LastFireAt, s.LastTriggeredAt)), s.Template, s.Describe}
		},
	}.command(a, cmd)
}

// nextFire formats the next fire time. A schedule that is not enabled has none.
func (a *app) nextFire(s api.Schedule) string {
	if s.State != string(rota.ScheduleEnabled) || s.NextFireAt.IsZero() {
		return "-"
	}
	return a.ago(s.NextFireAt.Time)
}

func newScheduleShowCommand(a *app) *cobra.Command {
	return showCommand(a, &cobra.Command{
		Use: "show NAME", Short: "Show a schedule", Example: "  rota schedule show nightly",
	}, "/schedules", "", a.writeSchedule)
}

func (a *app) writeSchedule(w io.Writer, v api.Schedule) {
	s := &keyValues{}
	s.add("name", v.Name)
	s.add("description", string(v.Description))
	s.add("state", v.State)
	s.add("reason", string(v.Reason))
	s.add("owner", string(v.Owner))
	s.add("template", v.Template)
	s.add("when", v.Describe)
	s.add("cron", string(v.Cron))
	if v.Cron != "" || v.Timezone != "UTC" {
		s.add("time zone", v.Timezone)
	}
	s.add("every", durationText(v.Every))
	s.add("at", a.timestamp(v.At.Time))
	s.add("starts", a.timestamp(v.StartsAt.Time))
	s.add("ends", a.timestamp(v.EndsAt.Time))
	next := a.timestamp(v.NextFireAt.Time)
	if next != "" && v.State != string(rota.ScheduleEnabled) {
		next = "- (" + strings.ToLower(v.State) + "; otherwise " + next + ")"
	}
	s.add("next", next)
	s.add("last", a.timestamp(v.LastFireAt.Time))
	s.add("triggered", a.timestamp(v.LastTriggeredAt.Time))
	a.addTerms(s, v)
	s.add("created", a.timestamp(v.CreatedAt.Time)+byActor(v.CreatedBy))
	s.add("changed", a.timestamp(v.UpdatedAt.Time))
	a.printKeyValues(w, s)
}

// addTerms adds the fields that apply to its executions.
func (a *app) addTerms(s *keyValues, v api.Schedule) {
	scopes := make([]string, len(v.Scopes))
	for i, scope := range v.Scopes {
		scopes[i] = scope.Kind + "=" + scope.ID
	}
	s.add("scopes", strings.Join(scopes, ", "))
	if params := string(v.ParamOverrides); params != "{}" {
		s.add("params", params)
	}
	s.add("priority", numberText(v.Priority))
	addPolicy(s, v.Policy)
	s.add("catch up", v.CatchUp)
	s.add("overlap", v.Overlap)
	if !v.At.IsZero() {
		s.add("on completion", v.OnCompletion)
	}
	s.add("depends on", strings.Join(v.DependsOn, ", "))
	s.add("class", string(v.Class))
	if p := v.Partition; p != nil {
		s.add("partition", strings.TrimSpace(p.Strategy+" "+strings.Join(p.Shards, ", ")+p.Expression))
	}
}
