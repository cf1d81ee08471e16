package diff

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// Encode returns a definition as the audit shows it: as it is stored, but with durations as text, such as
// "1h30m", as the HTTP API shows them.
func Encode(definition any) []byte {
	return durations(reflect.TypeOf(definition), rota.EncodeSpec(definition))
}

var (
	durationType  = reflect.TypeFor[time.Duration]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
)

// durations returns the encoding of a value of a type with its durations as text.
func durations(t reflect.Type, value json.RawMessage) json.RawMessage {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == durationType:
		var d time.Duration
		if json.Unmarshal(value, &d) != nil || string(value) == "null" {
			return value
		}
		return encode(rota.FormatDuration(d))
	case t.Implements(marshalerType) || t.Implements(textType):
		return value
	}
	switch t.Kind() {
	case reflect.Struct:
		return inObject(value, func(name string) reflect.Type { return fieldType(t, name) })
	case reflect.Map:
		return inObject(value, func(string) reflect.Type { return t.Elem() })
	case reflect.Slice:
		return inList(value, t.Elem())
	}
	return value
}

// inObject replaces the durations in the members of an object. An object without any is returned as it
// is, with the order of its members.
func inObject(value json.RawMessage, typeOf func(name string) reflect.Type) json.RawMessage {
	members, changed := fields(value), false
	for name, one := range members {
		if t := typeOf(name); t != nil {
			members[name] = durations(t, one)
			changed = changed || string(members[name]) != string(one)
		}
	}
	if !changed {
		return value
	}
	return encode(members)
}

func inList(value json.RawMessage, of reflect.Type) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return value
	}
	changed := false
	for i, one := range list {
		list[i] = durations(of, one)
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
