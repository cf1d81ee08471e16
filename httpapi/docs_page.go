package httpapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// docsPage is the content of the API page: all of the OpenAPI document, for people.
type docsPage struct {
	Version string
	Parts   []docsPart
	Shapes  []docsShape
}

type docsPart struct {
	Name, About string
	Operations  []docsOperation
}

type docsOperation struct {
	ID, Method, Path, Summary, About string
	Params, Body                     []docsField
	Optional                         bool // the body is optional
	Example                          string
	Answers, Problems                []docsAnswer
}

// docsAnswer is the response for one status.
type docsAnswer struct {
	Status, About, Media string
	Kind                 docsKind
	Each                 bool // the fields are those of each item
	Fields               []docsField
}

// docsShape is an object that requests or responses share.
type docsShape struct {
	Name   string
	Fields []docsField
}

func docsOf(document *huma.OpenAPI) docsPage {
	schemas := document.Components.Schemas
	page := docsPage{Version: document.Info.Version}
	for _, tag := range document.Tags {
		part := docsPart{Name: tag.Name, About: tag.Description}
		for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
			item := document.Paths[path]
			for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
				if op != nil && op.Tags[0] == tag.Name {
					part.Operations = append(part.Operations, docsOperationOf(op, schemas))
				}
			}
		}
		page.Parts = append(page.Parts, part)
	}
	for _, name := range slices.Sorted(maps.Keys(schemas.Map())) {
		page.Shapes = append(page.Shapes, docsShape{Name: name, Fields: docsFields(schemas.Map()[name])})
	}
	return page
}

func docsOperationOf(op *huma.Operation, schemas huma.Registry) docsOperation {
	v := docsOperation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, About: op.Description}
	for _, p := range op.Parameters {
		field := docsFieldOf(p.Name, p.Schema, p.Required)
		field.Where, field.About = p.In, p.Description
		if p.Example != nil {
			field.Example = valueText(p.Example)
		}
		v.Params = append(v.Params, field)
	}
	if body := op.RequestBody; body != nil {
		media := body.Content["application/json"]
		v.Body, v.Example, v.Optional = docsFields(resolve(media.Schema, schemas)), indented(media.Example), !body.Required
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		answer := docsAnswerOf(status, op.Responses[status], schemas)
		if n, _ := strconv.Atoi(status); n < http.StatusBadRequest {
			v.Answers = append(v.Answers, answer)
		} else {
			v.Problems = append(v.Problems, answer)
		}
	}
	return v
}

// docsAnswerOf returns the fields of a response; for a page, those of its items.
func docsAnswerOf(status string, response *huma.Response, schemas huma.Registry) docsAnswer {
	v := docsAnswer{Status: status, About: response.Description}
	for media, content := range response.Content {
		v.Media, v.Kind = media, docsKindOf(content.Schema)
		schema := resolve(content.Schema, schemas)
		if items := schema.Properties["items"]; items != nil && items.Items != nil {
			schema, v.Each = resolve(items.Items, schemas), true
		}
		v.Fields = docsFields(schema)
	}
	return v
}

func resolve(schema *huma.Schema, schemas huma.Registry) *huma.Schema {
	if schema.Ref != "" {
		return schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}

func indented(example any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(example) // the example was decoded from JSON, so encoding cannot fail
	return b.String()
}
