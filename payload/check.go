package payload

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Problem is one invalid field of the params.
type Problem struct {
	Field  string `json:"field"`  // such as params.items[2].to
	Reason string `json:"reason"` // does not repeat long values
}

// Problems are all invalid fields of some params, ordered by path. They are the
// cause of the error that Check returns.
type Problems []Problem

// problemsMax bounds the problems of one error.
const problemsMax = 20

// Error lists all problems except the first, which the enclosing error reports.
func (p Problems) Error() string {
	if len(p) < 2 {
		return "see the schema of its type"
	}
	rest := make([]string, len(p)-1)
	for i, one := range p[1:] {
		rest[i] = one.Field + ": " + one.Reason
	}
	return "and " + strings.Join(rest, "; ")
}

func (p Problems) asError() *rota.Error {
	return &rota.Error{Code: rota.Invalid, Field: p[0].Field, Reason: p[0].Reason, Err: p}
}

// asSchemaError is the error about a schema. Unlike asError it does not refer to the schema of a type.
func (p Problems) asSchemaError() *rota.Error {
	if len(p) > 1 {
		return p.asError()
	}
	return rota.Invalidf(p[0].Field, "%s", p[0].Reason)
}

// Check checks params against the schema. Empty params count as an empty object.
// The error is a *rota.Error with the code Invalid that names the first invalid
// field. If the params violate the schema, the cause of the error is a Problems
// with all violations. Params that are not a JSON object have no such cause.
// Neither have params that cannot be checked, for which the field is "type":
// whether they are valid is unknown.
func (c *Compiled) Check(params json.RawMessage) error {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	if c.fastPath.accepts(params) {
		return nil
	}
	return c.fullCheck(params)
}

// fullCheck checks with the validator, which implements all of JSON Schema.
func (c *Compiled) fullCheck(params json.RawMessage) error {
	doc, err := parseDocument("params", params, depthMax)
	if err != nil {
		return err
	}
	if _, is := doc.value.(map[string]any); !is {
		return rota.Invalidf("params", "is %s; params are an object", kindOf(doc.value))
	}
	if doc.nodes*c.costliestEnum > comparisonsMax {
		return rota.Invalidf("type", "has a schema that cannot be checked: the params have %d values, too many to compare with its longest enum", doc.nodes)
	}
	p, err := c.program()
	if err != nil {
		return rota.Errorf(rota.Internal, "check params", "compiling the schema again failed: %w", err)
	}
	p.budget.reset(doc)
	err = p.validate(doc.value)
	var validation *jsonschema.ValidationError
	switch {
	case err == nil:
	case errors.As(err, &validation):
		err = problemsOf(errorFormatter{root: "params", value: doc.value, schema: c.schema}, validation).asError()
	default:
		return err // the program was aborted and is not reused
	}
	c.programs.Put(p)
	return err
}

// comparisonsMax bounds the comparisons of all values with an enum.
const comparisonsMax = 50_000_000

// validate runs the validator, which panics when the budget is exceeded.
func (p *program) validate(v any) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case budgetExceeded:
			err = rota.Invalidf("type", "has a schema that cannot be checked: it takes too many steps for these params")
		default:
			err = rota.Errorf(rota.Internal, "check params", "the validator panicked: %v", r)
		}
	}()
	return p.schema.Validate(v)
}

// problemsOf converts the errors of a validator to one problem for each field,
// ordered by path.
func problemsOf(r errorFormatter, err *jsonschema.ValidationError) Problems {
	r.errorCount = new(int)
	found := r.problems(err)
	slices.SortStableFunc(found, func(a, b Problem) int { return comparePaths(a.Field, b.Field) })
	found = slices.CompactFunc(found, func(a, b Problem) bool { return a.Field == b.Field })
	if len(found) == 0 {
		found = Problems{{r.root, "does not match its schema"}}
	}
	return found[:min(len(found), problemsMax)]
}

// kindOf names the kind of a JSON value in messages.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case json.Number:
		return "a number"
	case string:
		return "text"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}
