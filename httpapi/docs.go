package httpapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"sync"
)

//go:embed docs.html
var docsText string

//go:embed page.html
var pageText string

var (
	docsTemplate = template.Must(template.New("docs").Parse(docsText))
	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// docRoutes serves the OpenAPI document and its HTML page. The first request renders each of them,
// so that a server starts faster.
func (a *server) docRoutes() {
	allowNull(a.doc.OpenAPI().Components.Schemas)
	document := sync.OnceValues(func() ([]byte, error) { return json.Marshal(a.doc.OpenAPI()) })
	page := sync.OnceValues(func() ([]byte, error) {
		var page bytes.Buffer
		err := docsTemplate.Execute(&page, docsOf(a.doc.OpenAPI()))
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
}

// writePage sends a page that loads no other resources.
func writePage(w http.ResponseWriter, page []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(page)
}
