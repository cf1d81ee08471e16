package payload

import (
	"reflect"
	"slices"

	"github.com/invopop/jsonschema"
)

// compositeSchema is the schema of a struct, map, array or slice.
func (b *builder) compositeSchema(t reflect.Type) *jsonschema.Schema {
	switch t.Kind() {
	case reflect.Struct:
		return b.structSchema(t)
	case reflect.Map:
		return b.mapSchema(t)
	case reflect.Array:
		n := uint64(t.Len())
		return &jsonschema.Schema{Type: "array", Items: b.value(t.Elem()), MinItems: &n, MaxItems: &n}
	}
	if isBytes(t) {
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	}
	return &jsonschema.Schema{Type: "array", Items: b.value(t.Elem())}
}

func (b *builder) structSchema(t reflect.Type) *jsonschema.Schema {
	fields := fieldsOf(t)
	schemas := make([]*jsonschema.Schema, len(fields))
	for i, f := range fields {
		if err := checkTag(f); err != nil && b.err == nil {
			b.err = err
		}
		schemas[i] = b.field(f)
	}
	if b.err != nil {
		return &jsonschema.Schema{}
	}
	s := describe(fields, schemas)
	for _, f := range fields {
		elem, pointer := b.deref(f.typ)
		property, _ := s.Properties.Get(f.name)
		if pointer || writesNull(elem) && !f.optional && !requiresEntries(property) {
			s.Properties.Set(f.name, orNull(property))
		}
	}
	return s
}

// field is the schema of a non-nil field, without its tags.
func (b *builder) field(f field) *jsonschema.Schema {
	elem, _ := b.deref(f.typ)
	switch {
	case f.tag == "-":
		return &jsonschema.Schema{}
	case f.quoted:
		return &jsonschema.Schema{Type: "string"}
	}
	return b.nonNil(elem)
}

// requiresEntries reports whether a tag requires entries, so that null is not allowed.
func requiresEntries(s *jsonschema.Schema) bool { return s.MinItems != nil && *s.MinItems > 0 }

func (b *builder) mapSchema(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object"}
	_, whole := integerBounds[t.Key().Kind()]
	switch {
	case t.Key().Implements(textMarshaler), t.Key().Kind() == reflect.String:
		s.AdditionalProperties = b.value(t.Elem())
	case whole:
		s.PatternProperties = map[string]*jsonschema.Schema{"^-?[0-9]+$": b.value(t.Elem())}
		s.AdditionalProperties = jsonschema.FalseSchema
	default:
		return b.fail("%s has a map with keys of type %s, which JSON cannot represent", typeName(b.root), typeName(t.Key()))
	}
	return s
}

// isBytes reports whether encoding/json writes a slice as base64.
func isBytes(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Uint8 {
		return false
	}
	pointer := reflect.PointerTo(t.Elem())
	return !pointer.Implements(marshaler) && !pointer.Implements(textMarshaler)
}

// writesNull reports whether encoding/json writes a nil of this type as null.
func writesNull(t reflect.Type) bool { return t.Kind() == reflect.Slice || t.Kind() == reflect.Map }

// orNull extends a schema to allow null.
func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case isAny(s):
		return s
	case s.Type == "" || s.Const != nil || s.AnyOf != nil || s.OneOf != nil || s.AllOf != nil || s.Not != nil || s.If != nil:
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
	}
	both := *s
	both.Extras = map[string]any{"type": []string{s.Type, "null"}}
	for k, v := range s.Extras {
		both.Extras[k] = v
	}
	both.Type = ""
	if s.Enum != nil {
		both.Enum = append(slices.Clone(s.Enum), nil)
	}
	return &both
}

// isAny reports whether a schema allows every value, including null.
func isAny(s *jsonschema.Schema) bool { return reflect.DeepEqual(s, &jsonschema.Schema{}) }
