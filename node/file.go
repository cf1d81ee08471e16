package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/suggest"
)

// line is one value of a configuration file and its position.
type line struct {
	key, text string
	file      string
	number    int
}

func (l line) position() string { return fmt.Sprintf("%s:%d", l.file, l.number) }

// parsedFile is the content of a configuration file.
type parsedFile struct {
	file    string
	lines   []line
	targets []targetLine
	seen    map[string]bool // keys read so far
}

// parseFile splits a file into lines. It keeps each value as written, because the
// setting parses it, not YAML.
func parseFile(file string, text []byte) (read *parsedFile, err error) {
	defer func() {
		if p := recover(); p != nil { // a panic of the YAML parser must not stop the server
			err = &rota.Error{Code: rota.Invalid, Act: file, Reason: fmt.Sprintf("the file cannot be parsed as YAML: %v", p)}
		}
	}()
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, malformed(file, err)
	}
	r := &parsedFile{file: file, seen: map[string]bool{}}
	for i, doc := range tree.Docs {
		if i > 0 && doc.Body != nil {
			return nil, r.errorAt(doc.Body, "", "a second document begins here", "put all settings into one document")
		}
		if err := r.document(doc.Body); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func malformed(file string, err error) error {
	refusal := &rota.Error{Code: rota.Invalid, Act: file, Reason: "the file is not YAML", Err: err, Hint: "write lines such as workers: 16"}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		refusal.Err, refusal.Reason = nil, "the file is not YAML: "+syntax.Message
		if syntax.Token != nil && syntax.Token.Position != nil {
			refusal.Act = fmt.Sprintf("%s:%d", file, syntax.Token.Position.Line)
		}
	}
	return refusal
}

func (r *parsedFile) document(body ast.Node) error {
	switch node := body.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil // only comments
	case *ast.MappingNode, *ast.MappingValueNode:
		return r.mapping(node, "")
	}
	return r.errorAt(body, "", "the file is not a list of settings", "write lines such as workers: 16")
}

func (r *parsedFile) mapping(node ast.Node, prefix string) error {
	entries, _ := entriesOf(node)
	for _, value := range entries {
		if err := r.entry(value, prefix); err != nil {
			return err
		}
	}
	return nil
}

// entriesOf returns the entries of a mapping.
func entriesOf(node ast.Node) (entries []*ast.MappingValueNode, isMapping bool) {
	switch node := node.(type) {
	case *ast.MappingNode:
		return node.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{node}, true
	}
	return nil, false
}

func (r *parsedFile) entry(node *ast.MappingValueNode, prefix string) error {
	name, isScalar := scalar(node.Key)
	if !isScalar {
		return r.errorAt(node.Key, "", "this is not the name of a setting", "write lines such as workers: 16")
	}
	key := prefix + name
	s, known := settingOf(key)
	_, isMapping := entriesOf(node.Value)
	switch {
	case key == targetsKey:
		return r.readTargets(node)
	case isSection(key) && isMapping:
		return r.mapping(node.Value, key+".")
	case isSection(key):
		return r.errorAt(node.Key, key, "this is a section, not a setting", "write its settings below it, one per line: "+strings.Join(childNames(key), ", "))
	case !known:
		return r.unknown(node.Key, key)
	}
	l, err := r.line(node, key, s.remedy())
	if err == nil {
		r.lines = append(r.lines, l)
	}
	return err
}

// line reads a setting with one value. It refuses a second value of the same setting.
func (r *parsedFile) line(node *ast.MappingValueNode, key, remedy string) (l line, err error) {
	text, isScalar := scalar(node.Value)
	switch {
	case !isScalar:
		return l, r.errorAt(node.Key, key, "the value is not a scalar", remedy)
	case text == "":
		return l, r.errorAt(node.Key, key, "the setting has no value", remedy+", or remove the line")
	case r.seen[key]:
		return l, r.errorAt(node.Key, key, "the setting occurs twice", "remove one of the lines")
	}
	r.seen[key] = true
	return line{key, text, r.file, lineOf(node.Key)}, nil
}

// scalar is the text of a scalar, as it was written.
func scalar(node ast.Node) (text string, isScalar bool) {
	switch node := node.(type) {
	case *ast.StringNode:
		return node.Value, true
	case *ast.NullNode:
		return "", true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return node.GetToken().Value, true
	}
	return "", false
}

func isSection(key string) bool { return len(childNames(key)) > 0 }

// childNames lists the keys below a section.
func childNames(key string) (names []string) {
	for _, s := range settings {
		if rest, under := strings.CutPrefix(s.Key, key+"."); under {
			name, _, _ := strings.Cut(rest, ".")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (r *parsedFile) unknown(node ast.Node, key string) error {
	var keys []string
	for _, s := range settings {
		keys = append(keys, s.Key)
	}
	hint := "rota serve --help lists the settings"
	if meant := suggest.Nearest(strings.ReplaceAll(strings.ToLower(key), "-", "_"), keys); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	return r.errorAt(node, "", "unknown setting "+quoted(key), hint)
}

func (r *parsedFile) errorAt(node ast.Node, field, reason, hint string) error {
	return &rota.Error{
		Code: rota.Invalid, Act: fmt.Sprintf("%s:%d", r.file, lineOf(node)), Field: field, Reason: reason, Hint: hint,
	}
}

func lineOf(node ast.Node) int {
	if node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
		return 1
	}
	return node.GetToken().Position.Line
}
