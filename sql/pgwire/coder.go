package pgwire

import (
	"github.com/rotajobs/rota/sql/kind"
)

// coder encodes values of one kind.
type coder struct {
	size   int16 // of the binary format; -1: variable
	text   encoder
	binary encoder
}

var textCoder = coder{-1, textOf, textOf}

// oidCoder encodes object identifiers of the catalogue: unsigned numbers of four bytes. Some
// columns contain the name with the number.
func oidCoder(k kind.Kind) coder { return coder{4, textOf, unsignedBinary(k)} }

// coders maps the kinds that are not arrays.
var coders = map[kind.Kind]coder{
	kind.Unknown: textCoder, kind.Text: textCoder, kind.Varchar: textCoder, kind.BPChar: textCoder, kind.NodeTree: textCoder, kind.ACLItem: textCoder,
	kind.Char: {1, textOf, textOf}, kind.Name: {64, textOf, textOf},
	kind.UUID: {16, textOf, uuidBinary},

	kind.Integer: {8, integerText(kind.Integer, 64), integerBinary(kind.Integer, 8)},
	kind.Int4:    {4, integerText(kind.Int4, 32), integerBinary(kind.Int4, 4)},
	kind.Int2:    {2, integerText(kind.Int2, 16), integerBinary(kind.Int2, 2)},
	kind.Float:   {8, floatText(64), floatBinary(64)},
	kind.Float4:  {4, floatText(32), floatBinary(32)},
	kind.Numeric: {-1, numericText, numericBinary},
	kind.Boolean: {1, booleanText, booleanBinary},

	kind.Timestamp: {8, stampText, stampBinary},
	kind.Local:     {8, localText, localBinary},
	kind.Date:      {4, dateText, dateBinary},
	kind.Time:      {8, timeText, timeBinary},
	kind.Interval:  {16, intervalText, intervalBinary},

	kind.JSON: {-1, textOf, jsonbBinary}, kind.PlainJSON: textCoder,
	kind.Bytea: {-1, byteaText, byteaBinary},
	kind.Inet:  {-1, textOf, inetBinary},

	kind.OID: oidCoder(kind.OID), kind.XID: oidCoder(kind.XID),
	kind.Regclass: oidCoder(kind.Regclass), kind.Regtype: oidCoder(kind.Regtype), kind.Regproc: oidCoder(kind.Regproc),
	kind.Regspace: oidCoder(kind.Regspace), kind.Regrole: oidCoder(kind.Regrole),

	kind.Void: {4, voidValue, voidValue},
}

// These coders use other coders, so they are added after the map exists.
func init() {
	coders[kind.Int2s] = coder{-1, vectorText, arrayBinary(kind.Int2, 0)}
	coders[kind.OIDs] = coder{-1, vectorText, arrayBinary(kind.OID, 0)}
	coders[kind.Record] = coder{-1, recordText, recordBinary}
	coders[kind.AnyArray] = coder{-1, arrayText(kind.Text), arrayBinary(kind.Text, 1)}
	for k := range coders {
		if array := k.Array(); array.OID() != 0 {
			arrays[array] = coder{-1, arrayText(k), arrayBinary(k, 1)}
		}
	}
}

// arrays maps the kinds of arrays.
var arrays = map[kind.Kind]coder{}

// coderOf returns the coder of a kind. Unknown kinds are encoded as text.
func coderOf(k kind.Kind) coder {
	if c, plain := coders[k]; plain {
		return c
	}
	if c, is := arrays[k]; is {
		return c
	}
	return textCoder
}
