package pgwire

import (
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/system"
	"github.com/rotajobs/rota/sql/translate"
)

// formatSettings are the session settings that the format of values depends on.
type formatSettings struct {
	zoneName string // name of the time zone
	zone     *time.Location
}

// encoder appends the encoded value, which is not NULL.
type encoder func(dst []byte, value any, v *formatSettings) ([]byte, error)

// column is one column of an answer.
type column struct {
	name     string
	from     translate.Origin
	kind     kind.Kind
	format   int16
	settings *formatSettings
	encode   encoder
}

// columns returns the columns of an answer with the requested formats; nil means text.
func (c *conn) columns(list []system.Column, formats []int16) []column {
	all := make([]column, len(list))
	for i, one := range list {
		k := kind.Kind(one.Kind)
		coder := coderOf(k)
		all[i] = column{name: one.Name, from: one.From, kind: k, settings: &c.settings, encode: coder.text}
		if formats != nil && formats[i] == pgproto3.BinaryFormat {
			all[i].format, all[i].encode = formats[i], coder.binary
		}
	}
	return all
}

// rowDescription describes the columns to the client.
func rowDescription(columns []column) *pgproto3.RowDescription {
	m := &pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(columns))}
	for i, c := range columns {
		m.Fields[i] = pgproto3.FieldDescription{
			Name: []byte(cutAtNUL(c.name)), TableOID: uint32(c.from.Table), TableAttributeNumber: uint16(c.from.Number),
			DataTypeOID: oidOf(c.kind), DataTypeSize: coderOf(c.kind).size, TypeModifier: -1, Format: c.format,
		}
	}
	return m
}

// oidOf returns the OID of a kind. Unknown kinds are described as text.
func oidOf(k kind.Kind) uint32 {
	if oid := k.OID(); oid != 0 && k != kind.Unknown {
		return oid
	}
	return kind.Text.OID()
}

// append appends the length of a value and the value.
func (c *column) append(dst []byte, value any) ([]byte, error) {
	dst, err := c.settings.sized(dst, value, c.encode)
	if err != nil {
		return dst, prefixed(err, `column "`+c.name+`": `)
	}
	return dst, nil
}

// sized appends the length of a value and the value.
func (v *formatSettings) sized(dst []byte, value any, encode encoder) ([]byte, error) {
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

// wrongType is the error of a value whose Go type does not fit its column.
func wrongType(value any, k kind.Kind) error {
	return errorf(stateData, "", "value of internal type %T is not a valid %s", value, k)
}
