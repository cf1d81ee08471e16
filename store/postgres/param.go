package postgres

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// Parameters are sent in PostgreSQL's binary format with their types declared. A batch is sent as
// columns: one array for each, however many rows it has.

// The OIDs of the parameter types in PostgreSQL's catalog.
const (
	oidBool   uint32 = 16
	oidInt    uint32 = 20
	oidText   uint32 = 25
	oidFloat  uint32 = 701
	oidID     uint32 = 2950
	oidBools  uint32 = 1000
	oidInts   uint32 = 1016
	oidInt4   uint32 = 23 // int4; oidInt is int8
	oidInt4s  uint32 = 1007
	oidTexts  uint32 = 1009
	oidFloats uint32 = 1022
	oidIDs    uint32 = 2951
	oidXids   uint32 = 1011
	oidXid    uint32 = 28
	oidBytea  uint32 = 17
	oidByteas uint32 = 1001
)

// param is one parameter. A param without data is NULL.
type param struct {
	oid  uint32
	data []byte
}

// The constructors turn a zero id or time, an empty text and empty JSON into NULL.

func idParam(id rota.ID) param {
	if id.IsZero() {
		return param{oid: oidID}
	}
	return param{oidID, id[:]}
}

func intParam(n int64) param { return param{oidInt, binary.BigEndian.AppendUint64(nil, uint64(n))} }

// xidParam is a transaction id.
func xidParam(x uint32) param { return param{oidXid, binary.BigEndian.AppendUint32(nil, x)} }

func timeParam(t time.Time) param {
	if t.IsZero() {
		return param{oid: oidInt}
	}
	return intParam(t.UnixMicro())
}

// textParam turns an empty text into NULL.
func textParam(text string) param {
	if text == "" {
		return param{oid: oidText}
	}
	return textNotNull(text)
}

// textNotNull is a text that is never NULL.
func textNotNull(text string) param { return param{oidText, append([]byte{}, text...)} }

func boolParam(is bool) param {
	if is {
		return param{oidBool, []byte{1}}
	}
	return param{oidBool, []byte{0}}
}

// column builds an array parameter. Its header is filled in by param.
type column struct {
	oid   uint32 // OID of the array type
	data  []byte
	count int
	nulls bool
}

// arrayHeader is the length of the header: dimensions, whether there are NULLs, the element type,
// the length and the lower bound.
const arrayHeader = 20

var elements = map[uint32]uint32{
	oidBools: oidBool, oidInts: oidInt, oidInt4s: oidInt4, oidTexts: oidText, oidFloats: oidFloat, oidIDs: oidID, oidXids: oidXid, oidByteas: oidBytea,
}

func newColumn(oid uint32, rows int) *column {
	return &column{oid: oid, data: make([]byte, arrayHeader, arrayHeader+rows*20)}
}

// The exported methods implement storekit.Param. Each adds one element.

func (c *column) Null() {
	c.count++
	c.nulls = true
	c.data = binary.BigEndian.AppendUint32(c.data, math.MaxUint32)
}

func (c *column) Text(text string) {
	c.length(len(text))
	c.data = append(c.data, text...)
}

func (c *column) Int(n int64) {
	c.length(8)
	c.data = binary.BigEndian.AppendUint64(c.data, uint64(n))
}

// Small adds a value of four bytes, which COPY requires for an int4 column.
func (c *column) Small(n int) {
	c.length(4)
	c.data = binary.BigEndian.AppendUint32(c.data, uint32(int32(n)))
}

func (c *column) Float(f float64) {
	c.length(8)
	c.data = binary.BigEndian.AppendUint64(c.data, math.Float64bits(f))
}

func (c *column) Bool(is bool) {
	c.length(1)
	if is {
		c.data = append(c.data, 1)
	} else {
		c.data = append(c.data, 0)
	}
}

func (c *column) ID(id rota.ID) { c.bytes(id[:]) }

// Bytes adds bytes.
func (c *column) Bytes(b []byte) { c.bytes(b) }

func (c *column) length(n int) {
	c.count++
	c.data = binary.BigEndian.AppendUint32(c.data, uint32(n))
}

// bytes adds an id or other bytes.
func (c *column) bytes(b []byte) {
	c.length(len(b))
	c.data = append(c.data, b...)
}

func (c *column) time(t time.Time) {
	if t.IsZero() {
		c.Null()
		return
	}
	c.Int(t.UnixMicro())
}

func (c *column) xid(x uint32) {
	c.length(4)
	c.data = binary.BigEndian.AppendUint32(c.data, x)
}

// param returns the array.
func (c *column) param() param {
	h := c.data[:arrayHeader]
	binary.BigEndian.PutUint32(h, 1)
	if c.count == 0 {
		binary.BigEndian.PutUint32(h, 0) // an empty array has no dimension
		c.data = c.data[:12]
	}
	if c.nulls {
		binary.BigEndian.PutUint32(h[4:], 1)
	}
	binary.BigEndian.PutUint32(h[8:], elements[c.oid])
	if c.count > 0 {
		binary.BigEndian.PutUint32(h[12:], uint32(c.count))
		binary.BigEndian.PutUint32(h[16:], 1)
	}
	return param{c.oid, c.data}
}

func idsParam(ids []rota.ID) param {
	c := newColumn(oidIDs, len(ids))
	for i := range ids {
		c.bytes(ids[i][:])
	}
	return c.param()
}

func textsParam(texts []string) param {
	c := newColumn(oidTexts, len(texts))
	for _, text := range texts {
		c.Text(text)
	}
	return c.param()
}

func intsParam[N int | int64](ints []N) param {
	c := newColumn(oidInts, len(ints))
	for _, n := range ints {
		c.Int(int64(n))
	}
	return c.param()
}

// arrayOf is the type of an array of each kind.
var arrayOf = map[storekit.Kind]uint32{
	storekit.Text: oidTexts, storekit.Int: oidInts, storekit.Small: oidInt4s, storekit.Float: oidFloats, storekit.Bool: oidBools,
	storekit.ID: oidIDs, storekit.Bytes: oidByteas,
}

// single returns the only element as a parameter of its own.
func (c *column) single() param {
	if c.nulls {
		return param{oid: elements[c.oid]}
	}
	return param{elements[c.oid], c.data[arrayHeader+4:]}
}

// paramsFrom returns the parameters of the arguments of a statement of storekit.
func paramsFrom(args []any) []param {
	params := make([]param, len(args))
	for i, arg := range args {
		c := newColumn(arrayOf[storekit.KindOf(arg)], 1)
		storekit.Pass(c, arg)
		params[i] = c.single()
	}
	return params
}

// statementOf returns a statement of storekit.
func statementOf(sql string, each func(storekit.Row) error, args []any) statement {
	s := statement{sql: sql, params: paramsFrom(args)}
	if each != nil {
		s.eachRow = func(r row) error { return each(r) }
	}
	return s
}

// columnsOf returns the columns of rows, each as an array.
func columnsOf[T any](columns []*storekit.Column[T], rows []T) []param {
	params := make([]param, len(columns))
	for i, of := range columns {
		c := newColumn(arrayOf[of.Kind], len(rows))
		for j := range rows {
			of.Write(c, &rows[j])
		}
		params[i] = c.param()
	}
	return params
}
