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

// slot stands for the i-th field of a struct while its tags are read: the field
// has the type [i]slot.
type slot struct{}

var slotType = reflect.TypeFor[slot]()

// describe puts the fields of a struct and their schemas together, and lets the
// tags named jsonschema add what they say.
func describe(fields []field, schemas []*jsonschema.Schema) *jsonschema.Schema {
	stand, described := make([]reflect.StructField, len(fields)), make([]string, len(fields))
	for i, f := range fields {
		described[i] = schemas[i].Description
		stand[i] = reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: reflect.ArrayOf(i, slotType), Tag: standInTag(i, f),
		}
	}
	r := jsonschema.Reflector{
		Anonymous: true, DoNotReference: true,
		KeyNamer: func(number string) string {
			i, _ := strconv.Atoi(number)
			return fields[i].name
		},
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if t.Kind() == reflect.Array && t.Elem() == slotType {
				return schemas[t.Len()]
			}
			return nil
		},
	}
	s := r.ReflectFromType(reflect.StructOf(stand))
	s.Version = ""
	for i, text := range described { // a tag without a description would take it away
		schemas[i].Description = cmp.Or(schemas[i].Description, text)
	}
	return s
}

// standInTag is the tag of a field with its number in place of its name. A field
// that is left out of the schema is still written, so that it has to be allowed.
func standInTag(i int, f field) reflect.StructTag {
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

// How the value of a word in a tag is read.
type tagValue int

const (
	tagText tagValue = iota
	tagCount
	tagNumber
	tagAlone // it has no value
)

// tagWords are the words that a tag may hold. Others would be left out without
// a word, and a limit that was meant would not be kept.
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
			return rota.Invalidf("schema", "the jsonschema tag of %s has %s; a value follows every word but required and nullable", f.owner, show(part))
		case kind == tagCount && !isCount(value), kind == tagNumber && !isNumber(value):
			return rota.Invalidf("schema", "the jsonschema tag of %s has %s, which is not a number", f.owner, show(part))
		}
	}
	return nil
}

func badTag(f field, part string, known bool, word string) error {
	err := rota.Invalidf("schema", "the jsonschema tag of %s has %s in it, which is not known", f.owner, show(part))
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
