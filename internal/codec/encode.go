package codec

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotajobs/rota"
)

// encoder appends one encoding to buf. It refuses what exceeds the limits of the
// decoder.
type encoder struct {
	buf   []byte
	start int // where the encoding starts in buf
	depth int // nesting depth of commands or replies
	counter
}

func (e *encoder) message(p *plan, v reflect.Value) *rota.Error {
	for i := range p.fields {
		f := &p.fields[i]
		if err := e.field(f, v.Field(f.index)); err != nil {
			return err
		}
	}
	if n := len(e.buf) - e.start; n > e.bytes {
		return e.tooLong(n)
	}
	return nil
}

// field writes a field, or nothing if it is zero. The kinds that jobs have most come first, and
// without a call: most fields of a job are zero.
func (e *encoder) field(f *planField, v reflect.Value) *rota.Error {
	switch {
	case f.shape == shapeMany:
		return e.list(f, v)
	case f.shape == shapeOpt:
		return e.pointer(f, v)
	case f.kind == kindString:
		if s := v.String(); s != "" {
			e.buf = protowire.AppendString(append(e.buf, f.tag...), s)
		}
		return nil
	case f.kind == kindTime:
		return e.time(f, v.Addr().Interface().(*time.Time))
	case f.kind == kindInt && v.Int() == 0, f.kind != kindInt && v.IsZero():
		return nil
	case f.kind == kindStruct:
		return at(f.name, e.inner(f, v))
	}
	return at(f.name, e.value(f, v))
}

func (e *encoder) pointer(f *planField, v reflect.Value) *rota.Error {
	if v.IsNil() {
		return nil
	}
	err := e.allocate(1, f.target)
	if err == nil {
		err = e.value(f, v.Elem())
	}
	return at(f.name, err)
}

// time writes a time, or nothing if it is zero in microseconds.
func (e *encoder) time(f *planField, t *time.Time) *rota.Error {
	if t.IsZero() {
		return nil
	}
	n, err := micros(t)
	if err != nil {
		return at(f.name, err)
	}
	if n != zeroTime*1_000_000 {
		e.buf = protowire.AppendVarint(append(e.buf, f.tag...), protowire.EncodeZigZag(n))
	}
	return nil
}

// inner writes a struct, or nothing if all its fields are empty. Go's IsZero is not
// enough: a struct with an empty, non-nil list is not zero.
func (e *encoder) inner(f *planField, v reflect.Value) *rota.Error {
	e.buf = append(e.buf, f.tag...)
	from := len(e.buf)
	if err := e.nested(func() *rota.Error { return e.message(f.inner, v) }); err != nil {
		return err
	}
	if len(e.buf) == from+1 {
		e.buf = e.buf[:from-len(f.tag)]
	}
	return nil
}

func (e *encoder) list(f *planField, v reflect.Value) *rota.Error {
	if err := e.allocate(v.Len(), f.slot); err != nil {
		return at(f.name, err)
	}
	for i := range v.Len() {
		err := e.entry(i)
		if err == nil {
			err = e.element(f, v.Index(i))
		}
		if err != nil {
			return at(fmt.Sprintf("%s[%d]", f.name, i), err)
		}
	}
	return nil
}

func (e *encoder) element(f *planField, v reflect.Value) *rota.Error {
	switch {
	case !f.pointers:
		return e.value(f, v)
	case v.IsNil():
		return rota.Invalidf("", "the entry is nil")
	}
	if err := e.allocate(1, f.target); err != nil {
		return err
	}
	return e.value(f, v.Elem())
}

func (e *encoder) value(f *planField, v reflect.Value) *rota.Error {
	e.buf = append(e.buf, f.tag...)
	switch f.kind {
	case kindBool:
		e.buf = protowire.AppendVarint(e.buf, protowire.EncodeBool(v.Bool()))
	case kindInt:
		e.buf = protowire.AppendVarint(e.buf, protowire.EncodeZigZag(v.Int()))
	case kindUint:
		e.buf = protowire.AppendVarint(e.buf, v.Uint())
	case kindFloat:
		e.buf = protowire.AppendFixed64(e.buf, math.Float64bits(v.Float()))
	case kindString:
		e.buf = protowire.AppendString(e.buf, v.String())
	case kindBytes, kindArray:
		e.buf = protowire.AppendBytes(e.buf, v.Bytes())
	case kindTime: // in a list or behind a pointer, where zero is written too
		n, err := micros(v.Addr().Interface().(*time.Time))
		e.buf = protowire.AppendVarint(e.buf, protowire.EncodeZigZag(n))
		return err
	case kindStruct:
		return e.nested(func() *rota.Error { return e.message(f.inner, v) })
	case kindCommand, kindReply:
		return e.nested(func() *rota.Error { return e.member(f.kind, v) })
	case kindCause:
		e.buf = protowire.AppendString(e.buf, v.Interface().(error).Error())
	}
	return nil
}

// nested writes the output of body with its length in front. Most messages are short:
// nested reserves one byte for the length and shifts the few long messages.
func (e *encoder) nested(body func() *rota.Error) *rota.Error {
	from := len(e.buf)
	e.buf = append(e.buf, 0)
	if err := body(); err != nil {
		return err
	}
	n := len(e.buf) - from - 1
	extra := protowire.SizeVarint(uint64(n)) - 1
	e.buf = append(e.buf, make([]byte, extra)...)
	copy(e.buf[from+1+extra:], e.buf[from+1:from+1+n])
	protowire.AppendVarint(e.buf[:from], uint64(n))
	return nil
}

// member writes a command or a reply: a message whose only field number is its number
// in the table. A nil reply is an empty message; a command is never nil.
func (e *encoder) member(k kind, v reflect.Value) *rota.Error {
	set := setOf(k)
	switch {
	case v.IsNil() && k == kindReply:
		return nil
	case v.IsNil() || v.Elem().Kind() != reflect.Pointer || v.Elem().IsNil():
		return rota.Invalidf("", "the %s is nil", set.name)
	}
	body := v.Elem().Elem()
	number, known := set.numbers[body.Type()]
	switch {
	case !known:
		return rota.Invalidf("", "%s is not a %s of Rota", body.Type(), set.name)
	case number == set.all && e.depth > 0:
		return set.nestedAll()
	}
	if err := e.allocate(1, set.sizes[number]); err != nil {
		return err
	}
	e.depth++
	defer func() { e.depth-- }()
	e.buf = protowire.AppendTag(e.buf, number, protowire.BytesType)
	return e.nested(func() *rota.Error { return e.message(set.plans[number], body) })
}

// The first and the last second of the years that RFC 3339 can write.
var (
	zeroTime = time.Time{}.Unix()
	lastTime = time.Date(rota.YearMax+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix() - 1
)

// micros returns the microseconds since 1970, which is the precision of the rules.
func micros(t *time.Time) (int64, *rota.Error) {
	seconds := t.Unix()
	if seconds < zeroTime || seconds > lastTime {
		return 0, rota.Invalidf("", "is in the year %d; allowed are 1 to %d", t.UTC().Year(), rota.YearMax)
	}
	return seconds*1_000_000 + int64(t.Nanosecond()/1000), nil
}

// at prefixes the field of an error with a path.
func at(path string, err *rota.Error) *rota.Error {
	if err == nil {
		return nil
	}
	inner := *err
	inner.Field = path
	if err.Field != "" {
		inner.Field += "." + err.Field
	}
	return &inner
}
