package diff

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// Durations returns the encoding of a definition, as it is stored, with its durations as text. Stored
// durations are nanoseconds.
func Durations(definition any, encoded []byte, format func(time.Duration) string) []byte {
	return formatter(format).value(reflect.TypeOf(definition), encoded)
}

// formatter formats the durations in a document.
type formatter func(time.Duration) string

var (
	durationType  = reflect.TypeFor[time.Duration]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
)

// value returns the encoding of a value of a type with its durations as text.
func (f formatter) value(t reflect.Type, value json.RawMessage) json.RawMessage {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == durationType:
		var d time.Duration
		if json.Unmarshal(value, &d) != nil || string(value) == "null" {
			return value
		}
		return encode(f(d))
	case t.Implements(marshalerType) || t.Implements(textType):
		return value
	}
	switch t.Kind() {
	case reflect.Struct:
		return f.inObject(value, func(name string) reflect.Type { return fieldType(t, name) })
	case reflect.Map:
		return f.inObject(value, func(string) reflect.Type { return t.Elem() })
	case reflect.Slice:
		return f.inList(value, t.Elem())
	}
	return value
}

// inObject replaces the durations in the members of an object. An object without any is returned as it
// is, with the order of its members.
func (f formatter) inObject(value json.RawMessage, typeOf func(name string) reflect.Type) json.RawMessage {
	members, changed := fields(value), false
	for name, one := range members {
		if t := typeOf(name); t != nil {
			members[name] = f.value(t, one)
			changed = changed || string(members[name]) != string(one)
		}
	}
	if !changed {
		return value
	}
	return encode(members)
}

func (f formatter) inList(value json.RawMessage, of reflect.Type) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return value
	}
	changed := false
	for i, one := range list {
		list[i] = f.value(of, one)
		changed = changed || string(list[i]) != string(one)
	}
	if !changed {
		return value
	}
	return encode(list)
}

// fieldType returns the type of the field that JSON calls name, also of an embedded struct; nil if
// there is none.
func fieldType(t reflect.Type, name string) reflect.Type {
	for _, f := range reflect.VisibleFields(t) {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key == name || key == "" && f.Name == name {
			return f.Type
		}
	}
	return nil
}
