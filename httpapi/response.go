package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/rotajobs/rota/api"
)

// writeJSON writes a whole JSON body with its length.
func writeJSON(w http.ResponseWriter, status int, mediaType string, body any) {
	buf := bodyPool.Get().(*bytes.Buffer)
	buf.Reset()
	defer releaseBody(buf)
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil { // a stored row holds invalid JSON
		buf.Reset()
		status, mediaType = http.StatusInternalServerError, problemType
		buf.WriteString(`{"title":"Internal error","status":500,"code":"internal","detail":"the response could not be encoded: a stored row may hold invalid JSON","hint":"run rota verify"}` + "\n")
	}
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // the client may have disconnected
}

const problemType = "application/problem+json"

// writeProblem writes an error. For overload and rate errors it sets Retry-After.
func writeProblem(w http.ResponseWriter, p *api.Problem) {
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

// writeTimeout is how long a client may accept no data.
const writeTimeout = 30 * time.Second

// writeChunk is the number of bytes per write deadline.
const writeChunk = 256 << 10

// clearDeadlines lets a response take longer than the timeouts of the server.
func clearDeadlines(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // some writers have no deadlines
	_ = control.SetReadDeadline(time.Time{})
}

// extendWriteDeadline sets the deadline of the next write.
func extendWriteDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // some writers have no deadlines
}

// copyBody sends everything from a reader, for any duration, while the client keeps accepting data.
func copyBody(w http.ResponseWriter, from io.Reader) (sent int64, err error) {
	for {
		extendWriteDeadline(w)
		n, err := io.CopyN(w, from, writeChunk)
		sent += n
		if err == io.EOF {
			return sent, nil
		}
		if err != nil {
			return sent, err
		}
	}
}

// abortResponse aborts a response, so that the client sees that it is incomplete.
func abortResponse() { panic(http.ErrAbortHandler) }
