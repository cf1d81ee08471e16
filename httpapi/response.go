package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// writeJSON writes a body at once, with its length.
func writeJSON(w http.ResponseWriter, status int, mediaType string, body any) {
	buf := bodyPool.Get().(*bytes.Buffer)
	buf.Reset()
	defer releaseBody(buf)
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil { // a row holds JSON that is none
		buf.Reset()
		status, mediaType = http.StatusInternalServerError, problemType
		buf.WriteString(`{"title":"Internal error","status":500,"code":"internal","detail":"the answer could not be written","hint":"run rota verify"}` + "\n")
	}
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // a client that has gone is told nothing
}

const problemType = "application/problem+json"

// writeProblem writes an error, and when it is worth to ask again.
func writeProblem(w http.ResponseWriter, p *Problem) {
	switch p.Status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		if w.Header().Get("Retry-After") == "" {
			w.Header().Set("Retry-After", "1")
		}
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="rota"`)
	}
	writeJSON(w, p.Status, problemType, p)
}
