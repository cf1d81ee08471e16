// Package yamlfile parses YAML files that people write: configuration, definitions and groups. It accepts one document
// without duplicate names, and its errors name the line.
package yamlfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/rotajobs/rota"
)

// File is a parsed file.
type File struct {
	Name string
	Body ast.Node // nil if the file has only comments
}

// DepthMax is the deepest nesting of lists and mappings: the depth that params may have, and the levels around them.
const DepthMax = rota.DepthMax + 10

// Read parses a file and calls visit with it. The errors of Read are those of ErrorAt, or of visit.
func Read(name string, text []byte, visit func(*File) error) (err error) {
	f := &File{Name: name}
	defer func() {
		if p := recover(); p != nil { // a panic of the YAML library is an error of the file, not of this program
			err = f.ErrorAt(nil, fmt.Sprintf("not valid YAML: %v", p), "fix the file")
		}
	}()
	if err := f.parse(text); err != nil {
		return err
	}
	return visit(f)
}

func (f *File) parse(text []byte) error {
	tokens := lexer.Tokenize(string(text))
	if err := f.checkDepth(tokens); err != nil {
		return err
	}
	tree, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // Entries reports them
	if err != nil {
		return f.syntaxError(err)
	}
	for _, doc := range tree.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case f.Body != nil:
			return f.ErrorAt(doc.Body, "a second document begins here", "put everything into one document")
		default:
			f.Body = doc.Body
		}
	}
	return nil
}

// checkDepth refuses deep nesting before the text is parsed, since the parser needs memory quadratic in the depth.
// Without brackets, each level takes at least one column, and each level of a list two.
func (f *File) checkDepth(tokens token.Tokens) error {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if depth > DepthMax || t.Type == token.SequenceEntryType && t.Position.Column > 2*DepthMax {
			return f.errorAtToken(t, fmt.Sprintf("nested more than %d levels deep", DepthMax), "use fewer levels")
		}
	}
	return nil
}

func (f *File) syntaxError(err error) error {
	var syntax *yaml.SyntaxError
	if !errors.As(err, &syntax) {
		return f.ErrorAt(nil, "not valid YAML: "+err.Error(), "fix the file")
	}
	if strings.Contains(syntax.Message, "\t") || strings.Contains(syntax.Message, "tab character") {
		return f.errorAtToken(syntax.Token, "not valid YAML: there is a tab", "indent with spaces")
	}
	return f.errorAtToken(syntax.Token, "not valid YAML: "+syntax.Message, "fix the line")
}

// ErrorAt returns an error with the file and line of a node. Without a node it is about the whole file.
func (f *File) ErrorAt(node ast.Node, reason, hint string) *rota.Error {
	if node == nil {
		return f.errorAtToken(nil, reason, hint)
	}
	return f.errorAtToken(node.GetToken(), reason, hint)
}

func (f *File) errorAtToken(t *token.Token, reason, hint string) *rota.Error {
	e := &rota.Error{Code: rota.Invalid, Act: f.Name, Reason: reason, Hint: hint}
	if t != nil && t.Position != nil {
		e.Act = f.Name + ":" + strconv.Itoa(t.Position.Line)
	}
	return e
}

// IsMapping reports whether a node has entries.
func IsMapping(node ast.Node) bool {
	switch node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// Entry is a name with its value.
type Entry struct {
	Name  string
	Key   ast.Node
	Value ast.Node
}

// Line is the line of the name.
func (e *Entry) Line() int { return Line(e.Key) }

// Line is the line of a node, or 0 if it is not known.
func Line(node ast.Node) int {
	if node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
		return 0
	}
	return node.GetToken().Position.Line
}

// Entries returns the entries of a mapping. Names are texts as they are written, and each occurs once.
func (f *File) Entries(mapping ast.Node) ([]Entry, error) {
	var values []*ast.MappingValueNode
	switch m := mapping.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	}
	entries := make([]Entry, len(values))
	seen := make(map[string]bool, len(values))
	for i, v := range values {
		name, isText := keyName(v.Key)
		switch {
		case !isText:
			return nil, f.ErrorAt(v.Key, "this is not the name of a value", "write a name before the colon, in quotes if it has special characters")
		case seen[name]:
			hint := "remove one of them"
			if IsMapping(v.Value) {
				hint = "merge them into one"
			}
			return nil, f.ErrorAt(v.Key, strconv.Quote(name)+" is given twice", hint)
		}
		seen[name] = true
		entries[i] = Entry{name, v.Key, v.Value}
	}
	return entries, nil
}

// keyName returns the key before a colon as it is written.
func keyName(key ast.MapKeyNode) (name string, isText bool) {
	switch n := key.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}
