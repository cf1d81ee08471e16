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

// reader puts what a validator says into words.
type reader struct {
	root   string // what the value is called: params
	value  any    // that was checked
	schema any    // that it was held to
	found  *int   // errors read so far
}

// readMost bounds the errors that are put into words: a long list may have one
// for each of its entries.
const readMost = 1_000

// read reads one error with its causes.
func (r reader) read(e *jsonschema.ValidationError) Problems {
	if *r.found++; *r.found > readMost {
		return nil
	}
	at := pathOf(r.root, r.value, e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case nil:
		return nil
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf, *kind.ContentSchema:
		return r.all(e.Causes)
	case *kind.AnyOf:
		return r.nearest(at, e)
	case *kind.OneOf:
		if k.Subschemas != nil {
			return Problems{{at, "fits more than one of the forms that are allowed here; it must fit one"}}
		}
		return r.nearest(at, e)
	case *kind.Required:
		return r.each(e, k.Missing, func(string) string { return "is missing" })
	case *kind.DependentRequired:
		return r.each(e, k.Missing, func(string) string { return "is missing; it goes with " + shown(k.Prop) })
	case *kind.Dependency:
		return r.each(e, k.Missing, func(string) string { return "is missing; it goes with " + shown(k.Prop) })
	case *kind.AdditionalProperties:
		known := r.properties(e.SchemaURL)
		return r.each(e, k.Properties, func(name string) string { return r.unknown(at, name, known) })
	case *kind.PropertyNames:
		return Problems{{r.keyed(k.Property), "is not allowed as a name here" + because(r.all(e.Causes))}}
	}
	return Problems{{at, r.words(e)}}
}

func (r reader) all(errs []*jsonschema.ValidationError) (found Problems) {
	for _, e := range errs {
		found = append(found, r.read(e)...)
	}
	return found
}

// each makes a problem of each field below the value.
func (r reader) each(e *jsonschema.ValidationError, names []string, reason func(string) string) (found Problems) {
	at := pathOf(r.root, r.value, e.InstanceLocation)
	for _, name := range names {
		found = append(found, Problem{at + keyStep(name), reason(name)})
	}
	return found
}

// keyed is the path of a key, of which the validator does not say where it is:
// the first of its name.
func (r reader) keyed(key string) string {
	tokens, _ := findKey(r.value, key)
	return pathOf(r.root, r.value, tokens)
}

// properties are the fields that the schema at a URL knows.
func (r reader) properties(target string) []string {
	schema, _ := valueAt(r.schema, tokensOf(target)).(map[string]any)
	known, _ := schema["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(known))
}

func (r reader) unknown(at, name string, known []string) string {
	switch meant := suggest.Nearest(name, known); {
	case meant != "":
		return "is not a field of this type; did you mean " + at + keyStep(meant) + "?"
	case len(known) == 0:
		return "is not allowed as a name here"
	case len(known) <= 8:
		return "is not a field of this type; it has " + shownList(known)
	}
	return "is not a field of this type"
}

func shownList(names []string) string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = shown(name)
	}
	return strings.Join(short, ", ")
}

func because(causes Problems) string {
	if len(causes) == 0 {
		return ""
	}
	return ": it " + causes[0].Reason
}

// words says what is wrong with one value.
func (r reader) words(e *jsonschema.ValidationError) string {
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
		return "does not match the pattern " + shown(k.Want)
	case *kind.ContentEncoding:
		return "is not " + shown(k.Want) + " text"
	case *kind.ContentMediaType:
		return "does not hold " + shown(k.Want)
	case *kind.Minimum, *kind.Maximum, *kind.ExclusiveMinimum, *kind.ExclusiveMaximum, *kind.MultipleOf:
		return "is " + numberText(value) + "; " + bound(e.ErrorKind)
	case *kind.FalseSchema:
		return "is not allowed here"
	case *kind.Not:
		return "is what the schema forbids here"
	case *kind.RefCycle:
		return "cannot be checked: its schema refers to itself without end"
	}
	return count(e.ErrorKind)
}

// count is about how many there are of something.
func count(k jsonschema.ErrorKind) string {
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
		return "has no entry of the form that is wanted"
	case *kind.MinContains:
		return fmt.Sprintf("has %s of the form that is wanted; at least %d", plural(len(k.Got), "entry"), k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("has %s of one form; at most %d are allowed", plural(len(k.Got), "entry"), k.Want)
	}
	return "is not what its schema asks for"
}

func tooFew(got int, what string, want int) string {
	return fmt.Sprintf("has %s; at least %d %s wanted", plural(got, what), want, areOrIs(want))
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

func bound(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "at least " + ratText(k.Want) + " is wanted"
	case *kind.Maximum:
		return "at most " + ratText(k.Want) + " is allowed"
	case *kind.ExclusiveMinimum:
		return "more than " + ratText(k.Want) + " is wanted"
	case *kind.ExclusiveMaximum:
		return "less than " + ratText(k.Want) + " is wanted"
	case *kind.MultipleOf:
		return "a multiple of " + ratText(k.Want) + " is wanted"
	}
	return ""
}

func ratText(r *big.Rat) string {
	if r.IsInt() {
		return shown(r.Num().String())
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// brief is a value as JSON, if it is short.
func brief(v any) string {
	switch v := v.(type) {
	case string:
		return show(v)
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

// briefList lists the first values.
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

// numberText is a number as it was written.
func numberText(v any) string {
	n, _ := v.(json.Number)
	return shown(n.String())
}
