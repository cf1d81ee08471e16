package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
)

// paramFlags is the params of a job as the command line has them: a document, and single fields over it.
type paramFlags struct {
	document string
	fields   []string
}

func (p *paramFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.document, "params", "", "params as `JSON`, @FILE, or - for standard input")
	cmd.Flags().StringArrayVarP(&p.fields, "param", "p", nil, "one param as `KEY=VALUE`, over --params; VALUE is JSON, or else text (repeatable)")
	completeFrom(cmd, "param", nil)
}

func (p *paramFlags) given() bool { return p.document != "" || len(p.fields) > 0 }

// read puts the params together. It returns nothing if none were given.
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
			return nil, usagef("write -p key=value", "-p %s is not a key and a value", shortened(field))
		}
		fields[key] = jsonOrText(value)
	}
	if len(fields) == 0 {
		return document, nil
	}
	return rota.MergeParams(document, rota.EncodeSpec(fields)), nil
}

// jsonOrText reads a value as JSON, so that numbers are numbers; whatever is no JSON is a text.
func jsonOrText(value string) json.RawMessage {
	if json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	return rota.EncodeSpec(value)
}

// document reads the JSON object that a flag holds or names.
func (a *app) document(flag, text string) (json.RawMessage, error) {
	source, err := a.content(text)
	if err != nil || text == "" {
		return nil, err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(source, &object); err != nil || object == nil {
		return nil, badJSON(flag, err)
	}
	return json.RawMessage(source), nil
}

func badJSON(flag string, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return usagef(`write an object in quotes, such as '{"to": "ada"}'`, "%s: this is not JSON: %w, at byte %d", flag, err, syntax.Offset)
	case err != nil:
		return usagef(`write an object, such as '{"to": "ada"}'`, "%s: this is not a JSON object", flag)
	}
	return usagef(`write an object, such as '{"to": "ada"}'; {} is the empty one`, "%s: this is null", flag)
}

// contentMax is more than the largest thing that a server takes.
const contentMax = 64 << 20

// content is what a flag holds: its text, a file's with an @ before it, or standard input's for a -.
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
		return nil, usagef("see that the path is right", "%s", openError(err))
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
		return nil, usagef("", "%s has more than %s", name, byteSize(contentMax))
	}
	return source, nil
}

// openError says why a file cannot be opened, without the name of the system call.
func openError(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Path + ": " + path.Err.Error()
	}
	return err.Error()
}
