package main

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func newScheduleCommand(a *app) *cobra.Command {
	return newParentCommand("schedule", "List, create, change and trigger schedules",
		newScheduleListCommand(a), newScheduleShowCommand(a), newScheduleCreateCommand(a), newScheduleEditCommand(a),
		newScheduleDeleteCommand(a), newSchedulePauseCommand(a), newScheduleResumeCommand(a), newScheduleTriggerCommand(a),
		newScheduleUpcomingCommand(a), newScheduleBackfillCommand(a))
}

var scheduleStates = []string{string(rota.ScheduleEnabled), string(rota.ScheduleDisabled), string(rota.SchedulePaused)}

func newScheduleListCommand(a *app) *cobra.Command {
	var l listFlags
	f := filters{}
	cmd := &cobra.Command{
		Use: "list", Short: "List schedules by name", Args: noArgs(),
		Example: "  rota schedule list\n  rota schedule list --state DISABLED",
	}
	f.add(cmd, "state", "only schedules in this `STATE`", scheduleStates...)
	f.add(cmd, "template", "only schedules of the template `NAME`")
	l.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		query := f.query()
		if state := query.Get("state"); state != "" {
			query.Set("state", strings.ToUpper(state))
		}
		found, err := a.list(cmd.Context(), "/schedules", query, l)
		if err != nil {
			return err
		}
		t := newTable("NAME", "!STATE", "NEXT", "LAST", "^TEMPLATE", "~WHEN").mayDrop("LAST", "TEMPLATE", "WHEN")
		return printPage(a, found, "no schedules; create one with rota schedule create", t, func(s api.Schedule) []string {
			return []string{s.Name, s.State, a.nextFire(s), a.ago(s.LastFireAt.Time), s.Template, s.Describe}
		})
	}
	return cmd
}

// nextFire formats the next fire time. A schedule that is not enabled has none.
func (a *app) nextFire(s api.Schedule) string {
	if s.State != string(rota.ScheduleEnabled) || s.NextFireAt.IsZero() {
		return "-"
	}
	return a.ago(s.NextFireAt.Time)
}

func newScheduleShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show a schedule", Args: requireArgs("a NAME"), Example: "  rota schedule show nightly",
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := a.get(cmd.Context(), "/schedules"+pathSegment(args[0]), nil)
			if err != nil {
				return err
			}
			return a.printSchedule(answer)
		},
		ValidArgsFunction: a.completeNames("/schedules", "name"),
	}
}

func (a *app) printSchedule(answer json.RawMessage) error {
	v, err := decode[api.Schedule](answer)
	if err != nil {
		return err
	}
	return a.print(answer, func(w io.Writer) error {
		s := &keyValues{}
		s.add("name", v.Name)
		s.add("description", string(v.Description))
		s.add("state", v.State)
		s.add("reason", string(v.Reason))
		s.add("template", v.Template)
		s.add("when", v.Describe)
		s.add("cron", string(v.Cron))
		if v.Cron != "" {
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
		a.addTerms(s, v)
		s.add("created", a.timestamp(v.CreatedAt.Time)+byActor(v.CreatedBy))
		s.add("changed", a.timestamp(v.UpdatedAt.Time))
		return a.printKeyValues(w, s)
	})
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
