package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotajobs/rota"
)

// plan describes how the fields of a struct are encoded, in ascending order of their
// numbers. Plans are built once, at program start.
type plan struct{ fields []planField }

type planField struct {
	number protowire.Number
	name   string // name in errors
	index  int    // index in the Go struct
	shape  shape
	kind   kind
	tag    string // encoded tag
	inner  *plan  // plan of a kindStruct

	pointers bool // the elements of a shapeMany are pointers
	slot     int  // bytes of memory per element of a shapeMany
	target   int  // bytes of memory behind each pointer
}

// shape is how often a field may occur.
type shape uint8

const (
	shapeOne  shape = iota // absent when zero
	shapeOpt               // a pointer: absent when nil
	shapeMany              // a slice: one field per element
)

// kind is how one value is encoded.
type kind uint8

const (
	kindBool kind = iota
	kindInt
	kindUint
	kindFloat
	kindString
	kindBytes
	kindArray
	kindTime
	kindStruct
	kindCommand
	kindReply
	kindCause // an error, as its text
)

// wireType maps each kind to its wire type.
var wireType = [...]protowire.Type{
	kindBool: protowire.VarintType, kindInt: protowire.VarintType, kindUint: protowire.VarintType, kindTime: protowire.VarintType,
	kindFloat:  protowire.Fixed64Type,
	kindString: protowire.BytesType, kindBytes: protowire.BytesType, kindArray: protowire.BytesType,
	kindStruct: protowire.BytesType, kindCommand: protowire.BytesType, kindReply: protowire.BytesType, kindCause: protowire.BytesType,
}

var batchPlan = mustPlan(reflect.TypeFor[wireBatch]())

// mustPlan panics at program start if a struct has wrong wire tags.
func mustPlan(t reflect.Type) *plan {
	p, err := planOf(t)
	if err != nil {
		panic("rota: " + err.Error())
	}
	return p
}

func planOf(t reflect.Type) (*plan, error) {
	p := &plan{}
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("wire") == notEncoded {
			continue
		}
		f, err := planFieldOf(t.Field(i), i)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t, t.Field(i).Name, err)
		}
		p.fields = append(p.fields, f)
	}
	slices.SortFunc(p.fields, func(a, b planField) int { return int(a.number - b.number) })
	for i := 1; i < len(p.fields); i++ {
		if p.fields[i].number == p.fields[i-1].number {
			return nil, fmt.Errorf("%s: wire number %d is used twice", t, p.fields[i].number)
		}
	}
	return p, nil
}

// notEncoded is the wire tag of a field that has a meaning in one process only.
const notEncoded = "-"

func planFieldOf(sf reflect.StructField, index int) (planField, error) {
	n, err := strconv.Atoi(sf.Tag.Get("wire"))
	if err != nil || n < 1 {
		return planField{}, fmt.Errorf("wire tag %q is not a number from 1", sf.Tag.Get("wire"))
	}
	if !sf.IsExported() {
		return planField{}, errors.New("the codec cannot set a field that is not exported")
	}
	f := planField{number: protowire.Number(n), name: snake(sf.Name), index: index}
	t := sf.Type
	switch {
	case t == reflect.TypeFor[json.RawMessage]() || t == reflect.TypeFor[[]byte]():
	case t.Kind() == reflect.Pointer:
		f.shape, t = shapeOpt, t.Elem()
	case t.Kind() == reflect.Slice:
		f.shape, t = shapeMany, t.Elem()
		f.slot = int(t.Size())
		if t.Kind() == reflect.Pointer {
			f.pointers, t = true, t.Elem()
		}
	}
	if f.pointers || f.shape == shapeOpt {
		f.target = int(t.Size())
	}
	if f.kind, err = kindOf(t); err == nil && f.kind == kindStruct {
		f.inner, err = planOf(t)
	}
	f.tag = string(protowire.AppendTag(nil, f.number, wireType[f.kind]))
	return f, err
}

func kindOf(t reflect.Type) (kind, error) {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return kindTime, nil
	case t == reflect.TypeFor[rota.Command]():
		return kindCommand, nil
	case t == reflect.TypeFor[rota.Reply]():
		return kindReply, nil
	case t == reflect.TypeFor[error]():
		return kindCause, nil
	case t.Kind() == reflect.Bool:
		return kindBool, nil
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return kindInt, nil
	case t.Kind() == reflect.Uint8:
		return kindUint, nil
	case t.Kind() == reflect.Float64:
		return kindFloat, nil
	case t.Kind() == reflect.String:
		return kindString, nil
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return kindBytes, nil
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		return kindArray, nil
	case t.Kind() == reflect.Struct:
		return kindStruct, nil
	}
	return 0, fmt.Errorf("the codec cannot encode %s", t)
}

// snake converts JobID to job_id, the form in which errors name fields.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(runes[i-1]) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
