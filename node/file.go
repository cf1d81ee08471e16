package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/internal/suggest"
	"github.com/rotajobs/rota/internal/yamlfile"
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
	*yamlfile.File
	lines   []line
	targets []targetLine
	seen    map[string]bool // keys read so far

	exec        *action.CommandConfig // nil: there is no section exec
	execSources map[string]string     // file and line of each of its settings
}

const lineHint = "write lines such as workers: 16"

// parseFile splits a file into lines. It keeps each value as written, because the
// setting parses it, not YAML.
func parseFile(name string, text []byte) (*parsedFile, error) {
	r := &parsedFile{seen: map[string]bool{}}
	return r, yamlfile.Read(name, text, func(file *yamlfile.File) error {
		r.File = file
		if file.Body != nil && !yamlfile.IsMapping(file.Body) {
			return file.ErrorAt(file.Body, "the file is not a list of settings", lineHint)
		}
		return r.mapping(file.Body, "")
	})
}

func (r *parsedFile) mapping(node ast.Node, prefix string) error {
	entries, err := r.Entries(node)
	for _, e := range entries {
		if err := r.entry(e, prefix); err != nil {
			return err
		}
	}
	return err
}

func (r *parsedFile) entry(e yamlfile.Entry, prefix string) error {
	key := prefix + e.Name
	s, known := settingOf(key)
	switch {
	case key == targetsKey:
		return r.readTargets(e)
	case key == execKey:
		return r.readExec(e)
	case isSection(key) && yamlfile.IsMapping(e.Value):
		return r.mapping(e.Value, key+".")
	case isSection(key):
		return r.errorAt(e, key, "this is a section, not a setting", "write its settings below it, one per line: "+strings.Join(childNames(key), ", "))
	case !known:
		return r.unknown(e, key)
	}
	l, err := r.line(e, key, s.remedy())
	if err == nil {
		r.lines = append(r.lines, l)
	}
	return err
}

// line reads a setting with one value. It refuses a second value of the same setting.
func (r *parsedFile) line(e yamlfile.Entry, key, remedy string) (l line, err error) {
	text, isScalar := scalar(e.Value)
	switch {
	case !isScalar:
		return l, r.errorAt(e, key, "the value is not a scalar", remedy)
	case text == "":
		return l, r.errorAt(e, key, "the setting has no value", remedy+", or remove the line")
	case r.seen[key]:
		return l, r.errorAt(e, key, "the setting occurs twice", "remove one of the lines")
	}
	r.seen[key] = true
	return line{key, text, r.Name, e.Line()}, nil
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

func (r *parsedFile) unknown(e yamlfile.Entry, key string) error {
	keys := []string{execKey, targetsKey}
	for _, s := range settings {
		keys = append(keys, s.Key)
		if section, _, below := strings.Cut(s.Key, "."); below {
			keys = append(keys, section)
		}
	}
	hint := "rota serve --help lists the settings"
	if meant := suggest.Nearest(strings.ReplaceAll(strings.ToLower(key), "-", "_"), keys); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	return r.errorAt(e, "", "unknown setting "+quoted(key), hint)
}

func (r *parsedFile) errorAt(e yamlfile.Entry, field, reason, hint string) error {
	refusal := r.ErrorAt(e.Key, reason, hint)
	refusal.Field = field
	return refusal
}
