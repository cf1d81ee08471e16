package pgwire

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/console/dialect"
	"github.com/rotajobs/rota/console/kind"
	"github.com/rotajobs/rota/console/sys"
)

// values is what the look of values depends on beside their kind.
type values struct {
	place string // the name of the zone
	zone  *time.Location
}

// encoder appends a value as it looks on the wire. The value is not NULL.
type encoder func(dst []byte, value any, v *values) ([]byte, error)

// column is one of an answer.
type column struct {
	name   string
	from   dialect.Origin
	kind   kind.Kind
	format int16
	values *values
	encode encoder
}

// columns are those of an answer, in the formats that were asked for; nil: text.
func (c *conn) columns(list []sys.Column, formats []int16) []column {
	all := make([]column, len(list))
	for i, one := range list {
		k := kind.Kind(one.Kind)
		coder := coderOf(k)
		all[i] = column{name: one.Name, from: one.From, kind: k, values: &c.values, encode: coder.text}
		if formats != nil && formats[i] == pgproto3.BinaryFormat {
			all[i].format, all[i].encode = formats[i], coder.binary
		}
	}
	return all
}

// described says what columns are.
func described(columns []column) *pgproto3.RowDescription {
	m := &pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(columns))}
	for i, c := range columns {
		m.Fields[i] = pgproto3.FieldDescription{
			Name: []byte(clean(c.name)), TableOID: uint32(c.from.Table), TableAttributeNumber: uint16(c.from.Number),
			DataTypeOID: oidOf(c.kind), DataTypeSize: coderOf(c.kind).size, TypeModifier: -1, Format: c.format,
		}
	}
	return m
}

// oidOf is the number of a kind. What is not known is a text.
func oidOf(k kind.Kind) uint32 {
	if oid := k.OID(); oid != 0 && k != kind.Unknown {
		return oid
	}
	return kind.Text.OID()
}

// append puts a value behind its length.
func (c *column) append(dst []byte, value any) ([]byte, error) {
	dst, err := c.values.sized(dst, value, c.encode)
	if err == nil {
		return dst, nil
	}
	var own *console.Error
	if errors.As(err, &own) {
		named := *own
		named.Message = "column \"" + c.name + "\": " + own.Message
		return dst, &named
	}
	return dst, refuse(stateData, "", "column %q: %s", c.name, err)
}

// sized appends the length of a value, and the value.
func (v *values) sized(dst []byte, value any, encode encoder) ([]byte, error) {
	if value == nil {
		return binary.BigEndian.AppendUint32(dst, 0xFFFFFFFF), nil
	}
	start := len(dst)
	dst, err := encode(append(dst, 0, 0, 0, 0), value, v)
	if err != nil {
		return dst, err
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst, nil
}

// unfit refuses a value that is not what its column says it holds.
func unfit(value any, k kind.Kind) error {
	return refuse(stateData, "", "a value of the type %T is no %s", value, k)
}
