package httpapi

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// base is what the paths of the API begin with.
const base = "/api/v1"

// operation describes one route: to the mux, to the reader of requests, and to
// the OpenAPI document.
type operation struct {
	method, path  string // the path without the base
	id            string
	tag           string
	summary       string
	description   string
	query         []param
	example       string   // of the body, as JSON
	required      []string // fields of the body that only this operation needs
	status        int      // of the usual answer; 0: 200
	response      any      // a value of the answer's type; nil: there is no body
	mediaType     string   // the media type of an answer that is not JSON
	otherStatuses map[int]string
	errors        []int // statuses beside those that every route has

	bulk         bool         // its body holds many jobs
	bodyOptional bool         // its body may be left out
	class        requestClass // whom it is counted with
}

// param is a query parameter.
type param struct {
	name    string
	form    form
	doc     string
	enum    []string
	example any
}

// writes reports whether the operation sends commands, and so takes an
// Idempotency-Key.
func (op *operation) writes() bool { return op.method != http.MethodGet }

func (op *operation) hasQueryParam(query string) bool {
	for i := range op.query {
		if op.query[i].name == query {
			return true
		}
	}
	return false
}

// describe makes the entry of the OpenAPI document.
func (op *operation) describe(r huma.Registry, body reflect.Type) *huma.Operation {
	entry := &huma.Operation{
		Method: op.method, Path: base + op.path, OperationID: op.id, Tags: []string{op.tag},
		Summary: op.summary, Description: op.description, Responses: map[string]*huma.Response{},
		Security: []map[string][]string{{"token": {}}},
	}
	for _, name := range pathParams(op.path) {
		entry.Parameters = append(entry.Parameters, pathParam(name))
	}
	for i := range op.query {
		entry.Parameters = append(entry.Parameters, op.query[i].describe())
	}
	if op.writes() {
		entry.Parameters = append(entry.Parameters, idempotencyParam())
	}
	if body.NumField() > 0 {
		entry.RequestBody = op.describeBody(r, body)
	}
	op.describeResponses(r, entry)
	return entry
}

func (op *operation) describeBody(r huma.Registry, body reflect.Type) *huma.RequestBody {
	media := &huma.MediaType{Schema: r.Schema(body, true, body.Name())}
	if len(op.required) > 0 { // a shape that others share, who need less
		media.Schema = withRequired(r.SchemaFromRef(media.Schema.Ref), op.required)
	}
	if op.example != "" {
		media.Example = rawExample(op.example)
	}
	return &huma.RequestBody{Required: !op.bodyOptional, Content: map[string]*huma.MediaType{"application/json": media}}
}

// withRequired is an object of which some fields have to be given.
func withRequired(object *huma.Schema, fields []string) *huma.Schema {
	copied := *object
	copied.Required, copied.Properties = fields, maps.Clone(object.Properties)
	for _, name := range fields {
		field := *object.Properties[name]
		field.Nullable = false
		copied.Properties[name] = &field
	}
	return &copied
}

func (op *operation) describeResponses(r huma.Registry, entry *huma.Operation) {
	success := &huma.Response{Description: http.StatusText(op.success())}
	if schema := op.responseSchema(r); schema != nil {
		success.Content = map[string]*huma.MediaType{cmp.Or(op.mediaType, "application/json"): {Schema: schema}}
	}
	entry.Responses[strconv.Itoa(op.success())] = success
	for status, words := range op.otherStatuses {
		entry.Responses[strconv.Itoa(status)] = &huma.Response{Description: words, Content: success.Content}
	}
	problem := map[string]*huma.MediaType{
		"application/problem+json": {Schema: r.Schema(reflect.TypeFor[Problem](), true, "Problem")},
	}
	for _, status := range append(op.errors, http.StatusBadRequest, http.StatusUnauthorized, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable) {
		entry.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: problem}
	}
}

// responseSchema is nil where nothing is answered.
func (op *operation) responseSchema(r huma.Registry) *huma.Schema {
	switch {
	case op.response != nil:
		t := reflect.TypeOf(op.response)
		return r.Schema(t, true, t.Name())
	case op.mediaType != "":
		return &huma.Schema{Type: huma.TypeString}
	}
	return nil
}

func (op *operation) success() int {
	if op.status == 0 {
		return http.StatusOK
	}
	return op.status
}

func pathParams(path string) (names []string) {
	for _, part := range strings.Split(path, "/") {
		if strings.HasPrefix(part, "{") {
			names = append(names, strings.Trim(part, "{}"))
		}
	}
	return names
}

func pathParam(name string) *huma.Param {
	p := &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
	if name == "id" {
		p.Schema.Format, p.Example, p.Description = "uuid", exampleID, "Its id."
		return p
	}
	p.Description = "Its name. A name with a / in it is written with %2F."
	return p
}

func idempotencyParam() *huma.Param {
	return &huma.Param{
		Name: idempotencyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString}, Example: "order-4711-mail",
		Description: "A text of your own, the same when you send the same request again: it is then not done twice. Kept for 24 hours.",
	}
}

func (p *param) describe() *huma.Param {
	s := &huma.Schema{Type: huma.TypeString}
	switch p.form {
	case formInteger:
		s.Type = huma.TypeInteger
	case formFlag:
		s.Type = huma.TypeBoolean
	case formTime:
		s.Format = "date-time"
	case formID:
		s.Format = "uuid"
	}
	for _, word := range p.enum {
		s.Enum = append(s.Enum, word)
	}
	return &huma.Param{Name: p.name, In: "query", Description: p.doc, Schema: s, Example: p.example}
}
