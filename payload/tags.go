package payload

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/suggest"
)

// placeholder replaces the type of a field while the tags are read: field i has the
// type [i]placeholder.
type placeholder struct{}

var placeholderType = reflect.TypeFor[placeholder]()

// describe builds the schema of a struct from the schemas of its fields, and
// applies the jsonschema tags.
func describe(fields []field, schemas []*jsonschema.Schema) *jsonschema.Schema {
	placeholders, described := make([]reflect.StructField, len(fields)), make([]string, len(fields))
	for i, f := range fields {
		described[i] = schemas[i].Description
		placeholders[i] = reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: reflect.ArrayOf(i, placeholderType), Tag: placeholderTag(i, f),
		}
	}
	r := jsonschema.Reflector{
		Anonymous: true, DoNotReference: true,
		KeyNamer: func(number string) string {
			i, _ := strconv.Atoi(number)
			return fields[i].name
		},
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if t.Kind() == reflect.Array && t.Elem() == placeholderType {
				return schemas[t.Len()]
			}
			return nil
		},
	}
	s := r.ReflectFromType(reflect.StructOf(placeholders))
	s.Version = ""
	for i, text := range described { // a tag without a description would remove it
		schemas[i].Description = cmp.Or(schemas[i].Description, text)
	}
	return s
}

// placeholderTag is the tag of a field with its number instead of its name. A field
// that the schema does not describe is still encoded, so the schema has to allow it.
func placeholderTag(i int, f field) reflect.StructTag {
	name := strconv.Itoa(i)
	if f.optional || f.tag == "-" {
		name += ",omitempty"
	}
	tag := fmt.Sprintf("json:%q", name)
	for _, key := range []string{"jsonschema", "jsonschema_description", "jsonschema_extras"} {
		if text := f.tags.Get(key); text != "" && text != "-" {
			tag += fmt.Sprintf(" %s:%q", key, text)
		}
	}
	return reflect.StructTag(tag)
}

// tagValue is how the value of a word in a tag is parsed.
type tagValue int

const (
	tagText tagValue = iota
	tagCount
	tagNumber
	tagAlone // no value
)

// tagWords are the words of a jsonschema tag. Others are refused, because the
// reflector ignores them without an error and the limit would have no effect.
var tagWords = map[string]tagValue{
	"required": tagAlone, "nullable": tagAlone, "-": tagAlone,
	"title": tagText, "description": tagText, "type": tagText, "anchor": tagText,
	"oneof_required": tagText, "anyof_required": tagText, "oneof_ref": tagText, "anyof_ref": tagText,
	"oneof_type": tagText, "anyof_type": tagText,
	"pattern": tagText, "format": tagText, "readOnly": tagText, "writeOnly": tagText,
	"default": tagText, "example": tagText, "enum": tagText, "uniqueItems": tagText,
	"minLength": tagCount, "maxLength": tagCount, "minItems": tagCount, "maxItems": tagCount,
	"multipleOf": tagNumber, "minimum": tagNumber, "maximum": tagNumber,
	"exclusiveMinimum": tagNumber, "exclusiveMaximum": tagNumber,
}

func checkTag(f field) error {
	if f.tag == "" {
		return nil
	}
	escaped := strings.ReplaceAll(f.tag, `\,`, " ")
	for part := range strings.SplitSeq(escaped, ",") {
		word, value, has := strings.Cut(part, "=")
		kind, known := tagWords[word]
		switch {
		case !known:
			return badTag(f, part, known, word)
		case has == (kind == tagAlone):
			return rota.Invalidf("schema", "the jsonschema tag of %s has %s; a value follows every word but required and nullable", f.owner, quoteTruncated(part))
		case kind == tagCount && !isCount(value), kind == tagNumber && !isNumber(value):
			return rota.Invalidf("schema", "the jsonschema tag of %s has %s, which is not a number", f.owner, quoteTruncated(part))
		}
	}
	return nil
}

func badTag(f field, part string, known bool, word string) error {
	err := rota.Invalidf("schema", "the jsonschema tag of %s has the unknown word %s", f.owner, quoteTruncated(part))
	if meant := suggest.Nearest(word, slices.Sorted(maps.Keys(tagWords))); meant != "" && !known {
		err.Hint = "did you mean " + meant + "?"
	} else {
		err.Hint = `a comma in a text is written \\,`
	}
	return err
}

func isCount(text string) bool {
	_, err := strconv.ParseUint(text, 10, 31)
	return err == nil
}

func isNumber(text string) bool {
	var n json.Number
	return json.Unmarshal([]byte(text), &n) == nil && text != "null" && text[0] != '"'
}
