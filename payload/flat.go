package payload

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// flatSchema is the schema of an object without nested values, which most job types
// have. It accepts valid params at a fraction of the cost of a full check. It leaves
// all other params to the full check, which also describes the problems.
type flatSchema struct {
	fields   map[string]*flatField
	required uint64 // bits of the required fields
	closed   bool   // refuses other fields
}

// flatField is the schema of one field.
type flatField struct {
	bit                  uint64 // of the field in a set of fields
	kinds                kinds
	texts                map[string]bool // of its enum; nil: every text
	minLength, maxLength int64           // in characters
	minimum, maximum     int64
}

// kinds is a set of kinds of values, by their text: 1.0 is a fraction here,
// although JSON Schema counts it as an integer.
type kinds uint8

const (
	kindText kinds = 1 << iota
	kindWhole
	kindFraction
	kindBoolean
	kindNull
)

var kindsOfType = map[string]kinds{
	"string": kindText, "integer": kindWhole, "number": kindWhole | kindFraction, "boolean": kindBoolean, "null": kindNull,
}

const (
	flatFieldsMax     = 64       // the bits of a set
	fastPathBytesMax  = 16 << 10 // of the params
	fastPathDigitsMax = 18       // bytes of a number, which then fits into 64 bits
)

// A field has at least five bytes, so params that are accepted here are also within
// the limits of a full check. These constants do not compile otherwise.
const (
	_ = uint(comparisonsMax - enumMax*(fastPathBytesMax/5+1))
	_ = uint(stepsBase - (fastPathBytesMax/5 + 1))
)

// flatSchemaOf is the flat form of a schema that is valid for its draft, or nil if the
// schema has other keywords.
func flatSchemaOf(schema map[string]any) *flatSchema {
	additional, closed := schema["additionalProperties"]
	properties, _ := schema["properties"].(map[string]any)
	if schema["type"] != "object" || closed && additional != false || len(properties) > flatFieldsMax ||
		!onlyWords(schema, "type", "properties", "required", "additionalProperties") {
		return nil
	}
	p := &flatSchema{fields: make(map[string]*flatField, len(properties)), closed: closed}
	for name, property := range properties {
		f := flatFieldOf(property, 1<<len(p.fields))
		if f == nil {
			return nil
		}
		p.fields[name] = f
	}
	required, _ := schema["required"].([]any)
	for _, v := range required {
		name, _ := v.(string)
		f := p.fields[name]
		if f == nil {
			return nil
		}
		p.required |= f.bit
	}
	return p
}

// onlyWords reports whether a schema has only these keywords and annotations.
func onlyWords(schema map[string]any, words ...string) bool {
	known := 0
	for _, word := range append(words, "title", "description", "examples", "default") {
		if _, has := schema[word]; has {
			known++
		}
	}
	return known == len(schema)
}

func flatFieldOf(property any, bit uint64) *flatField {
	schema, is := property.(map[string]any)
	if !is || !onlyWords(schema, "type", "enum", "minLength", "maxLength", "minimum", "maximum") {
		return nil
	}
	f := &flatField{bit: bit, maxLength: math.MaxInt64, minimum: math.MinInt64, maximum: math.MaxInt64}
	if !f.setKinds(schema["type"]) || !f.setTexts(schema["enum"]) ||
		!setLimit(&f.minLength, schema["minLength"]) || !setLimit(&f.maxLength, schema["maxLength"]) ||
		!setLimit(&f.minimum, schema["minimum"]) || !setLimit(&f.maximum, schema["maximum"]) {
		return nil
	}
	return f
}

func (f *flatField) setKinds(types any) bool {
	list, is := types.([]any)
	if !is {
		list = []any{types}
	}
	for _, v := range list {
		name, _ := v.(string)
		kind, known := kindsOfType[name]
		if !known {
			return false
		}
		f.kinds |= kind
	}
	return true
}

// setTexts sets an enum of texts and null. An enum with another kind of value is
// not flat.
func (f *flatField) setTexts(enum any) bool {
	if enum == nil {
		return true
	}
	list, is := enum.([]any)
	listed := kindText
	f.texts = make(map[string]bool, len(list))
	for _, v := range list {
		switch v := v.(type) {
		case string:
			f.texts[v] = true
		case nil:
			listed |= kindNull
		default:
			return false
		}
	}
	f.kinds &= listed
	return is
}

// setLimit sets a limit that is a whole number, and leaves it unchanged if v is nil.
func setLimit(limit *int64, v any) bool {
	if v == nil {
		return true
	}
	n, _ := v.(json.Number)
	parsed, err := strconv.ParseInt(n.String(), 10, 64)
	*limit = parsed
	return err == nil
}

// accepts reports whether the schema certainly accepts the params. A nil schema
// reports false.
func (p *flatSchema) accepts(params []byte) bool {
	if p == nil || len(params) > fastPathBytesMax || !gjson.ValidBytes(params) || !utf8.Valid(params) {
		return false
	}
	s := scanner{params}
	if !s.skip('{') {
		return false
	}
	var seen uint64
	for more := !s.skip('}'); more; more = s.skip(',') {
		s.skipSpace()
		key, escaped := s.stringValue()
		f := p.field(key)
		if f == nil || escaped || seen&f.bit != 0 { // the last of two equal keys counts; an escaped key may equal another
			return false
		}
		seen |= f.bit
		s.skip(':')
		if !s.fits(f) {
			return false
		}
	}
	return seen&p.required == p.required
}

// anyField is a field that an open schema does not describe. It has no bit, because
// it may occur several times.
var anyField = &flatField{
	kinds: kindText | kindWhole | kindFraction | kindBoolean | kindNull, maxLength: math.MaxInt64, minimum: math.MinInt64, maximum: math.MaxInt64,
}

func (p *flatSchema) field(key []byte) *flatField {
	f := p.fields[string(key)]
	if f == nil && !p.closed {
		return anyField
	}
	return f
}

// fitsText reports false for a text with escapes if its characters have to be counted or compared.
func (f *flatField) fitsText(text []byte, escaped bool) bool {
	if f.minLength > 0 || f.maxLength < math.MaxInt64 {
		if n := int64(utf8.RuneCount(text)); escaped || n < f.minLength || n > f.maxLength {
			return false
		}
	}
	return f.kinds&kindText != 0 && (f.texts == nil || !escaped && f.texts[string(text)])
}

// fitsNumber reports false for exponents and long numbers, which need exact arithmetic.
func (f *flatField) fitsNumber(text []byte) bool {
	if len(text) > fastPathDigitsMax {
		return false
	}
	fraction := false
	for _, c := range text {
		if c == 'e' || c == 'E' {
			return false
		}
		fraction = fraction || c == '.'
	}
	if fraction {
		return f.kinds&kindFraction != 0 && f.minimum == math.MinInt64 && f.maximum == math.MaxInt64
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil && f.kinds&kindWhole != 0 && n >= f.minimum && n <= f.maximum
}
