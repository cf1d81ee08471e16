package httpapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs.html
var docsText string

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// docRoutes serves the OpenAPI document and its HTML page. The first request renders each of them,
// so that a server starts faster.
func (a *server) docRoutes() {
	allowNull(a.doc.OpenAPI().Components.Schemas)
	document := sync.OnceValues(func() ([]byte, error) { return json.Marshal(a.doc.OpenAPI()) })
	page := sync.OnceValues(func() ([]byte, error) {
		docs, err := template.New("docs").Funcs(docsFuncs(a.doc.OpenAPI())).Parse(docsText)
		if err != nil {
			return nil, err
		}
		var page bytes.Buffer
		err = docs.Execute(&page, a.doc.OpenAPI())
		return page.Bytes(), err
	})
	serve := func(path string, render func() ([]byte, error), write func(http.ResponseWriter, []byte)) {
		a.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			text, err := render()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			write(w, text)
		})
	}
	serve("/openapi.json", document, func(w http.ResponseWriter, text []byte) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	})
	serve("/docs", page, writePage)
	serve("/{$}", a.homePage, writePage)
}

// homePage renders the page at /. It needs no token and shows none.
func (a *server) homePage() ([]byte, error) {
	addresses := map[string]string{}
	if a.Addresses != nil {
		addresses = a.Addresses()
	}
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, map[string]any{"Version": a.Version, "Addresses": addresses, "Metrics": a.Metrics != nil})
	return page.Bytes(), err
}

// writePage sends a page that loads no other resources.
func writePage(w http.ResponseWriter, page []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(page)
}

// docsFuncs are the functions of docs.html, which shows the OpenAPI document to people.
func docsFuncs(document *huma.OpenAPI) template.FuncMap {
	resolve := func(schema *huma.Schema) *huma.Schema {
		if schema.Ref != "" {
			return document.Components.Schemas.SchemaFromRef(schema.Ref)
		}
		return schema
	}
	return template.FuncMap{
		"operations": func(tag string) (found []*huma.Operation) {
			for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
				item := document.Paths[path]
				for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
					if op != nil && op.Tags[0] == tag {
						found = append(found, op)
					}
				}
			}
			return found
		},
		"kind":   docsKindOf,
		"params": docsParams,
		"fields": func(schema *huma.Schema) []docsField { return docsFields(resolve(schema)) },
		"items": func(schema *huma.Schema) *huma.Schema { // of a page; nil: the response is not a page
			if items := resolve(schema).Properties["items"]; items != nil {
				return items.Items
			}
			return nil
		},
		"indented": func(example any) string {
			var b strings.Builder
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			_ = e.Encode(example) // the example was decoded from JSON, so encoding cannot fail
			return b.String()
		},
	}
}

// docsField is one field as the page shows it.
type docsField struct {
	Name, Where, About string
	Kind               docsKind
	Required           bool
	Words              []string // allowed values; empty: any of its kind
	Default, Example   string
}

// docsKind describes the values of a field in words, which end with the name of a shape if there is
// one.
type docsKind struct {
	Words, Shape string
	Null         bool
}

// docsFields returns the fields of an object by name, required fields first.
func docsFields(schema *huma.Schema) (fields []docsField) {
	for _, needed := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			if slices.Contains(schema.Required, name) == needed {
				fields = append(fields, docsFieldOf(name, schema.Properties[name], needed))
			}
		}
	}
	return fields
}

func docsFieldOf(name string, schema *huma.Schema, required bool) docsField {
	f := docsField{Name: name, About: schema.Description, Kind: docsKindOf(schema), Required: required}
	for _, word := range schema.Enum {
		if word != nil {
			f.Words = append(f.Words, fmt.Sprint(word))
		}
	}
	if schema.Default != nil { // of a pointer field it is a pointer
		f.Default = fmt.Sprint(reflect.Indirect(reflect.ValueOf(schema.Default)))
	}
	if len(schema.Examples) > 0 && docsFormats[schema.Format] == "" {
		f.Example = fmt.Sprint(schema.Examples[0])
	}
	return f
}

// docsParams returns the parameters of an operation as fields.
func docsParams(params []*huma.Param) (fields []docsField) {
	for _, p := range params {
		field := docsFieldOf(p.Name, p.Schema, p.Required)
		field.Where, field.About = p.In, p.Description
		if p.Example != nil {
			field.Example = fmt.Sprint(p.Example)
		}
		fields = append(fields, field)
	}
	return fields
}

func docsKindOf(schema *huma.Schema) docsKind {
	if schema == nil {
		return docsKind{}
	}
	if schema.Ref != "" {
		return docsKind{Shape: path.Base(schema.Ref), Null: schema.Nullable}
	}
	kind := docsKind{Words: docsWords[schema.Type], Null: schema.Nullable}
	if format := docsFormats[schema.Format]; format != "" {
		kind.Words = format
	}
	if len(schema.OneOf) > 0 {
		return docsKind{Shape: path.Base(schema.OneOf[0].Ref), Null: true}
	}
	if len(schema.AnyOf) > 0 {
		return docsEither(schema.AnyOf)
	}
	inner, isMap := schema.AdditionalProperties.(*huma.Schema)
	switch {
	case schema.Items != nil:
		return kind.of("list of ", docsKindOf(schema.Items))
	case isMap:
		return kind.of("by name: ", docsKindOf(inner))
	}
	return kind
}

// docsEither describes a field that accepts several simple kinds.
func docsEither(schemas []*huma.Schema) docsKind {
	var either docsKind
	var words []string
	for _, one := range schemas {
		words = append(words, docsWords[one.Type])
		either.Null = either.Null || one.Nullable
	}
	either.Words = strings.Join(words, " or ")
	return either
}

func (k docsKind) of(words string, inner docsKind) docsKind {
	return docsKind{Words: words + inner.Words, Shape: inner.Shape, Null: k.Null}
}

var docsWords = map[string]string{
	"": "any JSON", huma.TypeString: "text", huma.TypeInteger: "whole number", huma.TypeNumber: "number", huma.TypeBoolean: "true or false",
	huma.TypeObject: "object", huma.TypeArray: "list",
}

var docsFormats = map[string]string{"date-time": "time", "uuid": "id"}
