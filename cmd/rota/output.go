package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

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
		if text, err = yaml.JSONToYAML(text); err != nil {
			return err
		}
	}
	_, err := a.out.Write(text)
	return err
}

// writeTable aligns rows under their heads, without borders and without spaces at the end of a line, so that what
// people copy and scripts cut is the text alone.
func writeTable(w io.Writer, head []string, rows [][]string) error {
	rows = slices.Insert(slices.Clone(rows), 0, head)
	widths := make([]int, len(head))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
