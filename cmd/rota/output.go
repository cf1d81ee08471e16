package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// format is the value of --output.
type format string

const (
	formatTable format = "table"
	formatJSON  format = "json"
	formatYAML  format = "yaml"
)

var formatNames = []string{string(formatTable), string(formatJSON), string(formatYAML)}

// String, Set and Type implement pflag.Value. Set refuses unknown formats.
func (f *format) String() string { return string(*f) }

func (f *format) Set(text string) error {
	if !slices.Contains(formatNames, text) {
		return errors.New("use table, json or yaml")
	}
	*f = format(text)
	return nil
}

func (f *format) Type() string { return "FORMAT" }

// print writes a value in the format of --output. YAML is converted from the value's JSON form, so that both have the
// same content. The command itself writes the table.
func (a *app) print(value any, table func(w io.Writer)) error {
	var text []byte
	var err error
	switch a.output {
	case formatTable:
		var b bytes.Buffer
		table(&b)
		text = b.Bytes()
	case formatYAML:
		if text, err = encode(value, ""); err == nil {
			text, err = asYAML(text)
		}
	default:
		text, err = encode(value, "  ")
	}
	if err == nil {
		_, err = a.out.Write(text)
	}
	return err
}

// encode writes JSON without the HTML escapes of encoding/json, so that < and & stay readable.
func encode(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(value)
	return escapeControls(b.Bytes()), err
}

// escapeControls escapes the unsafe characters that JSON permits unescaped. All are below U+10000.
func escapeControls(text []byte) []byte {
	unsafe := func(r rune) bool { return r >= 0x7f && isUnsafe(r) } // below are the line ends between values
	if !bytes.ContainsFunc(text, unsafe) {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		if unsafe(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// asYAML converts JSON to YAML and keeps the order of fields. Unsafe characters stay escaped.
func asYAML(text []byte) ([]byte, error) {
	var value any
	if err := yaml.UnmarshalWithOptions(text, &value, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	return yaml.MarshalWithOptions(value, yaml.CustomMarshaler[string](func(s string) ([]byte, error) {
		if strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && isUnsafe(r) }) {
			return []byte(strconv.Quote(s)), nil
		}
		return yaml.Marshal(s)
	}))
}

// printMessage prints one sentence as the table format, and the server's answer as JSON or YAML.
func (a *app) printMessage(answer any, format string, args ...any) error {
	return a.print(answer, func(w io.Writer) { fmt.Fprintln(w, sanitize(fmt.Sprintf(format, args...))) })
}
