package codec

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotajobs/rota"
)

// decoder decodes one batch or one list of results. It accepts only the canonical
// encoding. It allocates at most a small multiple of what it has read, and what the limits
// allow in addition.
type decoder struct {
	data  []byte // unread rest of the current message
	depth int    // nesting depth of commands or replies
	counter
}

func (d *decoder) message(p *plan, v reflect.Value) *rota.Error {
	last, index := -1, 0 // index in the plan of the previous field, and number of its entries so far
	for len(d.data) > 0 {
		number, wire, err := d.tag()
		if err != nil {
			return err
		}
		i := p.find(number, last)
		if i < 0 {
			return rota.Invalidf("", "unknown field %d", number)
		}
		f := &p.fields[i]
		switch {
		case wire != wireType[f.kind]:
			return rota.Invalidf(f.name, "has wire type %d; expected %d", wire, wireType[f.kind])
		case i < last:
			return rota.Invalidf(f.name, "comes after %s; fields are in ascending order", p.fields[last].name)
		case i > last:
			last, index = i, 0
		case f.shape != shapeMany:
			return rota.Invalidf(f.name, "is given twice")
		}
		if err := d.field(f, v.Field(f.index), index); err != nil {
			return err
		}
		index++
	}
	return nil
}

// find returns the index of the field with a number, or -1. It searches from the last
// field on, because fields are in ascending order.
func (p *plan) find(number protowire.Number, last int) int {
	for i := max(last, 0); i < len(p.fields); i++ {
		if p.fields[i].number == number {
			return i
		}
	}
	for i := range last {
		if p.fields[i].number == number {
			return i
		}
	}
	return -1
}

func (d *decoder) field(f *planField, v reflect.Value, index int) *rota.Error {
	switch f.shape {
	case shapeMany:
		if err := d.element(f, v, index); err != nil {
			return at(fmt.Sprintf("%s[%d]", f.name, index), err)
		}
	case shapeOpt:
		return at(f.name, d.pointer(f, v))
	case shapeOne:
		if err := d.value(f, v); err != nil {
			return at(f.name, err)
		}
		if v.IsZero() {
			return rota.Invalidf(f.name, "is zero; zero values are omitted")
		}
	}
	return nil
}

// element decodes an entry of the list v.
func (d *decoder) element(f *planField, v reflect.Value, index int) *rota.Error {
	if err := d.entry(index); err != nil {
		return err
	}
	if index == 0 {
		n := d.entriesAhead(f)
		if err := d.allocate(n, f.slot); err != nil {
			return err
		}
		v.Grow(n)
	}
	v.SetLen(index + 1)
	if f.pointers {
		return d.pointer(f, v.Index(index))
	}
	return d.value(f, v.Index(index))
}

// pointer decodes what the pointer v points to.
func (d *decoder) pointer(f *planField, v reflect.Value) *rota.Error {
	if err := d.allocate(1, f.target); err != nil {
		return err
	}
	v.Set(reflect.New(v.Type().Elem()))
	return d.value(f, v.Elem())
}

// entriesAhead counts the entries of a list whose first tag has been read, so that
// the decoder allocates the list once with its exact size.
func (d *decoder) entriesAhead(f *planField) int {
	rest := d.data
	for count := 1; ; count++ {
		n := protowire.ConsumeFieldValue(f.number, wireType[f.kind], rest)
		if n < 0 || count == d.list {
			return count
		}
		rest = rest[n:]
		number, _, n := protowire.ConsumeTag(rest)
		if n < 0 || number != f.number {
			return count
		}
		rest = rest[n:]
	}
}

func (d *decoder) value(f *planField, v reflect.Value) *rota.Error {
	switch wireType[f.kind] {
	case protowire.VarintType:
		return d.number(f, v)
	case protowire.Fixed64Type:
		bits, n := protowire.ConsumeFixed64(d.data)
		if n < 0 {
			return truncated()
		}
		d.data = d.data[n:]
		v.SetFloat(math.Float64frombits(bits))
		return nil
	}
	body, err := d.bytes()
	if err != nil {
		return err
	}
	switch f.kind {
	case kindString:
		v.SetString(string(body))
	case kindBytes:
		v.SetBytes(append([]byte{}, body...))
	case kindArray:
		if len(body) != v.Len() {
			return rota.Invalidf("", "has %d bytes; expected %d", len(body), v.Len())
		}
		reflect.Copy(v, reflect.ValueOf(body))
	case kindStruct:
		return d.nested(body, func() *rota.Error { return d.message(f.inner, v) })
	case kindCommand, kindReply:
		return d.nested(body, func() *rota.Error { return d.member(f.kind, v) })
	case kindCause:
		v.Set(reflect.ValueOf(cause(body)))
	}
	return nil
}

func (d *decoder) number(f *planField, v reflect.Value) *rota.Error {
	raw, err := d.varint()
	if err != nil {
		return err
	}
	n := protowire.DecodeZigZag(raw)
	switch {
	case f.kind == kindUint && v.OverflowUint(raw):
		return rota.Invalidf("", "is %d; that does not fit the type of the field", raw)
	case f.kind == kindUint:
		v.SetUint(raw)
	case f.kind == kindBool && raw > 1:
		return rota.Invalidf("", "is %d; a bool is 0 or 1", raw)
	case f.kind == kindBool:
		v.SetBool(raw == 1)
	case f.kind == kindTime:
		t := time.UnixMicro(n).UTC()
		*v.Addr().Interface().(*time.Time) = t
		_, err := micros(&t)
		return err
	case v.OverflowInt(n):
		return rota.Invalidf("", "is %d; that does not fit the type of the field", n)
	default:
		v.SetInt(n)
	}
	return nil
}

// member decodes a command or a reply. An empty message is a nil reply.
func (d *decoder) member(k kind, v reflect.Value) *rota.Error {
	if k == kindReply && len(d.data) == 0 {
		return nil
	}
	set := setOf(k)
	number, wire, err := d.tag()
	switch {
	case err != nil:
		return err
	case int(number) >= len(set.types) || set.types[number] == nil:
		return rota.Invalidf("", "unknown %s %d; it may need a later version of this program", set.name, number)
	case wire != protowire.BytesType:
		return rota.Invalidf("", "has wire type %d; expected %d", wire, protowire.BytesType)
	case number == set.all && d.depth > 0:
		return set.nestedAll()
	}
	body, err := d.bytes()
	if err != nil {
		return err
	}
	if len(d.data) > 0 {
		return rota.Invalidf("", "has %d bytes after its %s", len(d.data), set.name)
	}
	if err := d.allocate(1, set.sizes[number]); err != nil {
		return err
	}
	d.depth++
	defer func() { d.depth-- }()
	made := reflect.New(set.types[number])
	v.Set(made)
	return d.nested(body, func() *rota.Error { return d.message(set.plans[number], made.Elem()) })
}

// nested decodes body as a message.
func (d *decoder) nested(body []byte, read func() *rota.Error) *rota.Error {
	rest := d.data
	d.data = body
	err := read()
	d.data = rest
	return err
}

func (d *decoder) tag() (protowire.Number, protowire.Type, *rota.Error) {
	raw, err := d.varint()
	if err != nil {
		return 0, 0, err
	}
	number, wire := protowire.DecodeTag(raw)
	if !number.IsValid() {
		return 0, 0, rota.Invalidf("", "%d is not a field number", raw>>3)
	}
	return number, wire, nil
}

func (d *decoder) varint() (uint64, *rota.Error) {
	raw, n := protowire.ConsumeVarint(d.data)
	switch {
	case len(d.data) == 0 || n < 0 && len(d.data) < 10:
		return 0, truncated()
	case n < 0 || n != protowire.SizeVarint(raw):
		return 0, rota.Invalidf("", "a number is not in its shortest form")
	}
	d.data = d.data[n:]
	return raw, nil
}

func (d *decoder) bytes() ([]byte, *rota.Error) {
	n, err := d.varint()
	switch {
	case err != nil:
		return nil, err
	case n > uint64(len(d.data)):
		return nil, rota.Invalidf("", "has a length of %d bytes, but %d are left", n, len(d.data))
	}
	body := d.data[:n]
	d.data = d.data[n:]
	return body, nil
}

func truncated() *rota.Error { return rota.Invalidf("", "the input ends in the middle of a value") }
