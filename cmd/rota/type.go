package main

import (
	"io"
	"net/http"
	"strings"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
	"github.com/spf13/cobra"
)

func newTypeCommand(a *app) *cobra.Command {
	return newParentCommand("type", "List, declare, pause and resume types of jobs",
		newTypeListCommand(a), newTypeShowCommand(a), newTypePutCommand(a),
		newTypeSwitchCommand(a, "pause", "Pause a type: its jobs stay in the queue and do not start", "paused"),
		newTypeSwitchCommand(a, "resume", "Resume a paused type", "resumed"))
}

func newTypeListCommand(a *app) *cobra.Command {
	return listing[api.Type]{
		path: "/types", none: "no types",
		heads: []string{"NAME", "!STATE", "HANDLED BY", "SCHEMA", "~DESCRIPTION"}, drop: []string{"SCHEMA", "DESCRIPTION", "HANDLED BY"},
		row: func(t api.Type) []string {
			schema := "any"
			if nonNull(t.Schema) != "" {
				schema = "checked"
			}
			return []string{t.Name, typeState(t), handledText(t), schema, string(t.Description)}
		},
	}.command(a, &cobra.Command{Use: "list", Short: "List types by name", Example: "  rota type list"})
}

// handledText names what runs jobs of the type: the server itself, remote workers, both or nothing.
func handledText(t api.Type) string {
	var parts []string
	if serverRuns(t) {
		parts = append(parts, "server")
	}
	if t.Workers > 0 {
		parts = append(parts, plural(t.Workers, "worker", "workers"))
	}
	switch {
	case parts == nil && t.Remote:
		return "nothing (left to remote workers)"
	case parts == nil && t.Name == typeExec:
		return "nothing here (off)"
	case parts == nil:
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// serverRuns reports whether the server runs jobs of a type itself.
func serverRuns(t api.Type) bool { return t.Handled }

func typeState(t api.Type) string {
	if t.Paused {
		return "paused"
	}
	return "active"
}

func newTypeShowCommand(a *app) *cobra.Command {
	return showCommand(a, &cobra.Command{Use: "show NAME", Short: "Show a type", Example: "  rota type show sleep"}, "/types", "", a.writeType)
}

func (a *app) writeType(w io.Writer, t api.Type) {
	s := &keyValues{}
	s.add("name", t.Name)
	s.add("description", string(t.Description))
	s.add("state", typeState(t))
	s.add("handled by", handledText(t))
	addPolicy(s, t.Policy)
	s.add("created", a.timestamp(t.CreatedAt.Time)+byActor(t.CreatedBy))
	s.add("changed", a.timestamp(t.UpdatedAt.Time))
	s.add("schema", nonNull(t.Schema))
	a.printKeyValues(w, s)
}

func newTypePutCommand(a *app) *cobra.Command {
	schema := ""
	cmd := &cobra.Command{
		Use: "put NAME", Short: "Declare a type, or replace its declaration", Args: requireArgs("a NAME"),
		Long: `Declare a type that remote workers handle. An existing declaration is replaced: fields that no flag names get their
defaults.`,
		Example: `  rota type put mail.send --schema @mail.schema.json --retries 5 --timeout 30s
  rota type put legacy.import --description 'run by the old importer'`,
		ValidArgsFunction: a.completeNames("/types", "name"),
	}
	cmd.Flags().StringVar(&schema, "schema", "", "JSON Schema of its params: a `JSON` object, @FILE, or - for standard input")
	s := newBodyFlags(cmd)
	s.add("description", "description", "TEXT", "description of the type", asText)
	s.failure()
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body := map[string]any{}
		document, err := a.document("--schema", schema)
		if err != nil {
			return err
		}
		if document != nil {
			body["schema"] = document
		}
		if err := s.fill(body); err != nil {
			return err
		}
		answer, err := a.call(cmd.Context(), apiclient.Request{Method: http.MethodPut, Path: "/types" + pathSegment(args[0]), Body: body})
		if err != nil {
			return err
		}
		return a.printMessage(answer, "declared type %s", args[0])
	}
	return cmd
}

// newTypeSwitchCommand creates pause or resume.
func newTypeSwitchCommand(a *app, verb, short, done string) *cobra.Command {
	return actionCommand(a, &cobra.Command{
		Use: verb + " NAME", Short: short, Example: "  rota type " + verb + " mail.send",
	}, "/types", func(t api.Type) string { return done + " type " + t.Name })
}
