package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/yamlfile"
)

// document is a parsed file: its content as JSON, and the line number of each value.
type document struct {
	name  string
	json  json.RawMessage
	lines map[string]int // by path, as the server names fields
}

// readDocument parses a document of definitions in YAML or JSON. It does not know the fields; the server checks them, and
// position gives the line of a field that the server refuses.
func readDocument(name string, text []byte) (*document, error) {
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed) {
		return &document{name: name, json: trimmed, lines: jsonLines(text)}, nil
	}
	return readFields(name, text, "a document of definitions", "rota export prints an example; rota import crontab reads crontabs")
}

// readFields parses a YAML file with the fields of a request. The errors name what the file should be, with a hint.
func readFields(name string, text []byte, what, hint string) (*document, error) {
	w := jsonWriter{lines: map[string]int{}}
	err := yamlfile.Read(name, text, func(file *yamlfile.File) error {
		switch w.file = file; {
		case file.Body == nil:
			return file.ErrorAt(nil, "the file is empty", hint)
		case !yamlfile.IsMapping(file.Body):
			return file.ErrorAt(file.Body, "not "+what, hint)
		}
		return w.node(file.Body, "")
	})
	var e *rota.Error
	if errors.As(err, &e) {
		return nil, usagef(e.Hint, "%s: %s", e.Act, shortened(e.Reason))
	}
	return &document{name: name, json: w.out.Bytes(), lines: w.lines}, nil
}

// position returns the file and line of a path, or of the nearest enclosing value with a known line.
func (d *document) position(path string) string {
	for at := path; at != ""; at = parentPath(at) {
		if line := d.lines[at]; line > 0 {
			return fmt.Sprintf("%s:%d: ", d.name, line)
		}
	}
	return ""
}

// parentPath returns the path of the enclosing value.
func parentPath(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// jsonWriter converts a YAML file to JSON. Its errors are those of yamlfile.
type jsonWriter struct {
	file  *yamlfile.File
	out   bytes.Buffer
	lines map[string]int
}

// node writes a value as JSON.
func (w *jsonWriter) node(node ast.Node, path string) error {
	switch n := node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return w.mapping(n, path)
	case *ast.SequenceNode:
		return w.sequence(n.Values, path)
	case *ast.LiteralNode:
		return w.text(n.Value.Value)
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return w.file.ErrorAt(node, "anchors and aliases are not supported", "write the value itself")
	case *ast.TagNode:
		return w.file.ErrorAt(node, "tags such as "+n.GetToken().Value+" are not supported", "remove the tag")
	case nil:
		w.out.WriteString("null")
		return nil
	}
	return w.scalar(node)
}

func (w *jsonWriter) mapping(node ast.Node, path string) error {
	entries, err := w.file.Entries(node)
	if err != nil {
		return err
	}
	w.out.WriteByte('{')
	for i, e := range entries {
		if i > 0 {
			w.out.WriteByte(',')
		}
		at := e.Name
		if path != "" {
			at = joinPath(path, "."+e.Name)
		}
		w.recordLine(at, e.Key)
		w.text(e.Name)
		w.out.WriteByte(':')
		if err := w.node(e.Value, at); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

func (w *jsonWriter) sequence(values []ast.Node, path string) error {
	w.out.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			w.out.WriteByte(',')
		}
		at := joinPath(path, "["+strconv.Itoa(i)+"]")
		w.recordLine(at, v)
		if err := w.node(v, at); err != nil {
			return err
		}
	}
	w.out.WriteByte(']')
	return nil
}

// joinPath appends a step to a path, up to pathMax: paths that grow with each level would fill memory.
func joinPath(path, step string) string {
	if len(path) > pathMax {
		return path
	}
	return path + step
}

// recordLine records the line of a path. The first value of a path wins.
func (w *jsonWriter) recordLine(path string, node ast.Node) {
	if _, known := w.lines[path]; !known && yamlfile.Line(node) > 0 {
		w.lines[path] = yamlfile.Line(node)
	}
}

func (w *jsonWriter) text(value string) error {
	w.out.Write(rota.EncodeSpec(value))
	return nil
}

// scalar writes a scalar value. It reads the text of the token, not the value of the parser, which would not keep every
// digit of a number.
func (w *jsonWriter) scalar(node ast.Node) error {
	t := node.GetToken()
	if text, is := node.(*ast.StringNode); is && (t.Type == token.DoubleQuoteType || t.Type == token.SingleQuoteType) {
		return w.text(text.Value)
	}
	word := t.Value
	switch strings.ToLower(word) {
	case "true", "false":
		w.out.WriteString(strings.ToLower(word))
		return nil
	case "null", "~", "":
		w.out.WriteString("null")
		return nil
	}
	if number, is := jsonNumber(word); is {
		w.out.WriteString(number)
		return nil
	}
	switch n := node.(type) {
	case *ast.StringNode:
		return w.text(n.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return w.file.ErrorAt(node, word+" is not a number in JSON", "write a decimal number, or a text in quotes")
	}
	return w.file.ErrorAt(node, "the value cannot be read", "write a text, a number, a list or an object")
}

// jsonNumber converts a number to the form of JSON.
func jsonNumber(word string) (number string, is bool) {
	if strings.ContainsAny(word[:1], "-0123456789") && json.Valid([]byte(word)) {
		return word, true
	}
	if len(word) > 2 && word[0] == '0' && strings.ContainsAny(word[1:2], "xob") {
		if n, fine := new(big.Int).SetString(word, 0); fine && !strings.Contains(word, "_") {
			return n.String(), true
		}
	}
	return "", false
}
