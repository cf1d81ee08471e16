package payload

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// plain is a schema of a flat object, which most job types have. It recognises
// good params at a small part of what a full check costs; what it has any doubt
// about is left to that check, which also has the words for what is wrong.
type plain struct {
	fields   map[string]*plainField
	required uint64 // the bits of the fields that may not be missing
	closed   bool   // others than the fields are refused
}

// plainField is what a field of a plain schema takes.
type plainField struct {
	bit               uint64 // its own, in a set of fields
	kinds             kinds
	texts             map[string]bool // of its enum; nil takes every text
	shortest, longest int64           // in characters
	least, most       int64
}

// kinds is a set of kinds of values, as they are written: 1.0 is a fraction here,
// although a schema takes it for an integer.
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
	plainFieldsMost = 64       // as many as a set has bits
	plainBytesMost  = 16 << 10 // of the params
	plainDigitsMost = 18       // bytes of a number, which then fits into 64 bits
)

// A field takes five bytes at least, so short params stay within what a full
// check compares and pays for; were they not, this would not compile.
const (
	_ = uint(comparisonsMost - enumMost*(plainBytesMost/5+1))
	_ = uint(stepsBase - (plainBytesMost/5 + 1))
)

// plainOf is the plain form of a schema that keeps to the rules of its draft, or
// nil if it says more than a plain one can.
func plainOf(schema map[string]any) *plain {
	additional, closed := schema["additionalProperties"]
	properties, _ := schema["properties"].(map[string]any)
	if schema["type"] != "object" || closed && additional != false || len(properties) > plainFieldsMost ||
		!onlyWords(schema, "type", "properties", "required", "additionalProperties") {
		return nil
	}
	p := &plain{fields: make(map[string]*plainField, len(properties)), closed: closed}
	for name, property := range properties {
		f := plainFieldOf(property, 1<<len(p.fields))
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

// onlyWords reports whether a schema has no keywords but these, and those that
// refuse nothing.
func onlyWords(schema map[string]any, words ...string) bool {
	known := 0
	for _, word := range append(words, "title", "description", "examples", "default") {
		if _, has := schema[word]; has {
			known++
		}
	}
	return known == len(schema)
}

func plainFieldOf(property any, bit uint64) *plainField {
	schema, is := property.(map[string]any)
	if !is || !onlyWords(schema, "type", "enum", "minLength", "maxLength", "minimum", "maximum") {
		return nil
	}
	f := &plainField{bit: bit, longest: math.MaxInt64, least: math.MinInt64, most: math.MaxInt64}
	if !f.setKinds(schema["type"]) || !f.setTexts(schema["enum"]) ||
		!setLimit(&f.shortest, schema["minLength"]) || !setLimit(&f.longest, schema["maxLength"]) ||
		!setLimit(&f.least, schema["minimum"]) || !setLimit(&f.most, schema["maximum"]) {
		return nil
	}
	return f
}

func (f *plainField) setKinds(types any) bool {
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

// setTexts takes an enum of texts, and of null beside them. No other kind of
// value can be one of them.
func (f *plainField) setTexts(enum any) bool {
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

// setLimit takes a limit that is written as a whole number; one that is not given
// stays as it is.
func setLimit(limit *int64, v any) bool {
	if v == nil {
		return true
	}
	n, _ := v.(json.Number)
	parsed, err := strconv.ParseInt(n.String(), 10, 64)
	*limit = parsed
	return err == nil
}

// passes reports whether it is sure that the schema accepts the params. No plain
// schema at all is sure of nothing.
func (p *plain) passes(params []byte) bool {
	if p == nil || len(params) > plainBytesMost || !gjson.ValidBytes(params) || !utf8.Valid(params) {
		return false
	}
	s := scanner{params}
	if !s.take('{') {
		return false
	}
	var seen uint64
	for more := !s.take('}'); more; more = s.take(',') {
		s.space()
		key, escaped := s.text()
		f := p.field(key)
		if f == nil || escaped || seen&f.bit != 0 { // of a key given twice the last counts, and an escaped one may be any
			return false
		}
		seen |= f.bit
		s.take(':')
		if !s.fits(f) {
			return false
		}
	}
	return seen&p.required == p.required
}

// anyField is a field that an open schema says nothing about. It has no bit: all
// of its values are as good as the last.
var anyField = &plainField{
	kinds: kindText | kindWhole | kindFraction | kindBoolean | kindNull, longest: math.MaxInt64, least: math.MinInt64, most: math.MaxInt64,
}

func (p *plain) field(key []byte) *plainField {
	f := p.fields[string(key)]
	if f == nil && !p.closed {
		return anyField
	}
	return f
}

// fitsText cannot count or compare the characters of a text with escapes.
func (f *plainField) fitsText(text []byte, escaped bool) bool {
	if f.shortest > 0 || f.longest < math.MaxInt64 {
		if n := int64(utf8.RuneCount(text)); escaped || n < f.shortest || n > f.longest {
			return false
		}
	}
	return f.kinds&kindText != 0 && (f.texts == nil || !escaped && f.texts[string(text)])
}

// fitsNumber leaves exponents, and all that is long, to exact arithmetic.
func (f *plainField) fitsNumber(text []byte) bool {
	if len(text) > plainDigitsMost {
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
		return f.kinds&kindFraction != 0 && f.least == math.MinInt64 && f.most == math.MaxInt64
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil && f.kinds&kindWhole != 0 && n >= f.least && n <= f.most
}
