package main

import (
	"fmt"
	"io"
	"net/http"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
	"github.com/spf13/cobra"
)

func newTemplateCommand(a *app) *cobra.Command {
	return newParentCommand("template", "List, create, change and archive templates: what to run, with which params and policy",
		newTemplateListCommand(a), newTemplateShowCommand(a), newTemplateCreateCommand(a), newTemplateEditCommand(a),
		newTemplateArchiveCommand(a), newTemplateUnarchiveCommand(a))
}

func newTemplateListCommand(a *app) *cobra.Command {
	return listing[api.Template]{
		path: "/templates", none: "no templates; create one with rota template create",
		heads: []string{"NAME", "^TYPE", "!STATE", "CHANGED", "~DEFAULT PARAMS"}, drop: []string{"CHANGED", "DEFAULT PARAMS"},
		row: func(t api.Template) []string {
			return []string{t.Name, t.Type, t.State, a.ago(t.UpdatedAt.Time), string(t.DefaultParams)}
		},
	}.command(a, &cobra.Command{Use: "list", Short: "List templates by name", Example: "  rota template list"})
}

func newTemplateShowCommand(a *app) *cobra.Command {
	return showCommand(a, &cobra.Command{
		Use: "show NAME", Short: "Show a template", Example: "  rota template show nightly",
	}, "/templates", "", a.writeTemplate)
}

func (a *app) writeTemplate(w io.Writer, t api.Template) {
	s := &keyValues{}
	s.add("name", t.Name)
	s.add("type", t.Type)
	s.add("description", string(t.Description))
	s.add("state", t.State)
	s.add("owner", string(t.Owner))
	s.add("default params", string(t.DefaultParams))
	s.add("priority", numberText(t.Priority))
	s.add("concurrency key", string(t.ConcurrencyKey))
	addPolicy(s, t.Policy)
	s.add("unique for", durationText(t.UniqueFor))
	for _, hook := range t.Webhooks {
		s.add("webhook", hook.URL+" ("+eventsText(hook.Events)+")")
	}
	s.add("created", a.timestamp(t.CreatedAt.Time)+byActor(t.CreatedBy))
	s.add("changed", a.timestamp(t.UpdatedAt.Time))
	a.printKeyValues(w, s)
}

// addPolicy adds the retry policy and the timeout that a definition sets.
func addPolicy(s *keyValues, p api.Policy) {
	s.add("retries", numberText(p.MaxRetries))
	s.add("backoff", durationText(p.Backoff))
	s.add("backoff max", durationText(p.BackoffMax))
	if p.Jitter != nil {
		s.add("jitter", fmt.Sprintf("%g", *p.Jitter))
	}
	s.add("timeout", durationText(p.Timeout))
}

func numberText(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// templateFlags adds the flags of create and edit.
func templateFlags(cmd *cobra.Command, params *paramFlags) *bodyFlags {
	params.flags(cmd)
	s := newBodyFlags(cmd)
	s.add("description", "description", "TEXT", "description of the template", asText)
	s.policy()
	s.add("unique-for", "unique_for", "DURATION", "how long a job holds its unique key, unless the job sets it", asDuration)
	s.add("key", "concurrency_key", "KEY", "concurrency key, which limits how many jobs run at once; see rota limits", asText)
	return s
}

func newTemplateCreateCommand(a *app) *cobra.Command {
	var params paramFlags
	kind := ""
	cmd := &cobra.Command{
		Use: "create NAME --type TYPE", Short: "Create a template", Args: requireArgs("a NAME"), DisableFlagsInUseLine: true,
		Example: `  rota template create report --type report.build -p format=pdf --retries 5 --timeout 10m`,
	}
	cmd.Flags().StringVar(&kind, "type", "", "`TYPE` of its jobs")
	s := templateFlags(cmd, &params)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if kind == "" {
			return usagef("add it, such as --type noop; rota type list shows the types", "template create needs --type")
		}
		body := map[string]any{"name": args[0], "type": kind}
		if err := fillParams(a, body, "default_params", &params, s); err != nil {
			return err
		}
		_, answer, err := create[api.Template](cmd.Context(), a, "/templates", body)
		if err != nil {
			return err
		}
		return a.printMessage(answer, "created template %s", args[0])
	}
	return cmd
}

// fillParams writes the params and all other flags into a body.
func fillParams(a *app, body map[string]any, field string, params *paramFlags, s *bodyFlags) error {
	document, err := params.read(a)
	if err != nil {
		return err
	}
	if document != nil {
		body[field] = document
	}
	return s.fill(body)
}

func newTemplateEditCommand(a *app) *cobra.Command {
	var params paramFlags
	var reset []string
	kind := ""
	cmd := &cobra.Command{
		Use: "edit NAME", Short: "Change the fields of a template that the flags name", Args: requireArgs("a NAME"),
		Long: `Change the fields that the flags name and leave the others. --params replaces all default params. --reset FIELD resets
a field to the default of the type; FIELD is its name in JSON output.`,
		Example: `  rota template edit report --retries 8
  rota template edit report --reset timeout,max_retries
  rota template edit report --owner ada`,
		ValidArgsFunction: a.completeNames("/templates", "name"),
	}
	cmd.Flags().StringVar(&kind, "type", "", "`TYPE` of its jobs")
	s := templateFlags(cmd, &params)
	ownerFlag(s)
	resetFlag(cmd, &reset)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body := map[string]any{}
		if kind != "" {
			body["type"] = kind
		}
		if err := fillParams(a, body, "default_params", &params, s); err != nil {
			return err
		}
		return a.patch(cmd, "/templates"+pathSegment(args[0]), body, reset, "changed template "+args[0])
	}
	return cmd
}

// ownerFlag adds the flag of edit that changes the owner.
func ownerFlag(s *bodyFlags) {
	s.add("owner", "owner", "USER", "user that owns it from now on, without other flags; needs ADMIN", asText)
}

func resetFlag(cmd *cobra.Command, reset *[]string) {
	cmd.Flags().StringSliceVar(reset, "reset", nil, "reset `FIELD` to its default (repeatable)")
}

// patch sends the changed fields and prints the result.
func (a *app) patch(cmd *cobra.Command, path string, body map[string]any, reset []string, done string) error {
	for _, field := range reset {
		if _, both := body[field]; both {
			return usagef("remove one of them", "%s is both set and reset", field)
		}
		body[field] = nil
	}
	if len(body) == 0 {
		return usagef("see "+cmd.CommandPath()+" --help", "nothing to change: no flag was given")
	}
	answer, err := a.call(cmd.Context(), apiclient.Request{Method: http.MethodPatch, Path: path, Body: body})
	if err != nil {
		return err
	}
	return a.printMessage(answer, "%s", done)
}

func newTemplateArchiveCommand(a *app) *cobra.Command {
	yes := false
	cmd := actionCommand(a, &cobra.Command{
		Use: "archive NAME", Short: "Archive a template: it creates no more jobs, and its schedules are disabled", Example: "  rota template archive report",
	}, "/templates", func(t api.TemplateArchived) string {
		return fmt.Sprintf("archived template %s; %s disabled", t.Name, plural(t.SchedulesDisabled, "schedule was", "schedules were"))
	})
	yesFlag(cmd, &yes)
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		return a.confirmDelete(yes, "Archive template %s and disable its schedules?", args[0])
	}
	return cmd
}

func newTemplateUnarchiveCommand(a *app) *cobra.Command {
	return actionCommand(a, &cobra.Command{
		Use: "unarchive NAME", Short: "Unarchive a template; its schedules stay disabled", Example: "  rota template unarchive report",
	}, "/templates", func(t api.TemplateArchived) string { return "template " + t.Name + " is active again" })
}
