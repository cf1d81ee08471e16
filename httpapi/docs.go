package httpapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"sort"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs.html
var docsText string

//go:embed page.html
var pageText string

var (
	docsTemplate = template.Must(template.New("docs").Parse(docsText))
	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// docRoutes writes the OpenAPI document and the page made of it, once.
func (a *api) docRoutes() error {
	document, err := json.Marshal(a.doc.OpenAPI())
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := docsTemplate.Execute(&page, a.docs()); err != nil {
		return err
	}
	a.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(document)
	})
	a.mux.HandleFunc("GET /docs", func(w http.ResponseWriter, _ *http.Request) { writePage(w, page.Bytes()) })
	return nil
}

// writePage sends a page that needs nothing but itself.
func writePage(w http.ResponseWriter, page []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(page)
}

// docsPage is what the page of the API shows.
type docsPage struct {
	Version string
	Parts   []docsPart
}

type docsPart struct {
	Name, About string
	Operations  []docsOperation
}

type docsOperation struct {
	ID, Method, Path, Summary, About string
	Params                           []docsField
	Body                             []docsField
	Example                          string
}

type docsField struct{ Name, Where, About string }

func (a *api) docs() docsPage {
	oapi := a.doc.OpenAPI()
	page := docsPage{Version: a.Version}
	for _, tag := range oapi.Tags {
		part := docsPart{Name: tag.Name, About: tag.Description}
		for _, path := range sortedKeys(oapi.Paths) {
			item := oapi.Paths[path]
			for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
				if op != nil && op.Tags[0] == tag.Name {
					part.Operations = append(part.Operations, docsOf(op, oapi.Components.Schemas))
				}
			}
		}
		page.Parts = append(page.Parts, part)
	}
	return page
}

func docsOf(op *huma.Operation, schemas huma.Registry) docsOperation {
	v := docsOperation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, About: op.Description}
	for _, p := range op.Parameters {
		v.Params = append(v.Params, docsField{Name: p.Name, Where: p.In, About: p.Description})
	}
	if op.RequestBody == nil {
		return v
	}
	media := op.RequestBody.Content["application/json"]
	v.Example = exampleText(media.Example)
	schema := media.Schema
	if schema.Ref != "" {
		schema = schemas.SchemaFromRef(schema.Ref)
	}
	for _, name := range sortedKeys(schema.Properties) {
		v.Body = append(v.Body, docsField{Name: name, About: schema.Properties[name].Description})
	}
	return v
}

func exampleText(example any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(example) // it was read from JSON
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
