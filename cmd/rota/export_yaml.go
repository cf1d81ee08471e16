package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// toYAML converts JSON to YAML for reading and editing, and keeps the order of fields. Numbers stay as they are
// written, and texts are quoted where they could be read as something else, so that readDocument returns exactly the
// same JSON.
func toYAML(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	value, err := readNode(d)
	if err != nil {
		return nil, err
	}
	w := &yamlWriter{}
	switch fields, is := value.(object); {
	case is && len(fields) > 0:
		for i, f := range fields {
			if i > 0 {
				w.b.WriteByte('\n') // an empty line between the sections
			}
			w.block(object{f}, 0)
		}
	default:
		w.b.WriteString(flow(value) + "\n")
	}
	return w.b.Bytes(), nil
}

// object is a JSON object whose fields keep their order.
type object []field

type field struct {
	name  string
	value any // nil, bool, json.Number, string, []any or object
}

// readNode decodes one value.
func readNode(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			value, err := readNode(d)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		fields := object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := readNode(d)
			if err != nil {
				return nil, err
			}
			fields = append(fields, field{fmt.Sprint(name), value})
		}
		_, err = d.Token()
		return fields, err
	}
	return token, nil
}

// blockDepth is the deepest level in block style; deeper values are written in flow style, on one line.
const blockDepth = 12

type yamlWriter struct{ b bytes.Buffer }

// block writes the fields of an object, one on each line.
func (w *yamlWriter) block(fields object, depth int) {
	for _, f := range fields {
		w.indent(depth)
		w.b.WriteString(yamlKey(f.name) + ":")
		w.value(f.value, depth)
	}
}

// list writes the items of a list, one on each line. The first field of an object follows the dash.
func (w *yamlWriter) list(items []any, depth int) {
	for _, item := range items {
		w.indent(depth)
		w.b.WriteByte('-')
		fields, is := item.(object)
		if !is || len(fields) == 0 || depth >= blockDepth {
			w.value(item, depth)
			continue
		}
		inner := &yamlWriter{}
		inner.block(fields, depth+1)
		w.b.WriteByte(' ')
		w.b.Write(bytes.TrimPrefix(inner.b.Bytes(), []byte(strings.Repeat("  ", depth+1))))
	}
}

func (w *yamlWriter) indent(depth int) { w.b.WriteString(strings.Repeat("  ", depth)) }

// value writes the value behind a key or a dash, and the line break.
func (w *yamlWriter) value(value any, depth int) {
	switch v := value.(type) {
	case object:
		if len(v) > 0 && depth < blockDepth {
			w.b.WriteByte('\n')
			w.block(v, depth+1)
			return
		}
	case []any:
		if line := flow(v); depth < blockDepth && (len(line) > flowMax || nested(v)) {
			w.b.WriteByte('\n')
			w.list(v, depth+1)
			return
		}
	case string:
		if literal(v) {
			w.literal(v, depth)
			return
		}
		w.b.WriteString(" " + yamlText(v, plainValue) + "\n")
		return
	}
	w.b.WriteString(" " + flow(value) + "\n")
}

// flowMax is the longest list on one line, in bytes.
const flowMax = 80

func nested(list []any) bool {
	for _, item := range list {
		switch item.(type) {
		case object, []any:
			return true
		}
	}
	return false
}

// literal reports whether a text of several lines can be written as a literal block. Texts with spaces at the start or
// end of a line, or with several line breaks at the end, are quoted instead.
func literal(text string) bool {
	body := strings.TrimSuffix(text, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") {
		return false
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != strings.Trim(line, " ") || strings.ContainsFunc(line, unprintable) {
			return false
		}
	}
	return body[0] != '\n' && body[0] != '#'
}

func (w *yamlWriter) literal(text string, depth int) {
	body, ended := strings.CutSuffix(text, "\n")
	mark := " |-\n"
	if ended {
		mark = " |\n"
	}
	w.b.WriteString(mark)
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			w.indent(depth + 1)
		}
		w.b.WriteString(line + "\n")
	}
}

// flow formats a value on one line: JSON, without the quotes of simple words.
func flow(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return yamlText(v, plainWord)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = flow(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case object:
		fields := make([]string, len(v))
		for i, f := range v {
			fields[i] = strconv.Quote(f.name) + ": " + flow(f.value)
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return fmt.Sprint(value) // a number unchanged, true or false
}

var (
	plainWord  = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./@-]*$`)
	plainValue = regexp.MustCompile(`^[A-Za-z_/]([A-Za-z0-9_./@+()!?;-]|[ =,'":&|][A-Za-z0-9_./@+()-])*$`)
	plainSpan  = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(h|ms|m|s|µs))+$`)
)

// reserved matches the words that some YAML parser does not read as text.
var reserved = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|y|n|null|nan|inf)$`)

func yamlKey(name string) string { return yamlText(name, plainWord) }

// yamlText formats a text, without quotes if it can only be read as a text.
func yamlText(text string, plain *regexp.Regexp) string {
	if len(text) < 200 && (plain.MatchString(text) && !reserved.MatchString(text) && !strings.Contains(text, ": ") || plainSpan.MatchString(text)) {
		return text
	}
	return strconv.Quote(text) // YAML has the same escapes as Go
}

// unprintable reports whether a character is written as an escape: it is invisible, or some parser reads it as a line
// break.
func unprintable(r rune) bool {
	return r == utf8.RuneError || r == '\u00a0' || r == '\ufeff' || !unicode.IsPrint(r)
}
