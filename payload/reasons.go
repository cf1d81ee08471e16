package payload

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/internal/suggest"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// errorFormatter converts the errors of the validator to problems.
type errorFormatter struct {
	root       string // name of the value: params or schema
	value      any    // value that was checked
	schema     any    // schema that it was checked against
	errorCount *int   // errors converted so far
}

// errorsMax bounds the errors that are converted: a long list may have one for each
// of its entries.
const errorsMax = 1_000

// problems converts one error with its causes.
func (r errorFormatter) problems(e *jsonschema.ValidationError) Problems {
	if *r.errorCount++; *r.errorCount > errorsMax {
		return nil
	}
	at := pathOf(r.root, r.value, e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case nil:
		return nil
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf, *kind.ContentSchema:
		return r.allProblems(e.Causes)
	case *kind.AnyOf:
		return r.closestForm(at, e)
	case *kind.OneOf:
		if k.Subschemas != nil {
			return Problems{{at, "matches more than one of the alternatives; it must match exactly one"}}
		}
		return r.closestForm(at, e)
	case *kind.Required:
		return r.problemPerName(e, k.Missing, func(string) string { return "is missing" })
	case *kind.DependentRequired:
		return r.problemPerName(e, k.Missing, func(string) string { return "is missing; it is required together with " + truncated(k.Prop) })
	case *kind.Dependency:
		return r.problemPerName(e, k.Missing, func(string) string { return "is missing; it is required together with " + truncated(k.Prop) })
	case *kind.AdditionalProperties:
		known := r.knownProperties(e.SchemaURL)
		return r.problemPerName(e, k.Properties, func(name string) string { return r.unknownProperty(at, name, known) })
	case *kind.PropertyNames:
		return Problems{{r.pathOfKey(k.Property), "is not allowed as a name here" + because(r.allProblems(e.Causes))}}
	}
	return Problems{{at, r.reason(e)}}
}

func (r errorFormatter) allProblems(errs []*jsonschema.ValidationError) (found Problems) {
	for _, e := range errs {
		found = append(found, r.problems(e)...)
	}
	return found
}

// problemPerName returns one problem for each named field of the value.
func (r errorFormatter) problemPerName(e *jsonschema.ValidationError, names []string, reason func(string) string) (found Problems) {
	at := pathOf(r.root, r.value, e.InstanceLocation)
	for _, name := range names {
		found = append(found, Problem{at + keyStep(name), reason(name)})
	}
	return found
}

// pathOfKey is the path of the first key of a name. The validator does not report
// the path.
func (r errorFormatter) pathOfKey(key string) string {
	tokens, _ := findKey(r.value, key)
	return pathOf(r.root, r.value, tokens)
}

// knownProperties are the fields of the schema at a URL.
func (r errorFormatter) knownProperties(target string) []string {
	schema, _ := valueAt(r.schema, tokensOf(target)).(map[string]any)
	known, _ := schema["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(known))
}

func (r errorFormatter) unknownProperty(at, name string, known []string) string {
	switch meant := suggest.Nearest(name, known); {
	case meant != "":
		return "is not a field of this type; did you mean " + at + keyStep(meant) + "?"
	case len(known) == 0:
		return "is not allowed as a name here"
	case len(known) <= 8:
		return "is not a field of this type; it has " + joinTruncated(known)
	}
	return "is not a field of this type"
}

func joinTruncated(names []string) string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = truncated(name)
	}
	return strings.Join(short, ", ")
}

func because(causes Problems) string {
	if len(causes) == 0 {
		return ""
	}
	return ": it " + causes[0].Reason
}

// reason describes the problem of one value.
func (r errorFormatter) reason(e *jsonschema.ValidationError) string {
	value := valueAt(r.value, e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return wrongType(value, k.Want)
	case *kind.Enum:
		return "is " + brief(value) + "; allowed are " + briefList(k.Want)
	case *kind.Const:
		return "must be " + brief(k.Want)
	case *kind.Format:
		return wrongFormat(k)
	case *kind.Pattern:
		return "does not match the pattern " + truncated(k.Want)
	case *kind.ContentEncoding:
		return "is not " + truncated(k.Want) + " text"
	case *kind.ContentMediaType:
		return "does not hold " + truncated(k.Want)
	case *kind.Minimum, *kind.Maximum, *kind.ExclusiveMinimum, *kind.ExclusiveMaximum, *kind.MultipleOf:
		return "is " + numberText(value) + "; " + boundReason(e.ErrorKind)
	case *kind.FalseSchema:
		return "is not allowed here"
	case *kind.Not:
		return "is what the schema forbids here"
	case *kind.RefCycle:
		return "cannot be checked: its schema refers to itself for the same value"
	}
	return countReason(e.ErrorKind)
}

// countReason describes a wrong length or number of entries.
func countReason(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		if k.Got == 0 {
			return "is empty"
		}
		return tooFew(k.Got, "character", k.Want)
	case *kind.MaxLength:
		return tooMany(k.Got, "character", k.Want)
	case *kind.MinItems:
		return tooFew(k.Got, "entry", k.Want)
	case *kind.MaxItems:
		return tooMany(k.Got, "entry", k.Want)
	case *kind.MinProperties:
		return tooFew(k.Got, "field", k.Want)
	case *kind.MaxProperties:
		return tooMany(k.Got, "field", k.Want)
	case *kind.AdditionalItems:
		return "has " + plural(k.Count, "entry") + " too many"
	case *kind.UniqueItems:
		return fmt.Sprintf("has the same entry twice, at [%d] and [%d]", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "has no entry of the required form"
	case *kind.MinContains:
		return fmt.Sprintf("has %s of the required form; at least %d", plural(len(k.Got), "entry"), k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("has %s of one form; at most %d are allowed", plural(len(k.Got), "entry"), k.Want)
	}
	return "does not match its schema"
}

func tooFew(got int, what string, want int) string {
	return fmt.Sprintf("has %s; at least %d %s required", plural(got, what), want, areOrIs(want))
}

func tooMany(got int, what string, want int) string {
	return fmt.Sprintf("has %s; at most %d %s allowed", plural(got, what), want, areOrIs(want))
}

func areOrIs(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "y"):
		what = strings.TrimSuffix(what, "y") + "ie"
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func boundReason(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "at least " + ratText(k.Want) + " is required"
	case *kind.Maximum:
		return "at most " + ratText(k.Want) + " is allowed"
	case *kind.ExclusiveMinimum:
		return "more than " + ratText(k.Want) + " is required"
	case *kind.ExclusiveMaximum:
		return "less than " + ratText(k.Want) + " is required"
	case *kind.MultipleOf:
		return "a multiple of " + ratText(k.Want) + " is required"
	}
	return ""
}

func ratText(r *big.Rat) string {
	if r.IsInt() {
		return truncated(r.Num().String())
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// brief formats a value for a message: short values as JSON, others by kind.
func brief(v any) string {
	switch v := v.(type) {
	case string:
		return quoteTruncated(v)
	case json.Number:
		return numberText(v)
	case nil, bool:
		return fmt.Sprint(nullOr(v))
	}
	return kindOf(v)
}

func nullOr(v any) any {
	if v == nil {
		return "null"
	}
	return v
}

// briefList formats the first values.
func briefList(values []any) string {
	const most = 10
	var listed []string
	for _, v := range values[:min(len(values), most)] {
		listed = append(listed, brief(v))
	}
	if len(values) > most {
		listed = append(listed, fmt.Sprintf("and %d others", len(values)-most))
	}
	return strings.Join(listed, ", ")
}

// numberText is a number as in the input.
func numberText(v any) string {
	n, _ := v.(json.Number)
	return truncated(n.String())
}
