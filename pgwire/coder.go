package pgwire

import (
	"github.com/rotajobs/rota/console/kind"
)

// coder is how values of a kind look on the wire.
type coder struct {
	size   int16 // of the binary form; -1: it varies
	text   encoder
	binary encoder
}

var words = coder{-1, textOf, textOf}

// numbered are the catalogue's ids: numbers of four bytes without a sign, which
// some columns hold the name for.
func numbered(k kind.Kind) coder { return coder{4, textOf, unsigned(k)} }

// coders are those of the kinds that are no arrays.
var coders = map[kind.Kind]coder{
	kind.Unknown: words, kind.Text: words, kind.Varchar: words, kind.BPChar: words, kind.NodeTree: words, kind.ACLItem: words,
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

	kind.JSON: {-1, textOf, jsonbBinary}, kind.PlainJSON: words,
	kind.Bytea: {-1, byteaText, byteaBinary},
	kind.Inet:  {-1, textOf, inetBinary},

	kind.OID: numbered(kind.OID), kind.XID: numbered(kind.XID),
	kind.Regclass: numbered(kind.Regclass), kind.Regtype: numbered(kind.Regtype), kind.Regproc: numbered(kind.Regproc),
	kind.Regspace: numbered(kind.Regspace), kind.Regrole: numbered(kind.Regrole),

	kind.Void: {4, nothing, nothing},
}

// The coders that look others up are added when those are there.
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

// arrays are the coders of arrays.
var arrays = map[kind.Kind]coder{}

// coderOf is how values of a kind look. What is not known looks like a text.
func coderOf(k kind.Kind) coder {
	if c, plain := coders[k]; plain {
		return c
	}
	if c, is := arrays[k]; is {
		return c
	}
	return words
}
