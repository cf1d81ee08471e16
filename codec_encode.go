package rota

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// encoder appends one batch to buf, which it may only do while it keeps the
// limits that the decoder will hold it to.
type encoder struct {
	buf     []byte
	start   int // of the batch in buf
	entries int
	depth   int // how many lists of commands are open
}

func (e *encoder) message(p *plan, v reflect.Value) *Error {
	for i := range p.fields {
		f := &p.fields[i]
		if err := e.field(f, v.Field(f.index)); err != nil {
			return err
		}
	}
	if n := len(e.buf) - e.start; n > EncodedMax {
		return tooLong(n)
	}
	return nil
}

func (e *encoder) field(f *planField, v reflect.Value) *Error {
	switch {
	case f.shape == shapeMany:
		return e.list(f, v)
	case f.shape == shapeOpt && v.IsNil():
		return nil
	case f.shape == shapeOpt:
		return at(f.name, e.value(f, v.Elem()))
	case f.kind == kindTime && micros(v).IsZero(), v.IsZero():
		return nil
	case f.kind == kindStruct:
		return at(f.name, e.inner(f, v))
	}
	return at(f.name, e.value(f, v))
}

// inner writes a struct, and nothing if it turns out to hold nothing: one with
// an empty list in it is not zero to Go.
func (e *encoder) inner(f *planField, v reflect.Value) *Error {
	e.buf = protowire.AppendTag(e.buf, f.number, wireType[f.kind])
	from := len(e.buf)
	if err := e.nested(func() *Error { return e.message(f.inner, v) }); err != nil {
		return err
	}
	if len(e.buf) == from+1 {
		e.buf = e.buf[:from-protowire.SizeTag(f.number)]
	}
	return nil
}

func (e *encoder) list(f *planField, v reflect.Value) *Error {
	for i := range v.Len() {
		err := countEntry(&e.entries, i)
		if err == nil {
			err = e.value(f, v.Index(i))
		}
		if err != nil {
			return at(fmt.Sprintf("%s[%d]", f.name, i), err)
		}
	}
	return nil
}

func (e *encoder) value(f *planField, v reflect.Value) *Error {
	e.buf = protowire.AppendTag(e.buf, f.number, wireType[f.kind])
	switch f.kind {
	case kindBool:
		e.buf = protowire.AppendVarint(e.buf, protowire.EncodeBool(v.Bool()))
	case kindInt:
		e.buf = protowire.AppendVarint(e.buf, protowire.EncodeZigZag(v.Int()))
	case kindFloat:
		e.buf = protowire.AppendFixed64(e.buf, math.Float64bits(v.Float()))
	case kindString:
		e.buf = protowire.AppendString(e.buf, v.String())
	case kindBytes, kindArray:
		e.buf = protowire.AppendBytes(e.buf, v.Bytes())
	case kindTime:
		t := micros(v)
		e.buf = protowire.AppendVarint(e.buf, protowire.EncodeZigZag(t.UnixMicro()))
		return checkWireTime(t)
	case kindStruct:
		return e.nested(func() *Error { return e.message(f.inner, v) })
	case kindCommand:
		return e.nested(func() *Error { return e.command(v) })
	}
	return nil
}

// nested writes what body appends with its length in front. Most messages are
// short, so one byte is kept free and the few long ones are shifted.
func (e *encoder) nested(body func() *Error) *Error {
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

func (e *encoder) command(v reflect.Value) *Error {
	if v.IsNil() || v.Elem().Kind() != reflect.Pointer || v.Elem().IsNil() {
		return Invalidf("", "there is no command")
	}
	body := v.Elem().Elem()
	number, known := commandNumbers[body.Type()]
	switch {
	case !known:
		return Invalidf("", "%s is no command of Rota's", body.Type())
	case number == allNumber && e.depth > 0:
		return nestedAll()
	}
	e.depth++
	defer func() { e.depth-- }()
	e.buf = protowire.AppendTag(e.buf, number, protowire.BytesType)
	return e.nested(func() *Error { return e.message(commandPlans[number], body) })
}

func nestedAll() *Error { return Invalidf("", "all cannot be part of all") }

// micros is a time as the law sees it.
func micros(v reflect.Value) time.Time {
	return v.Addr().Interface().(*time.Time).Truncate(time.Microsecond)
}

// checkWireTime holds times to those that text can write too, which is far
// inside what microseconds can count.
func checkWireTime(t time.Time) *Error {
	if y := t.UTC().Year(); y < 1 || y > YearMax {
		return Invalidf("", "is in the year %d; allowed are 1 to %d", y, YearMax)
	}
	return nil
}

// at puts the path of a value in front of what is wrong inside it.
func at(path string, err *Error) *Error {
	if err == nil {
		return nil
	}
	return asType(within(path, err))
}
