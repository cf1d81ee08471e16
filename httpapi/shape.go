package httpapi

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/suggest"
)

// shape describes valid bodies, derived from the Go type that a body is decoded into. Shapes are
// computed once per type and shared.
type shape struct {
	form    form
	fields  map[string]*shape // fields of an object
	aliases map[string]string // fields of an object by names that are often used instead
	elem    *shape            // element of a list or a map

	filled bool // a filter: an empty text is refused
}

type form int

const (
	formAny form = iota
	formObject
	formMap
	formList
	formDocument // any object
	formText
	formInteger
	formNumber
	formFlag
	formTime
	formDuration
	formID
	formName     // text that is not empty; of query parameters only
	formMoment   // time, or a duration until now; of query parameters only
	formIDPrefix // of query parameters only
)

var formNames = map[form]string{
	formObject: "an object", formMap: "an object", formDocument: "an object", formList: "a list", formText: "a string",
	formInteger: "a whole number", formNumber: "a number", formFlag: "true or false",
	formTime:     "a time in RFC 3339; write it like 2026-11-15T07:00:00Z",
	formDuration: "a duration; write it with a unit, such as \"90s\" or \"5 MINUTES\"",
	formID:       "an id; an id looks like " + api.ExampleID,
}

var shapeCache sync.Map // reflect.Type → *shape

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapeCache.Load(t); ok {
		return known.(*shape)
	}
	made, _ := shapeCache.LoadOrStore(t, newShape(t))
	return made.(*shape)
}

var leafForms = map[reflect.Type]form{
	reflect.TypeFor[api.Time]():        formTime,
	reflect.TypeFor[api.Duration]():    formDuration,
	reflect.TypeFor[api.ID]():          formID,
	reflect.TypeFor[api.Document]():    formDocument,
	reflect.TypeFor[api.SQLValue]():    formAny,
	reflect.TypeFor[json.RawMessage](): formAny,
}

// newShape derives the shape of a type. Request types are not recursive.
func newShape(t reflect.Type) *shape {
	if form, known := leafForms[t]; known {
		return &shape{form: form}
	}
	if opt, ok := reflect.Zero(t).Interface().(interface{ Inner() reflect.Type }); ok {
		return newShape(opt.Inner())
	}
	switch t.Kind() {
	case reflect.Pointer:
		return newShape(t.Elem())
	case reflect.Slice:
		return &shape{form: formList, elem: newShape(t.Elem())}
	case reflect.Map:
		return &shape{form: formMap, elem: newShape(t.Elem())}
	case reflect.Struct:
		s := &shape{form: formObject, fields: map[string]*shape{}, aliases: map[string]string{}}
		s.addFields(t)
		return s
	case reflect.String:
		return &shape{form: formText}
	case reflect.Int, reflect.Int64:
		return &shape{form: formInteger}
	case reflect.Float64:
		return &shape{form: formNumber}
	case reflect.Bool:
		return &shape{form: formFlag}
	}
	panic("httpapi: a request cannot hold a " + t.String())
}

func (s *shape) addFields(t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			s.addFields(f.Type)
		case name != "-":
			s.fields[name] = newShape(f.Type)
			s.fields[name].filled = f.Tag.Get("filter") == "true"
			if other := f.Tag.Get("alias"); other != "" {
				s.aliases[other] = name
			}
		}
	}
}

// nearest returns the field that was probably meant.
func (s *shape) nearest(name string) string {
	if field, known := s.aliases[strings.ToLower(name)]; known {
		return field
	}
	return suggest.Nearest(name, slices.Sorted(maps.Keys(s.fields)))
}
