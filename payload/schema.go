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

// Schema writes the JSON Schema of a Go value's type, as encoding/json writes
// and reads it: fields without omitempty or omitzero are required, others than
// the fields are refused, and a type that contains itself is the only reason for
// a $ref.
//
// Tags say more: `jsonschema:"minLength=1,enum=a,enum=b"`, with the words of
// JSON Schema. A type may have a method JSONSchema that describes it instead.
func Schema(v any) (json.RawMessage, error) {
	doc, _, err := schemaOf(reflect.TypeOf(v))
	return doc, err
}

// schemaOf also proves that the schema can be used.
func schemaOf(t reflect.Type) (json.RawMessage, *Compiled, error) {
	if t == nil {
		return nil, nil, rota.Invalidf("schema", "nil has no type to write a schema of")
	}
	b := &builder{open: map[reflect.Type]bool{}, names: map[reflect.Type]string{}, defs: jsonschema.Definitions{}}
	elem, _ := b.deref(t)
	b.root = elem
	s := b.plain(elem)
	if b.err != nil {
		return nil, nil, b.err
	}
	if len(b.defs) > 0 {
		s.Definitions = b.defs
	}
	doc, err := json.Marshal(s)
	if err != nil {
		return nil, nil, &rota.Error{Code: rota.Invalid, Field: "schema", Reason: "of " + typeName(t) + " cannot be written", Err: err}
	}
	compiled, err := Compile(doc)
	if err != nil {
		return nil, nil, &rota.Error{Code: rota.Invalid, Field: "schema", Reason: "of " + typeName(t) + " is not right", Err: err}
	}
	return doc, compiled, nil
}

// nodesMost bounds the parts of a schema: what takes the place of a $ref is
// written again wherever it is used.
const nodesMost = 5_000

// builder writes the schema of one type.
type builder struct {
	root  reflect.Type
	open  map[reflect.Type]bool   // those that are being written
	names map[reflect.Type]string // what those that contain themselves are referred to by
	defs  jsonschema.Definitions
	nodes int
	err   error
}

func (b *builder) fail(format string, args ...any) *jsonschema.Schema {
	if b.err == nil {
		b.err = rota.Invalidf("schema", format, args...)
	}
	return &jsonschema.Schema{}
}

// typeName is a type in words; one without a name is as long as its code.
func typeName(t reflect.Type) string { return shown(t.String()) }

// deref takes the pointers off a type.
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

// value is the schema of a value wherever it stands: null too, where Go has nil.
func (b *builder) value(t reflect.Type) *jsonschema.Schema {
	elem, pointer := b.deref(t)
	s := b.plain(elem)
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

// plain is the schema of a value that is not nil.
func (b *builder) plain(t reflect.Type) *jsonschema.Schema {
	if b.nodes++; b.nodes > nodesMost {
		return b.fail("%s has more than %d parts; make it smaller, or give it a method JSONSchema", typeName(b.root), nodesMost)
	}
	if s := b.own(t); s != nil {
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
		return &jsonschema.Schema{} // only its own code knows
	case t.Implements(textMarshaler):
		return &jsonschema.Schema{Type: "string"}
	case pointer.Implements(textMarshaler), pointer.Implements(textUnmarshaler):
		return &jsonschema.Schema{} // text or not, as it can be pointed to or not
	}
	return b.kind(t)
}

// own is the schema that a type describes itself by.
func (b *builder) own(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Interface {
		return nil
	}
	switch v := reflect.New(t).Interface().(type) {
	case interface{ JSONSchema() *jsonschema.Schema }:
		s := v.JSONSchema()
		if s == nil {
			return b.fail("the method JSONSchema of %s returns nil", t)
		}
		copied := *s // tags are added to it
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
	return b.fail("%s has a value of type %s in it, which JSON cannot hold; leave it out with `json:\"-\"`", typeName(b.root), typeName(t))
}

// integerBounds are what a Go integer can hold. Those of 64 bits stay open:
// such numbers are what readers of other schemas stumble over.
var integerBounds = map[reflect.Kind][2]json.Number{
	reflect.Int: {}, reflect.Int64: {},
	reflect.Int8: {"-128", "127"}, reflect.Int16: {"-32768", "32767"}, reflect.Int32: {"-2147483648", "2147483647"},
	reflect.Uint: {"0", ""}, reflect.Uint64: {"0", ""}, reflect.Uintptr: {"0", ""},
	reflect.Uint8: {"0", "255"}, reflect.Uint16: {"0", "65535"}, reflect.Uint32: {"0", "4294967295"},
}

// composite writes a type in place, or refers to it where it contains itself.
func (b *builder) composite(t reflect.Type) *jsonschema.Schema {
	switch _, known := b.names[t]; {
	case known:
		return b.ref(t)
	case b.open[t]:
		b.names[t] = b.name(t)
		return b.ref(t)
	}
	if t.Name() != "" {
		b.open[t] = true
	}
	s := b.parts(t)
	delete(b.open, t)
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

// name is what a type goes by under $defs: its own name, with a number where two
// packages have the same.
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
