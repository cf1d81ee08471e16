package httpapi

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// base is the prefix of the API paths.
const base = "/api/v1"

// operation describes one route for the mux, the parser of requests, and the OpenAPI document.
type operation struct {
	method, path  string // path without the base
	id            string
	tag           string
	summary       string
	description   string
	query         []param
	example       string   // example body, as JSON
	required      []string // fields of the body that only this operation requires
	status        int      // success status; 0: 200
	response      any      // value of the response type; nil: no body
	mediaType     string   // media type of a response that is not JSON
	otherStatuses map[int]string
	errors        []int                        // error statuses besides those of every route
	version       func(*call) (rota.ID, error) // version of the resource in the path, which If-Match is compared with; nil: it has none

	scope    access.Operation // tokens that may use it; nothing for a public operation
	ownToken bool             // tokens of every scope may use it on themselves
	need     rota.Privilege   // privilege on all jobs that an act needs which is no command; empty: the Guard decides

	public       bool         // it needs no token
	secret       bool         // the body may contain a password or a secret
	bulk         bool         // the body contains many items
	bodyOptional bool         // the body is optional
	class        requestClass // selects its semaphore
}

// The scopes of operations.
const (
	readScope   = access.ReadOperation
	writeScope  = access.WriteOperation
	workerScope = access.WorkerOperation
	anyScope    = access.AnyOperation
	ownScope    = access.OwnOperation
)

// param is a query parameter.
type param struct {
	name    string
	form    form
	doc     string
	enum    []string
	list    bool // several words of the enum, separated by commas
	example any

	low, high int // allowed numbers
}

// writes reports whether the operation sends commands, and so accepts an Idempotency-Key. The key of a request belongs to
// its user, which a public operation does not know.
func (op *operation) writes() bool { return op.method != http.MethodGet && !op.public }

// param returns a query parameter, nil if the operation has none of that name.
func (op *operation) param(name string) *param {
	for i := range op.query {
		if op.query[i].name == name {
			return &op.query[i]
		}
	}
	return nil
}

// check validates the value of a query parameter.
func (p *param) check(text string) error {
	switch p.form {
	case formInteger:
		if n, err := strconv.Atoi(text); err != nil || n < p.low || n > p.high {
			return problem.Malformed(p.name, "is %s; it must be a number from %d to %d", quoted(text), p.low, p.high)
		}
	case formFlag:
		if text != "true" && text != "false" {
			return problem.Malformed(p.name, "is %s; it must be true or false", quoted(text))
		}
	case formID:
		if id, err := rota.ParseID(text); err != nil || id.IsZero() {
			return problem.Malformed(p.name, "is %s, which is not an id; an id looks like %s", quoted(text), api.ExampleID)
		}
	case formIDPrefix:
		if _, _, err := rota.ParseIDPrefix(text); err != nil {
			return problem.Malformed(p.name, "is %s, which is not the beginning of an id; write %d or more characters of an id such as %s", quoted(text), rota.IDPrefixMin, api.ExampleID)
		}
	case formName, formMoment:
		if text == "" {
			return problem.Malformed(p.name, "is empty; omit it to list all")
		}
	}
	if p.enum == nil {
		return nil
	}
	words, number := []string{text}, "one"
	if p.list {
		words, number = strings.Split(text, ","), "one or more"
	}
	for _, word := range words {
		if api.OneOf(strings.TrimSpace(word), p.enum) == "" {
			return problem.Malformed(p.name, "is %s; it must be %s of %s", quoted(text), number, strings.Join(p.enum, ", "))
		}
	}
	return nil
}

// quoted quotes a value of a request, and cuts a long one.
func quoted(text string) string {
	const shown = 64
	if len(text) > shown {
		end := shown
		for end > shown-utf8.UTFMax && !utf8.RuneStart(text[end]) { // not within a character
			end--
		}
		return strconv.Quote(text[:end]) + "…"
	}
	return strconv.Quote(text)
}

// metaSecret is the key of operation.secret in the metadata of an entry, which the document does not show.
const metaSecret = "secret"

// describe returns the entry of the OpenAPI document.
func (op *operation) describe(r huma.Registry, body reflect.Type) *huma.Operation {
	entry := &huma.Operation{
		Method: op.method, Path: base + op.path, OperationID: op.id, Tags: []string{op.tag},
		Summary: op.summary, Description: op.description, Responses: map[string]*huma.Response{},
		Security: []map[string][]string{{"token": {}}},
		Metadata: map[string]any{metaSecret: op.secret},
	}
	if op.public {
		entry.Security = []map[string][]string{{}}
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
	if op.version != nil {
		entry.Parameters = append(entry.Parameters, matchParam())
		op.errors = append(op.errors, http.StatusPreconditionFailed)
	}
	if body.NumField() > 0 {
		entry.RequestBody = op.describeBody(r, body)
	}
	op.describeResponses(r, entry)
	return entry
}

func (op *operation) describeBody(r huma.Registry, body reflect.Type) *huma.RequestBody {
	media := &huma.MediaType{Schema: r.Schema(body, true, body.Name())}
	if len(op.required) > 0 { // a shape shared with operations that require fewer fields
		media.Schema = withRequired(r.SchemaFromRef(media.Schema.Ref), op.required)
	}
	if op.example != "" {
		media.Example = rawExample(op.example)
	}
	return &huma.RequestBody{Required: !op.bodyOptional, Content: map[string]*huma.MediaType{"application/json": media}}
}

// withRequired returns a copy of an object schema with required fields.
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
	if _, is := op.response.(versioned); is {
		success.Headers = map[string]*huma.Param{"ETag": {Description: "Version in double quotes.", Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	entry.Responses[strconv.Itoa(op.success())] = success
	for status, words := range op.otherStatuses {
		entry.Responses[strconv.Itoa(status)] = &huma.Response{Description: words, Content: success.Content}
	}
	problem := map[string]*huma.MediaType{
		"application/problem+json": {Schema: r.Schema(reflect.TypeFor[api.Problem](), true, "Problem")},
	}
	for _, status := range append(op.errors, http.StatusBadRequest, http.StatusUnauthorized, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable) {
		entry.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: problem}
	}
}

// responseSchema returns nil for an empty response.
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

func (op *operation) success() int { return cmp.Or(op.status, http.StatusOK) }

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
		p.Schema.Format, p.Example, p.Description = "uuid", api.ExampleID, "Id."
		return p
	}
	if name == "token_id" {
		p.Example, p.Description = "k7m2p9qxw4ht", "Id of the token: its part between the underscores."
		return p
	}
	p.Description = "Name. Write a / in a name as %2F."
	return p
}

func idempotencyParam() *huma.Param {
	return &huma.Param{
		Name: idempotencyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString}, Example: "order-4711-mail",
		Description: "Key chosen by the client. A request that is sent again with the same key takes effect once. Keys are kept for 24 hours. If a shorter retention has pruned the job of the request, the request takes effect again.",
	}
}

func matchParam() *huma.Param {
	return &huma.Param{
		Name: matchHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString}, Example: `"` + api.ExampleID + `"`,
		Description: "The ETag that was read. The status is 412 if the resource has another version.",
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
	described := &huma.Param{Name: p.name, In: "query", Description: p.doc, Schema: s, Example: p.example}
	if p.list {
		described.Schema, described.Style, described.Explode = &huma.Schema{Type: huma.TypeArray, Items: s}, "form", new(false)
	}
	return described
}
