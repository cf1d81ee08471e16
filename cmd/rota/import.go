package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

const importExample = `  rota import rota.yaml --dry-run        # show what would change
  rota import rota.yaml                  # apply the file
  rota export | rota import - --url http://other:7420 --token …
  crontab -l | rota import crontab -     # show the schedules for a crontab`

func newImportCommand(a *app) *cobra.Command {
	query, dry, owner := url.Values{}, false, ""
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Apply a document of definitions, or convert a crontab",
		Long: `Apply the types, templates, schedules, limits and webhooks of a document in YAML or JSON, written by rota export or
by hand; - is standard input. A definition that is already equal is not changed and keeps its next fire times.
Definitions that the document does not name stay. In a definition that it names, a missing field is reset to
its default, except the state and the owner. Up to 500 changes are applied together or not at all. A schedule whose only
time has passed is left out, with a note. rota import crontab reads crontabs.

Jobs run with the rights of the owner of their template, so definitions keep the owners that the document names. An owner
that does not exist is an error; --owner names the user that gets the definitions of such owners. A new definition
for which the document names no owner belongs to the user that imports it, and a note says so.`,
		Example: importExample,
		Args:    requireArgs("a FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dry {
				query.Set("dry_run", "true")
			}
			if owner != "" {
				query.Set("owner", owner)
			}
			return a.importFile(cmd.Context(), args[0], query)
		},
		ValidArgsFunction:          completeFiles,
		SuggestionsMinimumDistance: 2,
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "write nothing, and show which fields would change")
	cmd.Flags().StringVar(&owner, "owner", "", "`USER` that gets the definitions whose owner does not exist")
	cmd.AddCommand(newImportCrontabCommand(a))
	cmd.SetUsageTemplate((&cobra.Command{}).UsageTemplate()) // it has subcommands and runs by itself
	return cmd
}

func (a *app) importFile(ctx context.Context, name string, query url.Values) error {
	text, err := a.fileText(name)
	if err != nil {
		return err
	}
	d, err := readDocument(fileName(name), text)
	if err != nil {
		return err
	}
	put, answer, err := a.putDefinitions(ctx, d.json, query)
	if err != nil {
		return d.withLines(err)
	}
	return a.print(answer, func(w io.Writer) { a.writeImport(w, put) })
}

// fileText reads a file, or standard input for -.
func (a *app) fileText(name string) ([]byte, error) {
	if name == "-" {
		return a.content(name)
	}
	return a.content("@" + name)
}

// fileName is the name of a file in messages.
func fileName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

func (a *app) putDefinitions(ctx context.Context, body any, query url.Values) (api.DefinitionsPut, json.RawMessage, error) {
	return fetch[api.DefinitionsPut](ctx, a, apiclient.Request{Method: http.MethodPut, Path: "/definitions", Query: query, Body: body})
}

// withLines adds the line numbers of the document to the fields that the server refused.
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

// writeImport prints each change, each note and the totals.
func (a *app) writeImport(w io.Writer, put api.DefinitionsPut) {
	t := newTable("!CHANGE", "KIND", "NAME", "~FIELDS")
	for _, item := range put.Items {
		if item.Change != "unchanged" {
			t.add(strings.ReplaceAll(item.Change, "_", " "), item.Kind, item.Name, strings.Join(item.Fields, ", "))
		}
	}
	if len(t.rows) > 0 {
		a.printTable(w, t)
		fmt.Fprintln(w)
	}
	writeNotes(w, put)
	fmt.Fprintln(w, importSummary(put))
}

// noteNames is how many definitions a line with a note names.
const noteNames = 5

// writeNotes prints each note once, with the definitions that have it.
func writeNotes(w io.Writer, put api.DefinitionsPut) {
	var notes []string
	names := map[string][]string{}
	for _, item := range put.Items {
		for _, note := range item.Notes {
			if names[note] == nil {
				notes = append(notes, note)
			}
			names[note] = append(names[note], strings.TrimSpace(item.Kind+" "+item.Name))
		}
	}
	for _, note := range notes {
		with := names[note]
		if more := len(with) - noteNames; more > 0 {
			with = append(with[:noteNames:noteNames], fmt.Sprintf("%d more", more))
		}
		fmt.Fprintf(w, "%s\n", sanitize(strings.Join(with, ", ")+": "+note))
	}
}

func importSummary(put api.DefinitionsPut) string {
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
		text = "the document has no definitions"
	case put.DryRun && put.Steps > 1:
		text += fmt.Sprintf("; applied in %d steps, each of them all or nothing", put.Steps)
	}
	if put.DryRun {
		text += "; dry run, nothing was written"
	}
	return text
}

// jsonLines returns the line number of each value of a JSON text by its path. The text must be valid.
func jsonLines(text []byte) map[string]int {
	r := &jsonReader{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), line: 1, lines: map[string]int{}}
	r.decoder.UseNumber() // numbers outside the range of float64 are valid
	r.value("")
	return r.lines
}

type jsonReader struct {
	text    []byte
	decoder *json.Decoder
	offset  int // lines are counted up to here
	line    int
	lines   map[string]int
}

// pathMax is the longest path in bytes. A server never names a longer one, and paths of deep documents would fill
// memory.
const pathMax = 1000

func (r *jsonReader) value(path string) {
	if len(path) > pathMax {
		var all json.RawMessage
		_ = r.decoder.Decode(&all)
		return
	}
	begin, _ := r.decoder.Token()
	r.recordLine(path)
	switch begin {
	case json.Delim('{'):
		for r.decoder.More() {
			name, _ := r.decoder.Token()
			at, _ := name.(string)
			if path != "" {
				at = path + "." + at
			}
			r.recordLine(at)
			r.value(at)
		}
	case json.Delim('['):
		for i := 0; r.decoder.More(); i++ {
			r.value(path + "[" + strconv.Itoa(i) + "]")
		}
	default:
		return
	}
	_, _ = r.decoder.Token() // the closing bracket
}

// recordLine records the line of the token that was just read. The first value of a path wins.
func (r *jsonReader) recordLine(path string) {
	end := int(r.decoder.InputOffset())
	r.line += bytes.Count(r.text[r.offset:end], []byte("\n"))
	r.offset = end
	if _, known := r.lines[path]; !known {
		r.lines[path] = r.line
	}
}
