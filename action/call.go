package action

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
)

// Call is a call of a procedure of a target, or of a handler of this server.
type Call struct {
	Procedure string            `json:"procedure" jsonschema:"minLength=1,maxLength=256,description=its name\\, with its schema if it has one; without a target: the type of a handler of this server"`
	Args      []json.RawMessage `json:"args,omitempty" jsonschema:"maxItems=100,description=texts\\, numbers\\, true\\, false and null\\, in order; for a handler one object\\, which is its params"`
	Target    string            `json:"target,omitempty" jsonschema:"maxLength=64,description=the database\\, by its name in the configuration; default: a handler of this server"`
	RunAs     string            `json:"run_as,omitempty" jsonschema:"maxLength=128,description=the role to run as"`
}

// JobType names the type.
func (Call) JobType() string { return "call" }

func (r *runner) call(ctx context.Context, p Call) error {
	if strings.ContainsRune(p.Procedure, 0) {
		return permanentFailure(codeParams, "procedure: it contains a NUL character; remove it")
	}
	if p.Target == "" {
		return r.handler(ctx, p)
	}
	return r.run(ctx, p.Target, p.RunAs, &work{call: &p})
}

// notCalled are the built-in types that a call cannot name: the rights to create their jobs are not those of a call.
var notCalled = []string{Exec{}.JobType(), SQL{}.JobType(), HTTP{}.JobType()}

// handler runs a handler of this server in place of a procedure.
func (r *runner) handler(ctx context.Context, p Call) error {
	if slices.Contains(notCalled, p.Procedure) || rota.InternalType(p.Procedure) {
		return permanentFailure(codeTarget, "call does not run the built-in type %s, which has rights of its own: create a job of type %s instead", p.Procedure, p.Procedure)
	}
	if _, known := r.reg.Spec(p.Procedure); !known || p.Procedure == p.JobType() {
		return permanentFailure(codeTarget, "there is no handler %.64q: name a target if it is a procedure of a database, "+
			"or register a handler of that type in this server", p.Procedure)
	}
	if p.RunAs != "" {
		return permanentFailure(codeRole, "run_as %.64q is refused: a handler of this server runs as the server; name a target, or leave run_as out", p.RunAs)
	}
	params := json.RawMessage("{}")
	switch {
	case len(p.Args) == 1 && bytes.HasPrefix(bytes.TrimSpace(p.Args[0]), []byte("{")):
		params = p.Args[0]
	case len(p.Args) > 0:
		return permanentFailure(codeParams, "args: the handler %s takes one object, which is its params, or nothing", p.Procedure)
	}
	return r.reg.Within(ctx, p.Procedure, params)
}

// texts are the arguments as text, nil for null. The database converts them to the
// types of the parameters.
func (p *Call) texts() ([][]byte, error) {
	texts := make([][]byte, len(p.Args))
	for i, arg := range p.Args {
		arg = bytes.TrimSpace(arg)
		switch {
		case len(arg) == 0, arg[0] == '{', arg[0] == '[':
			return nil, permanentFailure(codeParams, "args: number %d is not a text, a number, true, false or null; write it as a text of JSON if the procedure reads that", i+1)
		case string(arg) == "null":
		case arg[0] == '"':
			var text string
			if err := json.Unmarshal(arg, &text); err != nil {
				return nil, permanentFailure(codeParams, "args: number %d is not a text: %w", i+1, err)
			}
			texts[i] = []byte(text)
		default:
			texts[i] = arg
		}
	}
	return texts, nil
}

// routine is the name of a procedure.
type routine struct{ schema, name string }

// parseName reads a name as SQL does: a quoted part is kept as it is, and
// PostgreSQL converts an unquoted one to lower case.
func parseName(text string, quote byte) (routine, error) {
	var parts []string
	for rest := strings.TrimSpace(text); ; {
		part, after, ok := namePart(rest, quote)
		if !ok {
			break
		}
		parts = append(parts, part)
		if after == "" {
			switch len(parts) {
			case 1:
				return routine{name: parts[0]}, nil
			case 2:
				return routine{parts[0], parts[1]}, nil
			}
			break
		}
		if rest, ok = strings.CutPrefix(after, "."); !ok {
			break
		}
	}
	return routine{}, permanentFailure(codeParams, "procedure: %.64q is not a name; write one such as refresh or reports.refresh, without parentheses", text)
}

// namePart reads one part of a name and returns it and the rest.
func namePart(text string, quote byte) (part, rest string, ok bool) {
	if text == "" {
		return "", "", false
	}
	if text[0] == quote {
		s := &scanner{kind: dialectSQLite, text: text}
		s.quoted(quote, false)
		inside := text[1:max(1, s.at-1)]
		closed := s.at > 2 && text[s.at-1] == quote
		return strings.ReplaceAll(inside, string([]byte{quote, quote}), string(quote)), text[s.at:], closed
	}
	s := &scanner{kind: dialectPostgres, text: text}
	if !isWordStart(text[0]) {
		return "", "", false
	}
	s.word()
	part = text[:s.at]
	if quote == '"' {
		part = strings.ToLower(part)
	}
	return part, text[s.at:], true
}

func (n routine) quoted(quote byte) string {
	q := string(quote)
	one := func(name string) string { return q + strings.ReplaceAll(name, q, q+q) + q }
	if n.schema == "" {
		return one(n.name)
	}
	return one(n.schema) + "." + one(n.name)
}
