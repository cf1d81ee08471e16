package codec

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotajobs/rota"
)

// encoder appends one batch to buf. It refuses a batch that exceeds the limits of the
// decoder.
type encoder struct {
	buf     []byte
	start   int // where the batch starts in buf
	entries int
	depth   int // nesting depth of lists of commands
}

func (e *encoder) message(p *plan, v reflect.Value) *rota.Error {
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

func (e *encoder) field(f *planField, v reflect.Value) *rota.Error {
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

// inner writes a struct, or nothing if all its fields are empty. Go's IsZero is not
// enough: a struct with an empty, non-nil list is not zero.
func (e *encoder) inner(f *planField, v reflect.Value) *rota.Error {
	e.buf = protowire.AppendTag(e.buf, f.number, wireType[f.kind])
	from := len(e.buf)
	if err := e.nested(func() *rota.Error { return e.message(f.inner, v) }); err != nil {
		return err
	}
	if len(e.buf) == from+1 {
		e.buf = e.buf[:from-protowire.SizeTag(f.number)]
	}
	return nil
}

func (e *encoder) list(f *planField, v reflect.Value) *rota.Error {
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

func (e *encoder) value(f *planField, v reflect.Value) *rota.Error {
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
		return e.nested(func() *rota.Error { return e.message(f.inner, v) })
	case kindCommand:
		return e.nested(func() *rota.Error { return e.command(v) })
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

func (e *encoder) command(v reflect.Value) *rota.Error {
	if v.IsNil() || v.Elem().Kind() != reflect.Pointer || v.Elem().IsNil() {
		return rota.Invalidf("", "the command is nil")
	}
	body := v.Elem().Elem()
	number, known := commandNumbers[body.Type()]
	switch {
	case !known:
		return rota.Invalidf("", "%s is not a command of Rota", body.Type())
	case number == allNumber && e.depth > 0:
		return nestedAll()
	}
	e.depth++
	defer func() { e.depth-- }()
	e.buf = protowire.AppendTag(e.buf, number, protowire.BytesType)
	return e.nested(func() *rota.Error { return e.message(commandPlans[number], body) })
}

func nestedAll() *rota.Error { return rota.Invalidf("", "an All cannot contain an All") }

// micros truncates a time to microseconds, the precision of the rules.
func micros(v reflect.Value) time.Time {
	return v.Addr().Interface().(*time.Time).Truncate(time.Microsecond)
}

// checkWireTime allows the years that RFC 3339 can write.
func checkWireTime(t time.Time) *rota.Error {
	if y := t.UTC().Year(); y < 1 || y > rota.YearMax {
		return rota.Invalidf("", "is in the year %d; allowed are 1 to %d", y, rota.YearMax)
	}
	return nil
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
