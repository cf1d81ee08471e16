package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newTypeCommand(a *app) *cobra.Command {
	return newParentCommand("type", "List, declare, pause and resume types of jobs",
		newTypeListCommand(a), newTypeShowCommand(a), newTypePutCommand(a),
		a.typeSwitch("pause", "Pause a type: its jobs stay in the queue and do not start", "paused"),
		a.typeSwitch("resume", "Resume a paused type", "resumed"))
}

func newTypeListCommand(a *app) *cobra.Command {
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List types by name", Args: noArgs(), Example: "  rota type list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := a.list(cmd.Context(), "/types", nil, l)
			if err != nil {
				return err
			}
			t := newTable("NAME", "!STATE", "HANDLED", "WORKERS", "SCHEMA", "~DESCRIPTION").mayDrop("SCHEMA", "DESCRIPTION", "WORKERS", "HANDLED")
			return printPage(a, found, "no types", t, func(t api.Type) []string {
				schema := "any"
				if nonNull(t.Schema) != "" {
					schema = "checked"
				}
				return []string{t.Name, typeState(t), handledText(t), strconv.Itoa(t.Workers), schema, string(t.Description)}
			})
		},
	}
	l.flags(cmd)
	return cmd
}

// handledText is yes if the server itself runs the type.
func handledText(t api.Type) string {
	if t.Handled {
		return "yes"
	}
	return "no"
}

func typeState(t api.Type) string {
	if t.Paused {
		return "paused"
	}
	return "active"
}

func newTypeShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show a type", Args: requireArgs("a NAME"), Example: "  rota type show sleep",
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := a.get(cmd.Context(), "/types"+pathSegment(args[0]), nil)
			if err != nil {
				return err
			}
			return a.printType(answer)
		},
		ValidArgsFunction: a.completeNames("/types", "name"),
	}
}

func (a *app) printType(answer json.RawMessage) error {
	t, err := decode[api.Type](answer)
	if err != nil {
		return err
	}
	return a.print(answer, func(w io.Writer) error {
		s := &keyValues{}
		s.add("name", t.Name)
		s.add("description", string(t.Description))
		s.add("state", typeState(t))
		s.add("handled", handledText(t))
		s.add("workers", strconv.Itoa(t.Workers))
		addPolicy(s, t.Policy)
		s.add("created", a.timestamp(t.CreatedAt.Time)+byActor(t.CreatedBy))
		s.add("changed", a.timestamp(t.UpdatedAt.Time))
		s.add("schema", nonNull(t.Schema))
		return a.printKeyValues(w, s)
	})
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
		answer, err := a.call(cmd.Context(), request{method: http.MethodPut, path: "/types" + pathSegment(args[0]), body: body})
		if err != nil {
			return err
		}
		return a.printMessage(answer, "declared type %s", args[0])
	}
	return cmd
}

func (a *app) typeSwitch(verb, short, done string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " NAME", Short: short, Args: requireArgs("a NAME"), Example: "  rota type " + verb + " mail.send",
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := a.post(cmd.Context(), "/types"+pathSegment(args[0])+"/"+verb, nil)
			if err != nil {
				return err
			}
			return a.printMessage(answer, "%s type %s", done, args[0])
		},
		ValidArgsFunction: a.completeNames("/types", "name"),
	}
}
