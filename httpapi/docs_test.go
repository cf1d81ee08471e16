package httpapi_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documented is the part of a schema that the tests read.
type documented struct {
	Ref         string `json:"$ref"`
	Type        any
	Description string
	Enum        []any
	Default     any
	Items       *documented
	Properties  map[string]documented
	Required    []string
}

type documentedMedia map[string]struct{ Schema documented }

// document is the part of the OpenAPI document that the page shows.
type document struct {
	Paths map[string]map[string]struct {
		OperationID string
		RequestBody *struct{ Content documentedMedia }
		Responses   map[string]struct{ Content documentedMedia }
	}
	Components struct{ Schemas map[string]documented }
}

func (d *document) shape(s documented) documented {
	if s.Ref != "" {
		return d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	return s
}

func TestOpenAPIDescribesEveryField(t *testing.T) {
	s := newServer(t)
	doc := read[document](s.get("/openapi.json").is(200))
	for name, shape := range doc.Components.Schemas {
		for field, about := range shape.Properties {
			if about.Description == "" {
				t.Errorf("%s of %s is not described", field, name)
			}
		}
	}
	for of, want := range map[string]string{
		"Job.state": "scheduled,blocked,queued,running,completed,failed,skipped,cancelled", "GroupRequest.mode": "parallel,sequential",
		"GroupRequest.on_failure": "continue,stop,skip", "ScheduleRequest.catch_up": "none,last,all", "ScheduleRequest.overlap": "allow,skip,cancel",
		"ScheduleRequest.on_completion": "preserve,drop", "ScheduleRequest.state": "ENABLED,DISABLED,PAUSED",
	} {
		shape, field, _ := strings.Cut(of, ".")
		about := doc.Components.Schemas[shape].Properties[field]
		var words []string
		for _, word := range about.Enum {
			if text, isText := word.(string); isText {
				words = append(words, text)
			}
		}
		types, _ := about.Type.([]any)
		if got := strings.Join(words, ","); got != want || slices.Contains(about.Enum, nil) != slices.Contains(types, any("null")) {
			t.Errorf("%s is one of %s: %+v", of, got, about)
		}
	}
	if about := doc.Components.Schemas["Job"].Properties["status"].Description; about != "Stored status. It stays RUNNING after the run ends; read state instead." {
		t.Error(about)
	}
	create := doc.Paths["/api/v1/schedules"]["post"].RequestBody.Content["application/json"].Schema
	change := doc.Paths["/api/v1/schedules/{name}"]["patch"].RequestBody.Content["application/json"].Schema
	if !slices.Equal(create.Required, []string{"name"}) || len(doc.shape(change).Required) != 0 {
		t.Errorf("a new schedule needs %v, a change %v", create.Required, doc.shape(change).Required)
	}
}

// TestDocsPageShowsOpenAPIDocument checks the fields, their allowed values and the statuses in the
// section of each operation.
func TestDocsPageShowsOpenAPIDocument(t *testing.T) {
	s := newServer(t)
	doc, page := read[document](s.get("/openapi.json").is(200)), s.get("/docs").is(200).text
	for _, methods := range doc.Paths {
		for _, op := range methods {
			_, section, found := strings.Cut(page, `<details id="`+op.OperationID+`">`)
			section, _, _ = strings.Cut(section, "\n</details>\n")
			if !found {
				t.Errorf("%s is missing", op.OperationID)
			}
			if op.RequestBody != nil {
				checkSection(t, op.OperationID, section, doc.shape(op.RequestBody.Content["application/json"].Schema))
			}
			for status, response := range op.Responses {
				if !strings.Contains(section, "<b>"+status+"</b>") {
					t.Errorf("%s does not show the status %s", op.OperationID, status)
				}
				answer := doc.shape(response.Content["application/json"].Schema)
				if items := answer.Properties["items"].Items; items != nil {
					answer = doc.shape(*items)
				}
				checkSection(t, op.OperationID, section, answer)
			}
		}
	}
	for name, shape := range doc.Components.Schemas {
		_, section, _ := strings.Cut(page, `<section id="shape-`+name+`">`)
		section, _, _ = strings.Cut(section, "</section>")
		checkSection(t, name, section, shape)
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+link[1]+`"`) {
			t.Errorf("a link points to %s, which does not exist", link[1])
		}
	}
}

// checkSection checks that a section of the page shows each field of a shape.
func checkSection(t *testing.T, where, section string, shape documented) {
	t.Helper()
	for name, about := range shape.Properties {
		row := "<tr><td><code>" + name + "</code>"
		if slices.Contains(shape.Required, name) {
			row += `<abbr title="required">*</abbr>`
		}
		if !strings.Contains(section, row+"</td>") {
			t.Errorf("%s does not show %s", where, row)
		}
		for _, word := range about.Enum {
			if text, isText := word.(string); isText && !strings.Contains(section, "<code>"+text+"</code>") {
				t.Errorf("%s does not show that %s may be %s", where, name, text)
			}
		}
	}
}
