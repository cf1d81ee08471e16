package httpapi

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// docsField is one field as the page shows it.
type docsField struct {
	Name, Where, About string
	Kind               docsKind
	Required           bool
	Words              []string // allowed values; empty: any of its kind
	Default, Example   string
}

// docsKind describes the values of a field in words, which end with the name of a shape if there is
// one.
type docsKind struct {
	Words, Shape string
	Null         bool
}

// docsFields returns the fields of an object by name, required fields first.
func docsFields(schema *huma.Schema) (fields []docsField) {
	for _, needed := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			if slices.Contains(schema.Required, name) == needed {
				fields = append(fields, docsFieldOf(name, schema.Properties[name], needed))
			}
		}
	}
	return fields
}

func docsFieldOf(name string, schema *huma.Schema, required bool) docsField {
	f := docsField{Name: name, About: schema.Description, Kind: docsKindOf(schema), Required: required}
	for _, word := range schema.Enum {
		if word != nil {
			f.Words = append(f.Words, valueText(word))
		}
	}
	if schema.Default != nil {
		f.Default = valueText(schema.Default)
	}
	if len(schema.Examples) > 0 && docsFormats[schema.Format] == "" {
		f.Example = valueText(schema.Examples[0])
	}
	return f
}

func valueText(value any) string { return fmt.Sprint(value) }

func docsKindOf(schema *huma.Schema) docsKind {
	if schema == nil {
		return docsKind{}
	}
	if schema.Ref != "" {
		return docsKind{Shape: path.Base(schema.Ref), Null: schema.Nullable}
	}
	kind := docsKind{Words: docsWords[schema.Type], Null: schema.Nullable}
	if format := docsFormats[schema.Format]; format != "" {
		kind.Words = format
	}
	if len(schema.OneOf) > 0 {
		return docsKind{Shape: path.Base(schema.OneOf[0].Ref), Null: true}
	}
	if len(schema.AnyOf) > 0 {
		return docsEither(schema.AnyOf)
	}
	inner, isMap := schema.AdditionalProperties.(*huma.Schema)
	switch {
	case schema.Items != nil:
		return kind.of("list of ", docsKindOf(schema.Items))
	case isMap:
		return kind.of("by name: ", docsKindOf(inner))
	}
	return kind
}

// docsEither describes a field that accepts several simple kinds.
func docsEither(schemas []*huma.Schema) docsKind {
	var either docsKind
	var words []string
	for _, one := range schemas {
		words = append(words, docsWords[one.Type])
		either.Null = either.Null || one.Nullable
	}
	either.Words = strings.Join(words, " or ")
	return either
}

func (k docsKind) of(words string, inner docsKind) docsKind {
	return docsKind{Words: words + inner.Words, Shape: inner.Shape, Null: k.Null}
}

var docsWords = map[string]string{
	"": "any JSON", huma.TypeString: "text", huma.TypeInteger: "whole number", huma.TypeNumber: "number", huma.TypeBoolean: "true or false",
	huma.TypeObject: "object", huma.TypeArray: "list",
}

var docsFormats = map[string]string{"date-time": "time", "uuid": "id"}
