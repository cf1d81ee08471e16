package pgwire

import (
	"maps"

	"github.com/rotajobs/rota/sql/kind"
)

// coder encodes values of one kind.
type coder struct {
	size   int16 // of the binary format; -1: variable
	text   encoder
	binary encoder
}

var textCoder = coder{-1, textOf, textOf}

// oidKinds are the object identifiers of the catalogue: unsigned numbers of four bytes. Some
// columns contain the name with the number.
var oidKinds = []kind.Kind{kind.OID, kind.XID, kind.Regclass, kind.Regtype, kind.Regproc, kind.Regspace, kind.Regrole}

// coders are the coders of all kinds. init adds those of arrays.
var coders = map[kind.Kind]coder{
	kind.Unknown: textCoder, kind.Text: textCoder, kind.Varchar: textCoder, kind.BPChar: textCoder, kind.NodeTree: textCoder, kind.ACLItem: textCoder,
	kind.Char: {1, textOf, textOf}, kind.Name: {64, textOf, textOf},
	kind.UUID: {16, textOf, uuidBinary},

	kind.Integer: {8, integerText(kind.Integer, 64), integerBinary(kind.Integer, 8)},
	kind.Int4:    {4, integerText(kind.Int4, 32), integerBinary(kind.Int4, 4)},
	kind.Int2:    {2, integerText(kind.Int2, 16), integerBinary(kind.Int2, 2)},
	kind.Float:   {8, floatText(64), floatBinary(64)},
	kind.Float4:  {4, floatText(32), floatBinary(32)},
	kind.Numeric: {-1, formatted(kind.Numeric), transcoded(kind.Numeric)},
	kind.Boolean: {1, booleanText, booleanBinary},

	kind.Timestamp: {8, stampText, microsBinary(kind.Timestamp)},
	kind.Local:     {8, localText, microsBinary(kind.Local)},
	kind.Date:      {4, formatted(kind.Date), transcoded(kind.Date)},
	kind.Time:      {8, formatted(kind.Time), transcoded(kind.Time)},
	kind.Interval:  {16, formatted(kind.Interval), transcoded(kind.Interval)},

	kind.JSON: {-1, textOf, jsonbBinary}, kind.PlainJSON: textCoder,
	kind.Bytea: {-1, byteaText, byteaBinary},
	kind.Inet:  {-1, formatted(kind.Inet), transcoded(kind.Inet)},

	kind.Void: {4, voidValue, voidValue},
}

// These coders use other coders, so they are added after the map exists.
func init() {
	for _, k := range oidKinds {
		coders[k] = coder{4, textOf, unsignedBinary(k)}
	}
	coders[kind.Record] = coder{-1, formatted(kind.Record), recordBinary}
	coders[kind.Int2s] = coder{-1, formatted(kind.Int2s), transcoded(kind.Int2s)}
	coders[kind.OIDs] = coder{-1, formatted(kind.OIDs), transcoded(kind.OIDs)}
	coders[kind.AnyArray] = coder{-1, formatted(kind.Text.Array()), transcoded(kind.Text.Array())}
	for k := range maps.Clone(coders) {
		if array := k.Array(); array.OID() != 0 {
			coders[array] = coder{-1, formatted(array), transcoded(array)}
		}
	}
}

// coderOf returns the coder of a kind. Unknown kinds are encoded as text.
func coderOf(k kind.Kind) coder {
	if c, known := coders[k]; known {
		return c
	}
	return textCoder
}
