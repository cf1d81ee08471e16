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

// line is one value of a configuration file and where it stands.
type line struct {
	key, text string
	file      string
	number    int
}

func (l line) where() string { return fmt.Sprintf("%s:%d", l.file, l.number) }

// reading is a file as it is read.
type reading struct {
	file    string
	lines   []line
	targets []targetLine
}

// parseFile turns a file into its lines. The text is taken as it was written:
// what it means is for the setting to say, not for YAML.
func parseFile(file string, text []byte) (read *reading, err error) {
	defer func() {
		if p := recover(); p != nil { // a defect of the parser must not look like one of ours
			err = &rota.Error{Code: rota.Invalid, Act: file, Reason: fmt.Sprintf("it cannot be read as YAML: %v", p)}
		}
	}()
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, malformed(file, err)
	}
	r := &reading{file: file}
	for i, doc := range tree.Docs {
		if i > 0 && doc.Body != nil {
			return nil, r.refuse(doc.Body, "", "a second document begins here", "put everything into one")
		}
		if err := r.document(doc.Body); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func malformed(file string, err error) error {
	refusal := &rota.Error{Code: rota.Invalid, Act: file, Reason: "it is not YAML", Err: err, Hint: "write lines such as workers: 16"}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		refusal.Err, refusal.Reason = nil, "it is not YAML: "+syntax.Message
		if syntax.Token != nil && syntax.Token.Position != nil {
			refusal.Act = fmt.Sprintf("%s:%d", file, syntax.Token.Position.Line)
		}
	}
	return refusal
}

func (r *reading) document(body ast.Node) error {
	switch node := body.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil // nothing but comments
	case *ast.MappingNode, *ast.MappingValueNode:
		return r.mapping(node, "")
	}
	return r.refuse(body, "", "it is not a list of settings", "write lines such as workers: 16")
}

func (r *reading) mapping(node ast.Node, prefix string) error {
	var values []*ast.MappingValueNode
	switch node := node.(type) {
	case *ast.MappingNode:
		values = node.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{node}
	}
	for _, value := range values {
		if err := r.entry(value, prefix); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) entry(node *ast.MappingValueNode, prefix string) error {
	name, plain := scalar(node.Key)
	if !plain {
		return r.refuse(node.Key, "", "this is not the name of a setting", "write lines such as workers: 16")
	}
	key := prefix + name
	if key == targetsKey {
		return r.readTargets(node)
	}
	_, known := settingOf(key)
	switch value := node.Value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		if isSection(key) {
			return r.mapping(value, key+".")
		}
	}
	switch {
	case isSection(key):
		return r.refuse(node.Key, key, "it has settings of its own", "write one on each line below it: "+strings.Join(below(key), ", "))
	case !known:
		return r.unknown(node.Key, key)
	}
	text, plain := scalar(node.Value)
	s, _ := settingOf(key)
	switch {
	case !plain:
		return r.refuse(node.Key, key, "its value is not a plain one", s.remedy())
	case text == "":
		return r.refuse(node.Key, key, "it has no value", s.remedy()+", or leave the line out")
	case slices.ContainsFunc(r.lines, func(l line) bool { return l.key == key }):
		return r.refuse(node.Key, key, "it is set twice", "leave one of the lines out")
	}
	r.lines = append(r.lines, line{key, text, r.file, lineOf(node.Key)})
	return nil
}

// scalar is the text of a plain value, as it was written.
func scalar(node ast.Node) (text string, plain bool) {
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

func isSection(key string) bool { return len(below(key)) > 0 }

// below lists what can stand under a key.
func below(key string) (names []string) {
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

func (r *reading) unknown(node ast.Node, key string) error {
	var keys []string
	for _, s := range settings {
		keys = append(keys, s.Key)
	}
	hint := "see rota serve --help for those there are"
	if meant := suggest.Nearest(strings.ReplaceAll(strings.ToLower(key), "-", "_"), keys); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	return r.refuse(node, "", "there is no setting "+quoted(key), hint)
}

func (r *reading) refuse(node ast.Node, field, reason, hint string) error {
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
