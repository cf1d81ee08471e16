package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/httpapi"
)

const importExample = `  rota import rota.yaml --dry-run        # say what would change
  rota import rota.yaml                  # declare what the file says
  rota export | rota import - --url http://other:7420 --token …
  crontab -l | rota import crontab -     # see what would become of a crontab`

func newImportCommand(a *app) *cobra.Command {
	dry := false
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Declares everything that a document says, or a crontab",
		Long: `Declares the types, templates, schedules, limits and webhooks of a document that rota export wrote or a person
did, in YAML or JSON; - is standard input. What stands so already is left alone, its next fires too; what the
document does not name stays. Of what it names, what it leaves out goes back to its default, but for the
state, which stays. It is done whole or not at all, up to 500 changes. A schedule whose only time has passed
is left out, and so said. rota import crontab reads crontabs.`,
		Example: importExample,
		Args:    requireArgs("a FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.importFile(cmd.Context(), args[0], dry)
		},
		ValidArgsFunction:          completeFiles,
		SuggestionsMinimumDistance: 2,
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "write nothing, and say what would change, field by field")
	cmd.AddCommand(newImportCrontabCommand(a))
	cmd.SetUsageTemplate((&cobra.Command{}).UsageTemplate()) // it is run by itself, too
	return cmd
}

func (a *app) importFile(ctx context.Context, name string, dry bool) error {
	text, err := a.fileText(name)
	if err != nil {
		return err
	}
	d, err := readDocument(fileName(name), text)
	if err != nil {
		return err
	}
	answer, err := a.putDefinitions(ctx, d.json, dry)
	if err != nil {
		return d.withLines(err)
	}
	put, err := decode[httpapi.DefinitionsPut](answer)
	if err != nil {
		return err
	}
	return a.print(answer, func(w io.Writer) error { return a.writeImport(w, put) })
}

// fileText reads a file, or standard input.
func (a *app) fileText(name string) ([]byte, error) {
	if name == "-" {
		return a.content(name)
	}
	return a.content("@" + name)
}

// fileName is what messages call a file.
func fileName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

func (a *app) putDefinitions(ctx context.Context, body any, dry bool) (json.RawMessage, error) {
	query := url.Values{}
	if dry {
		query.Set("dry_run", "true")
	}
	return a.call(ctx, request{method: http.MethodPut, path: "/definitions", query: query, body: body})
}

// withLines names the lines of what a server refuses.
func (d *document) withLines(err error) error {
	var refused *exitError
	if !errors.As(err, &refused) || len(refused.fields) == 0 || len(d.lines) == 0 {
		return err
	}
	var lines []string
	for i, field := range refused.fields {
		lines = append(lines, d.position(field)+sanitize(field+": "+refused.reasons[i]))
	}
	placed := *refused
	placed.err = errors.New(strings.Join(lines, "\n  "))
	return &placed
}

// writeImport says what became of a document: what changed one by one, what did not in one number.
func (a *app) writeImport(w io.Writer, put httpapi.DefinitionsPut) error {
	t := newTable("!CHANGE", "KIND", "NAME", "~FIELDS")
	for _, item := range put.Items {
		if item.Change != "unchanged" {
			t.add(strings.ReplaceAll(item.Change, "_", " "), item.Kind, item.Name, strings.Join(item.Fields, ", "))
		}
	}
	if len(t.rows) > 0 {
		if err := a.printTable(w, t); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	for _, item := range put.Items {
		for _, note := range item.Notes {
			fmt.Fprintf(w, "%s\n", sanitize(strings.TrimSpace(item.Kind+" "+item.Name)+": "+note))
		}
	}
	_, err := fmt.Fprintln(w, importSummary(put))
	return err
}

func importSummary(put httpapi.DefinitionsPut) string {
	verbs := [4]string{"created", "changed", "unchanged", "left out"}
	if put.DryRun {
		verbs = [4]string{"to create", "to change", "unchanged", "left out"}
	}
	var parts []string
	for i, n := range []int{put.Created, put.Changed, put.Unchanged, put.LeftOut} {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verbs[i]))
		}
	}
	text := strings.Join(parts, ", ")
	switch {
	case text == "":
		text = "the document declares nothing"
	case put.DryRun && put.Steps > 1:
		text += fmt.Sprintf("; in %d steps, each all or nothing", put.Steps)
	}
	if put.DryRun {
		text += "; this was a dry run, nothing was written"
	}
	return text
}
