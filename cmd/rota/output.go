package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

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

// String, Set and Type make format a flag that refuses other words itself.
func (f *format) String() string { return string(*f) }

func (f *format) Set(text string) error {
	if !slices.Contains(formatNames, text) {
		return fmt.Errorf("allowed are %s", strings.Join(formatNames, ", "))
	}
	*f = format(text)
	return nil
}

func (f *format) Type() string { return "FORMAT" }

// print writes a value as --output asks. The value's JSON form is the one truth: YAML is made from it, and only the
// table, which is for people, is written by the command itself.
func (a *app) print(value any, table func(w io.Writer) error) error {
	if a.output == formatTable {
		return table(a.out)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	text := b.Bytes()
	if a.output == formatYAML {
		var err error
		if text, err = asYAML(text); err != nil {
			return err
		}
	}
	_, err := a.out.Write(text)
	return err
}

// asYAML is JSON in other clothes, its fields in their order. Controls stay escaped, as JSON has them.
func asYAML(text []byte) ([]byte, error) {
	var value any
	if err := yaml.UnmarshalWithOptions(text, &value, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	return yaml.MarshalWithOptions(value, yaml.CustomMarshaler[string](func(s string) ([]byte, error) {
		if strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			return []byte(strconv.Quote(s)), nil
		}
		return yaml.Marshal(s)
	}))
}

// say tells a person what was done, in one sentence; scripts get the server's answer.
func (a *app) say(answer json.RawMessage, format string, args ...any) error {
	return a.print(answer, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\n", plainText(fmt.Sprintf(format, args...)))
		return err
	})
}
