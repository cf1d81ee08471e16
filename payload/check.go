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

// Problem is one field of the params that is wrong.
type Problem struct {
	Field  string `json:"field"`  // such as params.items[2].to
	Reason string `json:"reason"` // in plain words; long values are not repeated
}

// Problems is all that is wrong with some params, by field. It is the cause of
// the error that Check returns.
type Problems []Problem

// problemsMost bounds the problems that are told at once.
const problemsMost = 20

// Error names the problems but the first, which the error around it tells.
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

// ofSchema is the error about a schema, which has no schema of a type to see.
func (p Problems) ofSchema() *rota.Error {
	if len(p) > 1 {
		return p.asError()
	}
	return rota.Invalidf(p[0].Field, "%s", p[0].Reason)
}

// Check holds params to the schema; none at all are an empty object. The error
// is a *rota.Error with the code Invalid that names the first bad field. Where
// the schema refuses them, its cause is the Problems, all of them; params that
// are no JSON object at all have no such cause, nor have those that cannot be
// checked, for which the field is type: nobody knows whether they are wrong.
func (c *Compiled) Check(params json.RawMessage) error {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	if c.plain.passes(params) {
		return nil
	}
	return c.checkAll(params)
}

// checkAll is the check by the validator, which knows all of JSON Schema.
func (c *Compiled) checkAll(params json.RawMessage) error {
	doc, err := read("params", params, depthMost)
	if err != nil {
		return err
	}
	if _, is := doc.value.(map[string]any); !is {
		return rota.Invalidf("params", "is %s; params are an object", kindOf(doc.value))
	}
	if doc.nodes*c.costliest > comparisonsMost {
		return rota.Invalidf("type", "has a schema that cannot be checked: the params have %d values, too many to compare with its longest enum", doc.nodes)
	}
	p, err := c.program()
	if err != nil {
		return rota.Errorf(rota.Internal, "check params", "the schema was compiled once, and now: %w", err)
	}
	p.purse.fill(doc)
	err = p.validate(doc.value)
	var validation *jsonschema.ValidationError
	switch {
	case err == nil:
	case errors.As(err, &validation):
		err = problemsOf(reader{root: "params", value: doc.value, schema: c.schema}, validation).asError()
	default:
		return err // the program stopped halfway, and is not used again
	}
	c.programs.Put(p)
	return err
}

// comparisonsMost bounds what it costs to compare all values with an enum.
const comparisonsMost = 50_000_000

// validate runs the validator, which leaves by panic when the purse is empty.
func (p *program) validate(v any) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case broke:
			err = rota.Invalidf("type", "has a schema that cannot be checked: it asks for too much work with these params")
		default:
			err = rota.Errorf(rota.Internal, "check params", "the validator gave up: %v", r)
		}
	}()
	return p.schema.Validate(v)
}

// problemsOf puts what a validator found into words, one problem for each field,
// in the order of their paths.
func problemsOf(r reader, err *jsonschema.ValidationError) Problems {
	r.found = new(int)
	found := r.read(err)
	slices.SortStableFunc(found, func(a, b Problem) int { return comparePaths(a.Field, b.Field) })
	found = slices.CompactFunc(found, func(a, b Problem) bool { return a.Field == b.Field })
	if len(found) == 0 {
		found = Problems{{r.root, "is not what its schema asks for"}}
	}
	return found[:min(len(found), problemsMost)]
}

// kindOf names the kind of a JSON value.
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
