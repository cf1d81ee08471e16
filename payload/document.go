package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
)

// Limits of a document. A check uses exact arithmetic, in which a short text such
// as 1e999999 is a very large number.
const (
	depthMax    = rota.DepthMax
	schemaDepth = 200   // nesting of lists and objects in a schema
	digitsMax   = 1_000 // bytes of a number
	exponentMax = 1_000 // of a number
)

// document is parsed JSON. Numbers keep their text.
type document struct {
	value any
	bytes int
	nodes int
	depth int // largest nesting that is allowed
}

// parseDocument parses a document and refuses one that is costly to check. If
// a key occurs twice, the last value counts, as in encoding/json.
func parseDocument(root string, doc json.RawMessage, depth int) (document, error) {
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.UseNumber()
	d := document{bytes: len(doc), depth: depth}
	if err := decoder.Decode(&d.value); err != nil {
		return d, notJSON(root, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return d, rota.Invalidf(root, "is not JSON: there is more text after the first value")
	}
	if err := d.measure(d.value, docPath{root: root}, 0); err != nil {
		return d, err
	}
	return d, nil
}

func notJSON(root string, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return rota.Invalidf(root, "is not JSON: it ends too early")
	case errors.As(err, &syntax):
		return rota.Invalidf(root, "is not JSON: %s, at byte %d", syntax.Error(), syntax.Offset)
	}
	return &rota.Error{Code: rota.Invalid, Field: root, Reason: "is not JSON", Err: err}
}

func (d *document) measure(v any, at docPath, depth int) error {
	d.nodes++
	if depth > d.depth {
		return rota.Invalidf(at.root, "is nested more than %d deep", d.depth)
	}
	switch v := v.(type) {
	case json.Number:
		return checkNumber(v.String(), at)
	case []any:
		for i, item := range v {
			if err := d.measure(item, at.item(i), depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, item := range v {
			if err := d.measure(item, at.key(key), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkNumber(text string, at docPath) error {
	if len(text) > digitsMax {
		return rota.Invalidf(at.String(), "is a number of %d digits; at most %d are allowed", len(text), digitsMax)
	}
	e := strings.IndexAny(text, "eE")
	if e < 0 {
		return nil
	}
	exponent, err := strconv.Atoi(strings.TrimPrefix(text[e+1:], "+"))
	if err != nil || exponent > exponentMax || exponent < -exponentMax {
		return rota.Invalidf(at.String(), "is %s, a number out of range", truncated(text))
	}
	return nil
}
