package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/rotajobs/rota"
)

// document is a parsed file: its content as JSON, and the line number of each value.
type document struct {
	name  string
	json  json.RawMessage
	lines map[string]int // by path, as the server names fields
}

// readDocument parses YAML or JSON. It does not know the fields of a document; the server checks them, and position
// gives the line of a field that the server refuses.
func readDocument(name string, text []byte) (*document, error) {
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed) {
		return &document{name: name, json: trimmed, lines: jsonLines(text)}, nil
	}
	r := &yamlReader{document: document{name: name, lines: map[string]int{}}}
	if err := r.read(text); err != nil {
		return nil, err
	}
	return &r.document, nil
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

type yamlReader struct {
	document
	out bytes.Buffer
}

func (r *yamlReader) read(text []byte) (err error) {
	defer func() {
		if p := recover(); p != nil { // a panic of the YAML library is an error of the file, not of this program
			err = r.errorAt(nil, fmt.Sprintf("not valid YAML: %v", p), "use a file that rota export wrote")
		}
	}()
	tokens := lexer.Tokenize(string(text))
	if err := r.checkDepth(tokens); err != nil {
		return err
	}
	tree, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // mapping reports them
	if err != nil {
		return r.syntaxError(err)
	}
	body := ast.Node(nil)
	for _, doc := range tree.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case body != nil:
			return r.errorAt(doc.Body, "a second document begins here", "put all definitions into one document")
		default:
			body = doc.Body
		}
	}
	switch body.(type) {
	case nil:
		return r.errorAt(nil, "the file is empty", "rota export prints an example")
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		return r.errorAt(body, "not a document of definitions", "rota export prints an example; rota import crontab reads crontabs")
	}
	if err := r.node(body, ""); err != nil {
		return err
	}
	r.json = r.out.Bytes()
	return nil
}

// depthMax is the deepest nesting of lists and objects in a document: the depth that params may have, and the levels
// around them.
const depthMax = rota.DepthMax + 10

// checkDepth refuses deep nesting before the text is parsed, since the parser needs memory quadratic in the depth.
// Without brackets, each level takes at least one column, and each level of a list two.
func (r *yamlReader) checkDepth(tokens token.Tokens) error {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if depth > depthMax || t.Type == token.SequenceEntryType && t.Position.Column > 2*depthMax {
			return usagef("use a file that rota export wrote", "%s:%d: nested more than %d levels deep", r.name, t.Position.Line, depthMax)
		}
	}
	return nil
}

func (r *yamlReader) errorAt(node ast.Node, reason, hint string) error {
	where := r.name
	if node != nil && node.GetToken() != nil && node.GetToken().Position != nil {
		where = fmt.Sprintf("%s:%d", r.name, node.GetToken().Position.Line)
	}
	return usagef(hint, "%s: %s", where, reason)
}

func (r *yamlReader) syntaxError(err error) error {
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil && syntax.Token.Position != nil {
		if strings.Contains(syntax.Message, "\t") || strings.Contains(syntax.Message, "tab character") {
			return usagef("indent with spaces", "%s:%d: not valid YAML: there is a tab", r.name, syntax.Token.Position.Line)
		}
		return usagef("fix the line", "%s:%d: not valid YAML: %s", r.name, syntax.Token.Position.Line, shortened(syntax.Message))
	}
	return usagef("fix the file", "%s: not valid YAML: %s", r.name, shortened(err.Error()))
}

// node writes a value as JSON.
func (r *yamlReader) node(node ast.Node, path string) error {
	switch n := node.(type) {
	case *ast.MappingNode:
		return r.mapping(n.Values, path)
	case *ast.MappingValueNode:
		return r.mapping([]*ast.MappingValueNode{n}, path)
	case *ast.SequenceNode:
		return r.sequence(n.Values, path)
	case *ast.LiteralNode:
		return r.text(n.Value.Value)
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return r.errorAt(node, "anchors and aliases are not supported", "write the value itself")
	case *ast.TagNode:
		return r.errorAt(node, "tags such as "+shortened(n.GetToken().Value)+" are not supported", "remove the tag")
	case nil:
		r.out.WriteString("null")
		return nil
	}
	return r.scalar(node)
}

func (r *yamlReader) mapping(values []*ast.MappingValueNode, path string) error {
	r.out.WriteByte('{')
	seen := map[string]bool{}
	for i, v := range values {
		if i > 0 {
			r.out.WriteByte(',')
		}
		name, fine := keyName(v.Key)
		switch {
		case !fine:
			return r.errorAt(v.Key, "the key is not a text", "write a name before the colon, in quotes if it has special characters")
		case seen[name]:
			return r.errorAt(v.Key, shortened(strconv.Quote(name))+" is given twice", "remove one of them")
		}
		seen[name] = true
		at := name
		if path != "" {
			at = joinPath(path, "."+name)
		}
		r.recordLine(at, v.Key)
		if err := r.text(name); err != nil {
			return err
		}
		r.out.WriteByte(':')
		if err := r.node(v.Value, at); err != nil {
			return err
		}
	}
	r.out.WriteByte('}')
	return nil
}

func (r *yamlReader) sequence(values []ast.Node, path string) error {
	r.out.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			r.out.WriteByte(',')
		}
		at := joinPath(path, "["+strconv.Itoa(i)+"]")
		r.recordLine(at, v)
		if err := r.node(v, at); err != nil {
			return err
		}
	}
	r.out.WriteByte(']')
	return nil
}

// joinPath appends a step to a path, up to pathMax: paths that grow with each level would fill memory.
func joinPath(path, step string) string {
	if len(path) > pathMax {
		return path
	}
	return path + step
}

// recordLine records the line of a path.
func (r *yamlReader) recordLine(path string, node ast.Node) {
	if _, known := r.lines[path]; known || node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
		return
	}
	r.lines[path] = node.GetToken().Position.Line
}

// keyName returns the key before a colon as it is written.
func keyName(key ast.MapKeyNode) (name string, fine bool) {
	switch n := key.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func (r *yamlReader) text(value string) error {
	r.out.Write(rota.EncodeSpec(value))
	return nil
}

// scalar writes a scalar value. It reads the text of the token, not the value of the parser, which would not keep every
// digit of a number.
func (r *yamlReader) scalar(node ast.Node) error {
	t := node.GetToken()
	if text, is := node.(*ast.StringNode); is && (t.Type == token.DoubleQuoteType || t.Type == token.SingleQuoteType) {
		return r.text(text.Value)
	}
	word := t.Value
	switch strings.ToLower(word) {
	case "true", "false":
		r.out.WriteString(strings.ToLower(word))
		return nil
	case "null", "~", "":
		r.out.WriteString("null")
		return nil
	}
	if number, is := jsonNumber(word); is {
		r.out.WriteString(number)
		return nil
	}
	switch n := node.(type) {
	case *ast.StringNode:
		return r.text(n.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return r.errorAt(node, shortened(word)+" is not a number in JSON", "write a decimal number, or a text in quotes")
	}
	return r.errorAt(node, "the value cannot be read", "write a text, a number, a list or an object")
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
