package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
)

// paramFlags holds the params of a job: a JSON document, and single fields that override it.
type paramFlags struct {
	document string
	fields   []string
}

func (p *paramFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.document, "params", "", "params as a `JSON` object, @FILE, or - for standard input")
	cmd.Flags().StringArrayVarP(&p.fields, "param", "p", nil, "one param as `KEY=VALUE`, which overrides --params; VALUE is JSON, or text if it is not valid JSON (repeatable)")
}

func (p *paramFlags) given() bool { return p.document != "" || len(p.fields) > 0 }

// read merges the params. It returns nil if no params were given.
func (p *paramFlags) read(a *app) (json.RawMessage, error) {
	if !p.given() {
		return nil, nil
	}
	document, err := a.document("--params", p.document)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	for _, field := range p.fields {
		key, value, found := strings.Cut(field, "=")
		if !found || key == "" {
			return nil, usagef("write it like -p month=2026-11", "-p %s is not of the form KEY=VALUE", shortened(field))
		}
		if _, twice := fields[key]; twice {
			return nil, usagef("remove one of them", "-p %s is given twice", shortened(key))
		}
		if !utf8.ValidString(field) {
			return nil, usagef("write the value in UTF-8, or encode bytes, for example in base64", "-p %s is not valid UTF-8", shortened(strconv.Quote(field)))
		}
		fields[key] = jsonOrText(value)
	}
	if len(fields) == 0 {
		return document, nil
	}
	return rota.MergeParams(document, rota.EncodeSpec(fields)), nil
}

// jsonOrText reads a value as JSON, so that numbers stay numbers. A value that is not valid JSON is a text.
func jsonOrText(value string) json.RawMessage {
	if json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	return rota.EncodeSpec(value)
}

// document reads the JSON object of a flag: the object itself, @FILE, or - for standard input.
func (a *app) document(flag, text string) (json.RawMessage, error) {
	source, err := a.content(text)
	if err != nil || text == "" {
		return nil, err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(source, &object); err != nil || object == nil {
		return nil, badJSON(flag, err)
	}
	var refusal *rota.Error
	if errors.As(rota.CheckParams(source), &refusal) && refusal.Field != "params" { // a member: it could be lost when params are merged
		return nil, usagef("correct that member", "%s: %s %s", flag, refusal.Field, refusal.Reason)
	}
	return json.RawMessage(source), nil
}

func badJSON(flag string, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return usagef(`write a JSON object in quotes, such as '{"to": "ada"}'`, "%s is not valid JSON: %w, at byte %d", flag, err, syntax.Offset)
	case err != nil:
		return usagef(`write a JSON object, such as '{"to": "ada"}'`, "%s is not a JSON object", flag)
	}
	return usagef(`write a JSON object, such as '{"to": "ada"}', or {} for an empty one`, "%s is null, not a JSON object", flag)
}

// contentMax is the most that is read from a file or standard input. It is more than a server accepts.
const contentMax = 64 << 20

// content returns the content that an argument names: a file for @FILE, standard input for -, or else the argument
// itself.
func (a *app) content(text string) ([]byte, error) {
	name, isFile := strings.CutPrefix(text, "@")
	switch {
	case text == "-":
		return readAtMost(a.in, "standard input")
	case !isFile:
		return []byte(text), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, usagef("check the path", "%s", openError(err))
	}
	defer file.Close()
	return readAtMost(file, name)
}

func readAtMost(r io.Reader, name string) ([]byte, error) {
	source, err := io.ReadAll(io.LimitReader(r, contentMax+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	case len(source) > contentMax:
		return nil, usagef("use a smaller file", "%s is larger than %s", name, byteSize(contentMax))
	}
	return source, nil
}

// openError formats the error of opening a file without the name of the system call.
func openError(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Path + ": " + path.Err.Error()
	}
	return err.Error()
}
