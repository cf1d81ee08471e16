package httpapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
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
	allowNull(a.doc.OpenAPI().Components.Schemas)
	document, err := json.Marshal(a.doc.OpenAPI())
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := docsTemplate.Execute(&page, docsOf(a.doc.OpenAPI())); err != nil {
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
