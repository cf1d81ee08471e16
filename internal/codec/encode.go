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
		value := v.Field(f.index)
		if f.shape == shapeOne && isZero(f.kind, value) {
			continue
		}
		if err := e.field(f, value); err != nil {
			return err
		}
	}
	if n := len(e.buf) - e.start; n > e.bytes {
		return e.tooLong(n)
	}
	return nil
}

// field writes a field that is not a shapeOne or is not zero.
func (e *encoder) field(f *planField, v reflect.Value) *rota.Error {
	switch f.shape {
	case shapeMany:
		return e.list(f, v)
	case shapeOpt:
		if v.IsNil() {
			return nil
		}
		err := e.allocate(1, f.target)
		if err == nil {
			err = e.value(f, v.Elem())
		}
		return at(f.name, err)
	}
	if f.kind == kindStruct {
		return at(f.name, e.inner(f, v))
	}
	return at(f.name, e.value(f, v))
}

// isZero reports whether a value is omitted. A time that is zero in microseconds is.
func isZero(k kind, v reflect.Value) bool {
	switch k {
	case kindString:
		return v.Len() == 0
	case kindInt:
		return v.Int() == 0
	case kindTime:
		t := timeOf(v)
		return t.IsZero() || t.Unix() == zeroTime && t.Nanosecond() < int(time.Microsecond)
	case kindBytes:
		return v.IsNil()
	}
	return v.IsZero()
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
	case kindTime:
		n, err := micros(timeOf(v))
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

// timeOf returns the time in v without a copy of it.
func timeOf(v reflect.Value) *time.Time { return v.Addr().Interface().(*time.Time) }

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
