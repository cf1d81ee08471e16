package pgwire

import (
	"net/netip"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/rotajobs/rota/sql/kind"
)

// transcoder converts a value from one format to the other.
type transcoder func(dst []byte, from int16, raw []byte) ([]byte, error)

// transcoders convert by the types of pgx. Kinds that occur in most rows have encoders of their
// own, which are faster.
var transcoders = map[kind.Kind]transcoder{}

func init() {
	for _, k := range append(textKinds, kind.Text, kind.Varchar, kind.BPChar, kind.Name, kind.PlainJSON, kind.JSON) {
		transcodeBy[*string](k)
	}
	for _, k := range oidKinds {
		transcodeBy[pgtype.Uint32](k)
	}
	transcodeBy[pgtype.Int8](kind.Integer)
	transcodeBy[pgtype.Int4](kind.Int4)
	transcodeBy[pgtype.Int2](kind.Int2)
	transcodeBy[pgtype.Float8](kind.Float)
	transcodeBy[pgtype.Float4](kind.Float4)
	transcodeBy[pgtype.Numeric](kind.Numeric)
	transcodeBy[pgtype.Bool](kind.Boolean)
	transcodeBy[pgtype.UUID](kind.UUID)
	transcodeBy[pgtype.Timestamptz](kind.Timestamp)
	transcodeBy[pgtype.Timestamp](kind.Local)
	transcodeBy[pgtype.Date](kind.Date)
	transcodeBy[pgtype.Time](kind.Time)
	transcodeBy[pgtype.Interval](kind.Interval)
	transcodeBy[[]byte](kind.Bytea)
	transcodeBy[*netip.Prefix](kind.Inet)
	transcoders[kind.Int2s] = transcodeVector[pgtype.Int2](kind.Int2.Array())
	transcoders[kind.OIDs] = transcodeVector[pgtype.Uint32](kind.OID.Array())
}

// transcodeBy adds the transcoders of a kind and of its array, which use a type of pgx.
func transcodeBy[T any](k kind.Kind) {
	transcoders[k] = transcodeValue(k, func(*T) {})
	transcoders[k.Array()] = transcodeValue(k.Array(), func(*pgtype.Array[T]) {})
}

// textKinds are kinds whose binary format is their text. pgx has other types for them, which
// cannot be empty or have no binary format.
var textKinds = []kind.Kind{kind.Char, kind.ACLItem}

// typeMaps are registries of pgx's types. One goroutine at a time may use a registry.
var typeMaps = sync.Pool{New: func() any {
	m := pgtype.NewMap()
	for _, k := range oidKinds {
		registerType(m, k, pgtype.Uint32Codec{})
	}
	for _, k := range textKinds {
		registerType(m, k, pgtype.TextCodec{})
	}
	return m
}}

// registerType adds a kind and its array to a registry.
func registerType(m *pgtype.Map, k kind.Kind, codec pgtype.Codec) {
	elem := &pgtype.Type{Name: string(k), OID: k.OID(), Codec: codec}
	m.RegisterType(elem)
	m.RegisterType(&pgtype.Type{Name: string(k.Array()), OID: k.Array().OID(), Codec: &pgtype.ArrayCodec{ElementType: elem}})
}

// transcodeValue reads a value in one format, changes it, and writes it in the other.
func transcodeValue[T any](k kind.Kind, change func(*T)) transcoder {
	return func(dst []byte, from int16, raw []byte) ([]byte, error) {
		m := typeMaps.Get().(*pgtype.Map)
		defer typeMaps.Put(m)
		var value T
		if err := m.Scan(k.OID(), from, raw, &value); err != nil {
			return dst, err
		}
		change(&value)
		return m.Encode(k.OID(), pgtype.BinaryFormatCode-from, value, dst)
	}
}

// transcodeVector converts a vector: an array that starts at index 0, and is written without
// commas and braces.
func transcodeVector[T any](array kind.Kind) transcoder {
	setStart := func(start int32) func(*pgtype.Array[T]) {
		return func(list *pgtype.Array[T]) {
			for i := range list.Dims {
				list.Dims[i].LowerBound = start
			}
		}
	}
	toBinary, toText := transcodeValue(array, setStart(0)), transcodeValue(array, setStart(1))
	return func(dst []byte, from int16, raw []byte) ([]byte, error) {
		if from == pgtype.TextFormatCode {
			return toBinary(dst, from, []byte("{"+strings.ReplaceAll(string(raw), " ", ",")+"}"))
		}
		text, err := toText(nil, from, raw)
		return append(dst, strings.ReplaceAll(strings.Trim(string(text), "{}"), ",", " ")...), err
	}
}

// transcoded encodes the binary format of a kind from its text format.
func transcoded(k kind.Kind) encoder {
	text := formatted(k)
	return func(dst []byte, value any, v *formatSettings) ([]byte, error) {
		transcode := transcoders[k]
		if transcode == nil { // arrays of records and of vectors
			return dst, errorf(stateNotSupported, "cast the value to text", "type %s is not supported in binary format", k)
		}
		plain, err := text(nil, value, v)
		if err != nil {
			return dst, err
		}
		raw, err := transcode(dst, pgtype.TextFormatCode, plain)
		if err != nil || raw == nil { // pgx writes nothing for an invalid address
			return dst, errorf(stateData, "", "text %.40q is not a valid %s", plain, k)
		}
		return raw, nil
	}
}
