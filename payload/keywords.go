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

// keywordValue is the kind of value that a keyword has.
type keywordValue int

const (
	valueOther        keywordValue = iota // not a schema
	valueSchema                           // a schema
	valueSchemaList                       // a list of schemas
	valueSchemaMap                        // schemas by name
	valueSchemaOrList                     // a schema or a list of them
)

// keywords are the keywords of the drafts 4 to 2020-12.
var keywords = map[string]keywordValue{
	"$schema": valueOther, "$id": valueOther, "id": valueOther, "$anchor": valueOther, "$dynamicAnchor": valueOther, "$recursiveAnchor": valueOther,
	"$ref": valueOther, "$dynamicRef": valueOther, "$recursiveRef": valueOther, "$comment": valueOther, "$vocabulary": valueOther,
	"$defs": valueSchemaMap, "definitions": valueSchemaMap,

	"title": valueOther, "description": valueOther, "default": valueOther, "examples": valueOther,
	"deprecated": valueOther, "readOnly": valueOther, "writeOnly": valueOther,

	"type": valueOther, "enum": valueOther, "const": valueOther, "format": valueOther,
	"multipleOf": valueOther, "minimum": valueOther, "maximum": valueOther, "exclusiveMinimum": valueOther, "exclusiveMaximum": valueOther,
	"minLength": valueOther, "maxLength": valueOther, "pattern": valueOther,
	"contentEncoding": valueOther, "contentMediaType": valueOther, "contentSchema": valueSchema,

	"items": valueSchemaOrList, "prefixItems": valueSchemaList, "additionalItems": valueSchema, "unevaluatedItems": valueSchema,
	"minItems": valueOther, "maxItems": valueOther, "uniqueItems": valueOther,
	"contains": valueSchema, "minContains": valueOther, "maxContains": valueOther,

	"properties": valueSchemaMap, "patternProperties": valueSchemaMap, "additionalProperties": valueSchema, "unevaluatedProperties": valueSchema,
	"propertyNames": valueSchema, "required": valueOther, "minProperties": valueOther, "maxProperties": valueOther,
	"dependentRequired": valueOther, "dependentSchemas": valueSchemaMap, "dependencies": valueSchemaMap,

	"allOf": valueSchemaList, "anyOf": valueSchemaList, "oneOf": valueSchemaList, "not": valueSchema,
	"if": valueSchema, "then": valueSchema, "else": valueSchema,
}

// enumMax bounds the values of an enum, with each of which a value is compared.
const enumMax = 10_000

// refsMax bounds the references of a schema: for some of them
// the compiler walks over everything compiled so far.
const refsMax = 1_000

// schemaIndex is what a walk over a schema finds before the schema is compiled.
type schemaIndex struct {
	id            string            // $id of the whole document
	schemas       map[string]any    // by JSON pointer
	anchors       map[string]string // JSON pointers by anchor name
	refs          []reference
	costliestEnum int // cost of comparing a value with the longest enum
}

// reference is a $ref and its path.
type reference struct {
	to string
	at docPath
}

// addSchema adds a schema and those inside it. It refuses unknown keywords, because
// a misspelt limit would have no effect and no error. Names that begin with x- are
// annotations.
func (s *schemaIndex) addSchema(schema any, at docPath) error {
	s.schemas[at.pointer()] = schema
	object, is := schema.(map[string]any)
	if !is {
		return nil
	}
	for _, word := range slices.Sorted(maps.Keys(object)) {
		kind, known := keywords[word]
		if !known && !strings.HasPrefix(word, "x-") {
			return unknownKeyword(word, at)
		}
		if err := s.addKeyword(word, kind, object[word], at.key(word)); err != nil {
			return err
		}
	}
	return nil
}

func (s *schemaIndex) addKeyword(word string, kind keywordValue, v any, at docPath) error {
	switch v := v.(type) {
	case string:
		return s.addText(word, v, at)
	case map[string]any:
		if kind == valueSchemaMap {
			return s.addNamed(v, at)
		}
	case []any:
		if word == "enum" && len(v) > enumMax {
			return rota.Invalidf(at.String(), "has %d values; at most %d are allowed", len(v), enumMax)
		}
		if word == "enum" {
			s.costliestEnum = max(s.costliestEnum, costOf(v))
		}
		if kind == valueSchemaList || kind == valueSchemaOrList {
			return s.addListed(v, at)
		}
	}
	if kind == valueSchema || kind == valueSchemaOrList {
		return s.addSchema(v, at)
	}
	return nil
}

// costOf is the cost of comparing a value with those of an enum. Numbers are
// compared as fractions, which is slow.
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

// addText adds the keywords that name or refer to a schema.
func (s *schemaIndex) addText(word, v string, at docPath) error {
	switch word {
	case "$ref", "$dynamicRef", "$recursiveRef":
		s.refs = append(s.refs, reference{v, at})
	case "$anchor", "$dynamicAnchor":
		s.anchors[v] = at.parent.pointer()
	case "$schema":
		if draftOf(v) == nil {
			return &rota.Error{
				Code: rota.Invalid, Field: at.String(), Reason: quoteTruncated(v) + " is not a draft of JSON Schema",
				Hint: "leave it out, or write " + jsonschema.Draft2020.String(),
			}
		}
	case "$id", "id":
		if at.parent.parent != nil {
			return &rota.Error{
				Code: rota.Invalid, Field: at.String(), Reason: "is inside another schema; only the top-level schema may have one",
				Hint: "refer to #/$defs/NAME",
			}
		}
		s.id, _, _ = strings.Cut(v, "#")
	}
	return nil
}

func (s *schemaIndex) addNamed(schemas map[string]any, at docPath) error {
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if err := s.addSchema(schemas[name], at.key(name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *schemaIndex) addListed(schemas []any, at docPath) error {
	for i, one := range schemas {
		if err := s.addSchema(one, at.item(i)); err != nil {
			return err
		}
	}
	return nil
}

// checkReferences refuses references to other documents and to schemas that do not exist.
func (s *schemaIndex) checkReferences() error {
	if len(s.refs) > refsMax {
		return rota.Invalidf("schema", "has %d references; at most %d are allowed", len(s.refs), refsMax)
	}
	for _, ref := range s.refs {
		document, fragment, _ := strings.Cut(ref.to, "#")
		pointer, err := url.PathUnescape(fragment)
		switch {
		case document != "" && document != s.id && draftOf(document) == nil:
			return &rota.Error{
				Code: rota.Invalid, Field: ref.at.String(), Reason: quoteTruncated(ref.to) + " is in another document, and Rota loads no remote schemas",
				Hint: "put it under $defs and refer to #/$defs/NAME",
			}
		case err != nil:
			return &rota.Error{Code: rota.Invalid, Field: ref.at.String(), Reason: quoteTruncated(ref.to) + " is not a valid reference", Err: err}
		case document != "" && document != s.id:
		case !s.hasSchema(pointer):
			return rota.Invalidf(ref.at.String(), "refers to %s, but there is no schema", quoteTruncated(ref.to))
		}
	}
	return nil
}

// hasSchema reports whether there is a schema at a JSON pointer or with an anchor name.
func (s *schemaIndex) hasSchema(fragment string) bool {
	_, placed := s.schemas[fragment]
	_, named := s.anchors[fragment]
	return placed || named
}

// target is the JSON pointer that a valid reference refers to, if it is in this
// document.
func (s *schemaIndex) target(ref string) (pointer string, here bool) {
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

func unknownKeyword(word string, at docPath) error {
	err := rota.Invalidf(at.key(word).String(), "is not a keyword of JSON Schema")
	switch meant := suggest.Nearest(word, slices.Sorted(maps.Keys(keywords))); {
	case word == "nullable":
		err.Hint = `to allow null, write "type": ["string", "null"]`
	case word == "example":
		err.Hint = "use examples, which is a list"
	case meant != "":
		err.Hint = "did you mean " + meant + "?"
	default:
		err.Hint = "names of custom annotations begin with x-"
	}
	return err
}
