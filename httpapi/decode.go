package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// bodyPool holds buffers for request bodies; large ones are not kept.
var bodyPool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const bodyKeepMax = 64 << 10

// readBody reads the body of a request into a buffer, which the caller passes to releaseBody.
func readBody(w http.ResponseWriter, r *http.Request, maxBytes int64) (*bytes.Buffer, error) {
	buf := bodyPool.Get().(*bytes.Buffer)
	buf.Reset()
	_, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, maxBytes))
	if err == nil {
		return buf, nil
	}
	releaseBody(buf)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &api.Problem{
			Title: "Body too large", Status: http.StatusRequestEntityTooLarge, Code: codeTooLarge,
			Detail: "the body exceeds the limit of " + problem.Size(maxBytes), Hint: "split it into several requests",
		}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, problem.Malformed("", "the body is incomplete")
	}
	return nil, problem.Malformed("", "the body could not be read")
}

func releaseBody(buf *bytes.Buffer) {
	if buf.Cap() <= bodyKeepMax {
		bodyPool.Put(buf)
	}
}

// checkMediaType refuses a body with another media type than JSON. A body without a media type is
// taken as JSON.
func checkMediaType(r *http.Request) error {
	given, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	given = strings.ToLower(strings.TrimSpace(given))
	if given == "" || given == "application/json" || strings.HasPrefix(given, "application/") && strings.HasSuffix(given, "+json") {
		return nil
	}
	return &api.Problem{
		Title: "Unsupported media type", Status: http.StatusUnsupportedMediaType, Code: codeMediaType,
		Detail: "the Content-Type is not JSON", Hint: "send the header Content-Type: application/json",
	}
}

// decode parses a body strictly. Invalid JSON is 400 with its position. Unknown fields, duplicate
// fields and values of the wrong form are 422, each with its path. Half of a surrogate pair and an empty filter are 400,
// with their paths.
func decode(body []byte, into any) error {
	if err := checkJSON(body); err != nil {
		return err
	}
	if err := rota.CheckSurrogates(body); err != nil {
		return asMalformed(err)
	}
	if err := checkShape(body, shapeOf(reflect.TypeOf(into).Elem())); err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil { // the shape check accepted it, so this is a defect in this package
		return problem.Fields([]api.FieldError{{Field: "", Reason: "the body cannot be decoded"}})
	}
	return nil
}

func checkJSON(body []byte) error {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return problem.Malformed("", "the body is empty; send a JSON object")
	case !utf8.Valid(body):
		return problem.Malformed("", "the body is not UTF-8 text")
	case json.Valid(body):
		return nil
	}
	var any json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, &any); errors.As(err, &syntax) {
		at := max(0, min(int(syntax.Offset)-1, len(body)))
		line, column := 1+bytes.Count(body[:at], []byte("\n")), at-bytes.LastIndexByte(body[:at], '\n')
		return problem.Malformed("", "the body is not JSON: line %d, column %d: %s", line, column, syntaxReason(syntax))
	}
	return problem.Malformed("", "the body is not JSON")
}

// syntaxReason returns the reason of a syntax error. It repeats at most one character of the body,
// which the client needs to find the error.
func syntaxReason(err *json.SyntaxError) string {
	text := err.Error()
	if strings.HasPrefix(text, "invalid character") || strings.HasPrefix(text, "unexpected end") || strings.HasPrefix(text, "exceeded max depth") {
		return text
	}
	return "invalid syntax"
}
