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

// document is a file that was read: what it says, and on which line each part of it stands.
type document struct {
	name  string
	json  json.RawMessage
	lines map[string]int // by path, as a server names what it refuses
}

// readDocument reads YAML or JSON. It knows nothing of what the document may say; where a server knows better, at tells
// the line.
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

// position is where the part of a document stands that a server names, or the nearest one around it.
func (d *document) position(path string) string {
	for at := path; at != ""; at = parentPath(at) {
		if line := d.lines[at]; line > 0 {
			return fmt.Sprintf("%s:%d: ", d.name, line)
		}
	}
	return ""
}

// parentPath is the path of what a part stands in.
func parentPath(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

type yamlReader struct {
	document
	out bytes.Buffer
}

func (r *yamlReader) read(text []byte) (err error) {
	defer func() {
		if p := recover(); p != nil { // a defect of the parser must not look like one of ours
			err = r.errorAt(nil, fmt.Sprintf("it cannot be read as YAML: %v", p), "see that it is a file that rota export wrote")
		}
	}()
	tokens := lexer.Tokenize(string(text))
	if err := r.checkDepth(tokens); err != nil {
		return err
	}
	tree, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // mapping sees them itself
	if err != nil {
		return r.syntaxError(err)
	}
	body := ast.Node(nil)
	for _, doc := range tree.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case body != nil:
			return r.errorAt(doc.Body, "a second document begins here", "put everything into one")
		default:
			body = doc.Body
		}
	}
	switch body.(type) {
	case nil:
		return r.errorAt(nil, "it is empty", "see rota export for what a document looks like")
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		return r.errorAt(body, "it is not a document of definitions", "see rota export for what one looks like; rota import crontab reads crontabs")
	}
	if err := r.node(body, ""); err != nil {
		return err
	}
	r.json = r.out.Bytes()
	return nil
}

// depthMax is how many lists and objects of a document may stand inside each other: as many as what it declares may
// have, and those around it.
const depthMax = rota.DepthMax + 10

// checkDepth refuses what nests too deeply before it is parsed, since that takes memory by the square of the depth. What is
// not in brackets goes deeper with each column, or two of them.
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
			return usagef("see that it is a file that rota export wrote", "%s:%d: it nests more than %d deep", r.name, t.Position.Line, depthMax)
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
			return usagef("indent with spaces", "%s:%d: it is not YAML: there is a tab", r.name, syntax.Token.Position.Line)
		}
		return usagef("", "%s:%d: it is not YAML: %s", r.name, syntax.Token.Position.Line, shortened(syntax.Message))
	}
	return usagef("", "%s: it is not YAML: %s", r.name, shortened(err.Error()))
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
		return r.errorAt(node, "anchors and aliases are not read", "write it out")
	case *ast.TagNode:
		return r.errorAt(node, "tags such as "+shortened(n.GetToken().Value)+" are not read", "leave it out")
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
			return r.errorAt(v.Key, "this is not a name", "write a word before the colon, in quotes if need be")
		case seen[name]:
			return r.errorAt(v.Key, shortened(strconv.Quote(name))+" is given twice", "leave one of them out")
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

// joinPath is the path of a part of something, up to where parts are told apart: paths that grow with each level would
// fill the memory.
func joinPath(path, step string) string {
	if len(path) > pathMax {
		return path
	}
	return path + step
}

// recordLine remembers the line of a part.
func (r *yamlReader) recordLine(path string, node ast.Node) {
	if _, known := r.lines[path]; known || node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
		return
	}
	r.lines[path] = node.GetToken().Position.Line
}

// keyName is the name before a colon, as it is written.
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

// scalar writes a value that stands alone. What it means goes by how it is written, not by what the parser makes of it,
// which would not keep every digit of a number.
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
		return r.errorAt(node, shortened(word)+" is not a number that JSON can have", "write it in digits, or in quotes for a text")
	}
	return r.errorAt(node, "this cannot be read", "write a text, a number, a list or an object")
}

// jsonNumber is a number as JSON writes it.
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
