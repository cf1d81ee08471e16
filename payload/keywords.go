package payload

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/suggest"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// form says what stands under a keyword.
type form int

const (
	formOther  form = iota // nothing that is a schema
	formSchema             // a schema
	formList               // a list of schemas
	formMap                // schemas by name
	formEither             // a schema or a list of them
)

// keywords are those of the drafts 4 to 2020-12.
var keywords = map[string]form{
	"$schema": formOther, "$id": formOther, "id": formOther, "$anchor": formOther, "$dynamicAnchor": formOther, "$recursiveAnchor": formOther,
	"$ref": formOther, "$dynamicRef": formOther, "$recursiveRef": formOther, "$comment": formOther, "$vocabulary": formOther,
	"$defs": formMap, "definitions": formMap,

	"title": formOther, "description": formOther, "default": formOther, "examples": formOther,
	"deprecated": formOther, "readOnly": formOther, "writeOnly": formOther,

	"type": formOther, "enum": formOther, "const": formOther, "format": formOther,
	"multipleOf": formOther, "minimum": formOther, "maximum": formOther, "exclusiveMinimum": formOther, "exclusiveMaximum": formOther,
	"minLength": formOther, "maxLength": formOther, "pattern": formOther,
	"contentEncoding": formOther, "contentMediaType": formOther, "contentSchema": formSchema,

	"items": formEither, "prefixItems": formList, "additionalItems": formSchema, "unevaluatedItems": formSchema,
	"minItems": formOther, "maxItems": formOther, "uniqueItems": formOther,
	"contains": formSchema, "minContains": formOther, "maxContains": formOther,

	"properties": formMap, "patternProperties": formMap, "additionalProperties": formSchema, "unevaluatedProperties": formSchema,
	"propertyNames": formSchema, "required": formOther, "minProperties": formOther, "maxProperties": formOther,
	"dependentRequired": formOther, "dependentSchemas": formMap, "dependencies": formMap,

	"allOf": formList, "anyOf": formList, "oneOf": formList, "not": formSchema,
	"if": formSchema, "then": formSchema, "else": formSchema,
}

// enumMost bounds the values that each value is compared with.
const enumMost = 10_000

// refsMost bounds the references of a schema: some of them cost the compiler a
// walk over all that it has compiled so far.
const refsMost = 1_000

// survey is what a walk over a schema finds before it is compiled.
type survey struct {
	id        string            // of the whole schema
	schemas   map[string]any    // by their places, as pointers
	anchors   map[string]string // the places of those that have a name
	refs      []reference
	costliest int // the costliest enum
}

// reference is a $ref, and where it stands.
type reference struct {
	to string
	at place
}

// look refuses keywords that nobody knows: a limit that is misspelt is not kept,
// and nobody would notice. Names that begin with x- are left to others.
func (s *survey) look(schema any, at place) error {
	s.schemas[at.pointer()] = schema
	object, is := schema.(map[string]any)
	if !is {
		return nil
	}
	for _, word := range slices.Sorted(maps.Keys(object)) {
		form, known := keywords[word]
		if !known && !strings.HasPrefix(word, "x-") {
			return unknownKeyword(word, at)
		}
		if err := s.under(word, form, object[word], at.key(word)); err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) under(word string, form form, v any, at place) error {
	switch v := v.(type) {
	case string:
		return s.text(word, v, at)
	case map[string]any:
		if form == formMap {
			return s.named(v, at)
		}
	case []any:
		if word == "enum" && len(v) > enumMost {
			return rota.Invalidf(at.String(), "has %d values; at most %d are allowed", len(v), enumMost)
		}
		if word == "enum" {
			s.costliest = max(s.costliest, costOf(v))
		}
		if form == formList || form == formEither {
			return s.listed(v, at)
		}
	}
	if form == formSchema || form == formEither {
		return s.look(v, at)
	}
	return nil
}

// costOf is what it costs to compare a value with those of an enum: numbers are
// compared as fractions, which takes long.
func costOf(enum []any) int {
	cost := 0
	for _, v := range enum {
		if _, is := v.(json.Number); is {
			cost += 49
		}
		cost++
	}
	return cost
}

// text looks at the keywords that name a schema.
func (s *survey) text(word, v string, at place) error {
	switch word {
	case "$ref", "$dynamicRef", "$recursiveRef":
		s.refs = append(s.refs, reference{v, at})
	case "$anchor", "$dynamicAnchor":
		s.anchors[v] = at.parent.pointer()
	case "$schema":
		if draftOf(v) == nil {
			return &rota.Error{
				Code: rota.Invalid, Field: at.String(), Reason: show(v) + " is not a draft of JSON Schema",
				Hint: "leave it out, or write " + jsonschema.Draft2020.String(),
			}
		}
	case "$id", "id":
		if at.parent.parent != nil {
			return &rota.Error{
				Code: rota.Invalid, Field: at.String(), Reason: "stands inside a schema; only the whole may have one",
				Hint: "refer to #/$defs/NAME",
			}
		}
		s.id, _, _ = strings.Cut(v, "#")
	}
	return nil
}

func (s *survey) named(schemas map[string]any, at place) error {
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if err := s.look(schemas[name], at.key(name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) listed(schemas []any, at place) error {
	for i, one := range schemas {
		if err := s.look(one, at.item(i)); err != nil {
			return err
		}
	}
	return nil
}

// resolve refuses references that lead nowhere, or elsewhere.
func (s *survey) resolve() error {
	if len(s.refs) > refsMost {
		return rota.Invalidf("schema", "has %d references; at most %d are allowed", len(s.refs), refsMost)
	}
	for _, ref := range s.refs {
		document, fragment, _ := strings.Cut(ref.to, "#")
		pointer, err := url.PathUnescape(fragment)
		switch {
		case document != "" && document != s.id && draftOf(document) == nil:
			return &rota.Error{
				Code: rota.Invalid, Field: ref.at.String(), Reason: show(ref.to) + " is a schema elsewhere, and none is ever loaded",
				Hint: "put it under $defs and refer to #/$defs/NAME",
			}
		case err != nil:
			return &rota.Error{Code: rota.Invalid, Field: ref.at.String(), Reason: show(ref.to) + " cannot be read", Err: err}
		case document != "" && document != s.id:
		case !s.stands(pointer):
			return rota.Invalidf(ref.at.String(), "refers to %s, where there is no schema", show(ref.to))
		}
	}
	return nil
}

// stands says whether there is a schema at a place, or with a name.
func (s *survey) stands(fragment string) bool {
	_, placed := s.schemas[fragment]
	_, named := s.anchors[fragment]
	return placed || named
}

// leadsTo is the place of the schema that a reference which was resolved leads to,
// if it is one of this document.
func (s *survey) leadsTo(ref string) (pointer string, here bool) {
	document, fragment, _ := strings.Cut(ref, "#")
	if document != "" && document != s.id {
		return "", false
	}
	if pointer, _ = url.PathUnescape(fragment); pointer == "" {
		return "", true
	}
	if at, named := s.anchors[pointer]; named {
		return at, true
	}
	return pointer, true
}

// draftOf is the draft that a URL names.
func draftOf(name string) *jsonschema.Draft {
	name, _, _ = strings.Cut(name, "#")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "http://"), "https://")
	for _, draft := range drafts {
		if name == strings.TrimPrefix(strings.TrimPrefix(draft.String(), "http://"), "https://") {
			return draft
		}
	}
	return nil
}

var drafts = []*jsonschema.Draft{jsonschema.Draft4, jsonschema.Draft6, jsonschema.Draft7, jsonschema.Draft2019, jsonschema.Draft2020}

func unknownKeyword(word string, at place) error {
	err := rota.Invalidf(at.key(word).String(), "is not a keyword of JSON Schema")
	switch meant := suggest.Nearest(word, slices.Sorted(maps.Keys(keywords))); {
	case word == "nullable":
		err.Hint = `to allow null, write "type": ["string", "null"]`
	case word == "example":
		err.Hint = "it is called examples, and is a list"
	case meant != "":
		err.Hint = "did you mean " + meant + "?"
	default:
		err.Hint = "a note of your own begins with x-"
	}
	return err
}
