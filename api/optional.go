package api

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rotajobs/rota"
)

// Opt is a field that is omitted, null, or set. In a change, an omitted field stays as it is, and null
// returns it to the default.
type Opt[T any] struct {
	Set   bool
	Value *T // nil: null
}

// Some returns a field with a value.
func Some[T any](value T) Opt[T] { return Opt[T]{Set: true, Value: &value} }

// ifSet returns a field that is omitted if there is no value.
func ifSet[T any](value *T) Opt[T] { return Opt[T]{Set: value != nil, Value: value} }

// IsZero reports whether the field is omitted.
func (o Opt[T]) IsZero() bool { return !o.Set }

// MarshalJSON writes the value, or null.
func (o Opt[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

// UnmarshalJSON reads a field that is present.
func (o *Opt[T]) UnmarshalJSON(text []byte) error {
	o.Set, o.Value = true, nil
	if bytes.Equal(text, null) {
		return nil
	}
	o.Value = new(T)
	return json.Unmarshal(text, o.Value)
}

// Schema returns the schema of the value.
func (o Opt[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), true, "")
	if s.Ref == "" && s.Type != "" {
		s.Nullable = true
	}
	return &s
}

func (Opt[T]) Inner() reflect.Type { return reflect.TypeFor[T]() }

// SetPointer changes an optional field.
func (o Opt[T]) SetPointer(field **T) {
	if o.Set {
		*field = o.Value
	}
}

// SetValue changes a field whose zero value is its default.
func (o Opt[T]) SetValue(field *T) {
	change(o, field, func(value T) T { return value })
}

// change sets a field from an optional value. Null returns the field to its zero value.
func change[T, F any](given Opt[T], field *F, convert func(T) F) {
	if !given.Set {
		return
	}
	*field = *new(F)
	if given.Value != nil {
		*field = convert(*given.Value)
	}
}

// Document is a JSON object as it was sent.
type Document json.RawMessage

// MarshalJSON writes the object.
func (d Document) MarshalJSON() ([]byte, error) {
	if len(d) == 0 {
		return null, nil
	}
	return d, nil
}

// UnmarshalJSON keeps the object. Null is nil.
func (d *Document) UnmarshalJSON(text []byte) error {
	*d = nil
	if !bytes.Equal(text, null) {
		*d = append(Document{}, text...)
	}
	return nil
}

// Schema describes any object.
func (Document) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Nullable: true, AdditionalProperties: true}
}

// Raw returns the object for the library; nil is none.
func (d Document) Raw() json.RawMessage { return json.RawMessage(d) }

// anyValue is a field that is accepted and not evaluated.
type anyValue = Opt[json.RawMessage]

// refuseUnsupported refuses a value for a field that is not supported yet. Null counts as omitted.
func refuseUnsupported(field string, given anyValue) error {
	if given.Value == nil {
		return nil
	}
	return &rota.Error{Code: rota.Invalid, Field: field, Reason: "is not supported yet", Hint: "omit it"}
}
