package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the reference page")

const (
	httpPage = "../docs/reference/http.md"
	httpHead = `# The HTTP API

Every path begins with ` + "`/api/v1`" + ` and needs the header ` + "`Authorization: Bearer TOKEN`" + `. A running server shows this reference at
` + "`/docs`" + ` and its OpenAPI document at ` + "`/openapi.json`" + `. The page is generated from that document:
` + "`go test ./httpapi -run Reference -update`" + ` writes it.

- **Errors** are ` + "`application/problem+json`" + ` with ` + "`code`" + `, ` + "`title`" + `, ` + "`detail`" + `, ` + "`hint`" + `, and ` + "`errors`" + ` that name each bad field.
- **Lists** return ` + "`{\"items\": […], \"next_cursor\": \"…\"}`" + `.
- **Writes** accept an ` + "`Idempotency-Key`" + `. A request that is sent again with its key within 24 hours is not applied
  twice, unless a shorter retention has pruned its job.
- **Versions:** a resource with a ` + "`version`" + ` has it in the header ` + "`ETag`" + `, in double quotes; one that was never changed has ` + "`\"0\"`" + `. A request
  with ` + "`If-Match`" + ` is refused with 412 unless one of its tags is the current one; ` + "`*`" + ` is any. The
  comparison and the change are one transaction. A request that is sent again with its key is not compared if it was applied. The version
  of a job changes when it is edited or moved; an action on an earlier attempt compares that of the last one, which a 412 names.
  Requests that change no single resource refuse ` + "`If-Match`" + ` with 400.
- **Filters:** ` + "`state`" + ` takes several states in either case, ` + "`since`" + ` and ` + "`until`" + ` a time or a duration until now. A search with ` + "`since`" + `
  ends at ids that are two days older; ids contain the time of the request. A page examines a bounded number of rows: it may be shorter
  than its limit, or empty, although more follow. Continue until ` + "`next_cursor`" + ` is null.
- **Without a token:** ` + "`/healthz`" + `, ` + "`/readyz`" + `, ` + "`/metrics`" + `, ` + "`/openapi.json`" + `, ` + "`/docs`" + `.
`
)

// reference is the part of the OpenAPI document that the page shows.
type reference struct {
	Tags  []struct{ Name, Description string }
	Paths map[string]map[string]referenceCall

	Components struct{ Schemas map[string]referenceShape }
}

type referenceCall struct {
	Tags                 []string
	Summary, Description string
	Parameters           []struct {
		Name, In, Description string
		Required              bool
	}
	RequestBody *struct{ Content map[string]referenceMedia }
	Responses   map[string]struct {
		Description string
		Content     map[string]referenceMedia
	}
}

type referenceMedia struct {
	Schema  referenceShape
	Example json.RawMessage
}

type referenceShape struct {
	Ref         string `json:"$ref"`
	Type        any
	Format      string
	Description string
	Enum        []any
	Items       *referenceShape
	Properties  map[string]referenceShape
	Required    []string
	AnyOf       []referenceShape
	OneOf       []referenceShape

	AdditionalProperties json.RawMessage
}

// TestHTTPReference checks that the page matches the OpenAPI document.
func TestHTTPReference(t *testing.T) {
	s := newServer(t)
	doc := read[reference](s.get("/openapi.json").is(200))
	var b bytes.Buffer
	b.WriteString(httpHead)
	for _, tag := range doc.Tags {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", tag.Name, tag.Description)
		doc.writeTag(&b, tag.Name)
	}
	doc.writeShapes(&b)
	if *update {
		if err := os.WriteFile(httpPage, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	page, err := os.ReadFile(httpPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page, b.Bytes()) {
		t.Errorf("%s is stale: run the test with -update and read the diff", httpPage)
	}
}

var methods = []string{"get", "post", "put", "patch", "delete"}

func (doc *reference) writeTag(b *bytes.Buffer, tag string) {
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range methods {
			call, there := doc.Paths[path][method]
			if !there || call.Tags[0] != tag {
				continue
			}
			fmt.Fprintf(b, "\n### `%s %s`\n\n%s.", strings.ToUpper(method), strings.TrimPrefix(path, "/api/v1"), call.Summary)
			if call.Description != "" {
				fmt.Fprintf(b, " %s", call.Description)
			}
			b.WriteString("\n")
			call.write(b)
		}
	}
}

func (c referenceCall) write(b *bytes.Buffer) {
	rows := ""
	for _, p := range c.Parameters {
		if p.In != "header" { // described once, at the top
			rows += fmt.Sprintf("| `%s` | %s | %s |\n", p.Name, p.In, oneLine(p.Description))
		}
	}
	if rows != "" {
		b.WriteString("\n| parameter | in | |\n|---|---|---|\n" + rows)
	}
	if c.RequestBody != nil {
		for _, media := range c.RequestBody.Content {
			fmt.Fprintf(b, "\nBody: %s.\n", media.Schema.describe())
			if media.Schema.Ref == "" { // a shape without a name
				writeFields(b, media.Schema)
			}
			if len(media.Example) > 0 {
				var indented bytes.Buffer
				_ = json.Compact(&indented, media.Example) // the example is valid JSON
				fmt.Fprintf(b, "\n```json\n%s\n```\n", indented.String())
			}
		}
	}
	var answers, refusals []string
	for _, status := range slices.Sorted(maps.Keys(c.Responses)) {
		answer := c.Responses[status]
		if status >= "400" {
			refusals = append(refusals, status)
			continue
		}
		words := "nothing"
		for media, body := range answer.Content {
			if words = body.Schema.describe(); media != "application/json" {
				words = "`" + media + "`"
			}
		}
		if strings.HasSuffix(answer.Description, ".") {
			words += ": " + strings.TrimSuffix(answer.Description, ".")
		}
		answers = append(answers, status+" "+words)
	}
	fmt.Fprintf(b, "\nReturns %s. Errors: %s.\n", strings.Join(answers, ", or "), strings.Join(refusals, ", "))
}

// writeShapes lists the fields of every object.
func (doc *reference) writeShapes(b *bytes.Buffer) {
	b.WriteString("\n## Schemas\n\nFields with a star are always present in responses and required in request bodies.\n")
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		shape := doc.Components.Schemas[name]
		if len(shape.Properties) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n", shapeName(name))
		writeFields(b, shape)
	}
}

// shapeName distinguishes a shape from a chapter of the same name.
func shapeName(name string) string { return "Schema " + name }

// writeFields lists the fields of an object, required fields first.
func writeFields(b *bytes.Buffer, shape referenceShape) {
	b.WriteString("\n| field | type | |\n|---|---|---|\n")
	for _, needed := range []bool{true, false} {
		for _, field := range slices.Sorted(maps.Keys(shape.Properties)) {
			if slices.Contains(shape.Required, field) != needed {
				continue
			}
			about, star := shape.Properties[field], ""
			if needed {
				star = " \\*"
			}
			fmt.Fprintf(b, "| `%s`%s | %s | %s |\n", field, star, about.describe(), oneLine(about.Description))
		}
	}
}

// describe returns the kind of a value in words.
func (s referenceShape) describe() string {
	if s.Ref != "" {
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		return "[" + name + "](#" + strings.ToLower(strings.ReplaceAll(shapeName(name), " ", "-")) + ")"
	}
	if len(s.Enum) > 0 {
		return "one of " + enumWords(s.Enum)
	}
	var kinds []string
	switch kind := s.Type.(type) {
	case string:
		kinds = []string{kind}
	case []any:
		for _, k := range kind {
			kinds = append(kinds, k.(string))
		}
	}
	for _, other := range append(s.AnyOf, s.OneOf...) {
		kinds = append(kinds, other.describe())
	}
	for i, kind := range kinds {
		switch {
		case kind == "array" && s.Items != nil:
			kinds[i] = "list of " + s.Items.describe()
		case kind == "string" && s.Format != "":
			kinds[i] = s.Format
		}
	}
	if len(kinds) == 0 {
		return "anything"
	}
	return strings.Join(kinds, " or ")
}

func enumWords(words []any) string {
	shown := make([]string, 0, len(words))
	for _, word := range words {
		shown = append(shown, fmt.Sprintf("`%v`", word))
	}
	return strings.ReplaceAll(strings.Join(shown, ", "), "`<nil>`", "null")
}

func oneLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
