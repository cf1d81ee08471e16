package payload

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/rotajobs/rota"
)

// Schema generates the JSON Schema of a Go value's type, as encoding/json encodes
// and decodes it. Fields without omitempty or omitzero are required. Other fields
// are refused. It uses a $ref only for a type that contains itself.
//
// Tags with the keywords of JSON Schema add limits:
// `jsonschema:"minLength=1,enum=a,enum=b"`. A type with a method JSONSchema
// describes itself.
func Schema(v any) (json.RawMessage, error) {
	doc, _, err := schemaOf(reflect.TypeOf(v))
	return doc, err
}

// schemaOf also compiles the schema.
func schemaOf(t reflect.Type) (json.RawMessage, *Compiled, error) {
	if t == nil {
		return nil, nil, rota.Invalidf("schema", "nil has no type to generate a schema from")
	}
	b := &builder{inProgress: map[reflect.Type]bool{}, names: map[reflect.Type]string{}, defs: jsonschema.Definitions{}}
	elem, _ := b.deref(t)
	b.root = elem
	s := b.nonNil(elem)
	if b.err != nil {
		return nil, nil, b.err
	}
	if len(b.defs) > 0 {
		s.Definitions = b.defs
	}
	doc, err := json.Marshal(s)
	if err != nil {
		return nil, nil, &rota.Error{Code: rota.Invalid, Field: "schema", Reason: "of " + typeName(t) + " cannot be encoded", Err: err}
	}
	compiled, err := Compile(doc)
	if err != nil {
		return nil, nil, &rota.Error{Code: rota.Invalid, Field: "schema", Reason: "of " + typeName(t) + " is not valid", Err: err}
	}
	return doc, compiled, nil
}

// nodesMax bounds the parts of a schema: without a $ref, a type is repeated
// wherever it is used.
const nodesMax = 5_000

// builder builds the schema of one type.
type builder struct {
	root       reflect.Type
	inProgress map[reflect.Type]bool   // types whose schema is being built
	names      map[reflect.Type]string // names under $defs of the types that contain themselves
	defs       jsonschema.Definitions
	nodes      int
	err        error
}

func (b *builder) fail(format string, args ...any) *jsonschema.Schema {
	if b.err == nil {
		b.err = rota.Invalidf("schema", format, args...)
	}
	return &jsonschema.Schema{}
}

// typeName is a type in errors. A type without a name is as long as its code, so it is shortened.
func typeName(t reflect.Type) string { return truncated(t.String()) }

// deref removes the pointers from a type.
func (b *builder) deref(t reflect.Type) (elem reflect.Type, pointer bool) {
	for range 16 {
		if t.Kind() != reflect.Pointer {
			return t, pointer
		}
		t, pointer = t.Elem(), true
	}
	b.fail("%s points to pointers without end", t)
	return reflect.TypeFor[any](), pointer
}

// value is the schema of a value, including null if it may be nil in Go.
func (b *builder) value(t reflect.Type) *jsonschema.Schema {
	elem, pointer := b.deref(t)
	s := b.nonNil(elem)
	if pointer || writesNull(elem) {
		return orNull(s)
	}
	return s
}

var (
	marshaler       = reflect.TypeFor[json.Marshaler]()
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// nonNil is the schema of a value that is not nil.
func (b *builder) nonNil(t reflect.Type) *jsonschema.Schema {
	if b.nodes++; b.nodes > nodesMax {
		return b.fail("%s has more than %d parts; make it smaller, or give it a method JSONSchema", typeName(b.root), nodesMax)
	}
	if s := b.customSchema(t); s != nil {
		return s
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "integer", Description: "nanoseconds"}
	case reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	}
	pointer := reflect.PointerTo(t)
	switch {
	case pointer.Implements(marshaler), pointer.Implements(unmarshaler):
		return &jsonschema.Schema{} // its own code decides the form
	case t.Implements(textMarshaler):
		return &jsonschema.Schema{Type: "string"}
	case pointer.Implements(textMarshaler), pointer.Implements(textUnmarshaler):
		return &jsonschema.Schema{} // text or not, depending on whether the value is addressable
	}
	return b.kind(t)
}

// customSchema is the schema from a method of the type.
func (b *builder) customSchema(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Interface {
		return nil
	}
	switch v := reflect.New(t).Interface().(type) {
	case interface{ JSONSchema() *jsonschema.Schema }:
		s := v.JSONSchema()
		if s == nil {
			return b.fail("the method JSONSchema of %s returns nil", t)
		}
		copied := *s // tags change the copy
		return &copied
	case interface{ JSONSchemaAlias() any }:
		alias := reflect.TypeOf(v.JSONSchemaAlias())
		if alias == nil || alias == t {
			return b.fail("the method JSONSchemaAlias of %s names no other type", t)
		}
		return b.value(alias)
	}
	return nil
}

func (b *builder) kind(t reflect.Type) *jsonschema.Schema {
	switch k := t.Kind(); k {
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}
	case reflect.Float32, reflect.Float64:
		return &jsonschema.Schema{Type: "number"}
	case reflect.Interface:
		return &jsonschema.Schema{}
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
		return b.composite(t)
	default:
		if bounds, is := integerBounds[k]; is {
			return &jsonschema.Schema{Type: "integer", Minimum: bounds[0], Maximum: bounds[1]}
		}
	}
	return b.fail("%s has a value of type %s, which JSON cannot represent; leave it out with `json:\"-\"`", typeName(b.root), typeName(t))
}

// integerBounds are the ranges of Go integers. Integers of 64 bits have no bounds,
// because some readers of schemas cannot parse such large numbers.
var integerBounds = map[reflect.Kind][2]json.Number{
	reflect.Int: {}, reflect.Int64: {},
	reflect.Int8: {"-128", "127"}, reflect.Int16: {"-32768", "32767"}, reflect.Int32: {"-2147483648", "2147483647"},
	reflect.Uint: {"0", ""}, reflect.Uint64: {"0", ""}, reflect.Uintptr: {"0", ""},
	reflect.Uint8: {"0", "255"}, reflect.Uint16: {"0", "65535"}, reflect.Uint32: {"0", "4294967295"},
}

// composite is the schema of a type in place, or a $ref if the type contains itself.
func (b *builder) composite(t reflect.Type) *jsonschema.Schema {
	switch _, known := b.names[t]; {
	case known:
		return b.ref(t)
	case b.inProgress[t]:
		b.names[t] = b.name(t)
		return b.ref(t)
	}
	if t.Name() != "" {
		b.inProgress[t] = true
	}
	s := b.compositeSchema(t)
	delete(b.inProgress, t)
	if _, recursive := b.names[t]; recursive && t != b.root {
		b.defs[b.names[t]] = s
		return b.ref(t)
	}
	return s
}

func (b *builder) ref(t reflect.Type) *jsonschema.Schema {
	if t == b.root {
		return &jsonschema.Schema{Ref: "#"}
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + b.names[t]}
}

// name is the name of a type under $defs: its own, with a number if two packages
// have the same.
func (b *builder) name(t reflect.Type) string {
	clean := strings.Map(func(c rune) rune {
		if c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			return c
		}
		return '_'
	}, t.Name())
	name := clean
	for i := 2; b.taken(name); i++ {
		name = fmt.Sprintf("%s%d", clean, i)
	}
	return name
}

func (b *builder) taken(name string) bool {
	for _, other := range b.names {
		if other == name {
			return true
		}
	}
	return false
}
