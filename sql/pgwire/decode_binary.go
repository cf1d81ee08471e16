package pgwire

import (
	"bytes"
	"encoding/binary"
	"math"
	"net/netip"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/rotajobs/rota/sql/kind"
)

func badBinary(k kind.Kind) error {
	return errorf(stateBadBinary, "", "incorrect binary data format for type %s", k)
}

// fromBinary decodes the binary format of a value.
func (v *formatSettings) fromBinary(k kind.Kind, raw []byte) (any, error) {
	if elem := k.Elem(); elem != kind.Unknown {
		return v.arrayFromBinary(k, elem, raw)
	}
	if size := coderOf(k).size; size > 0 && k != kind.Name && len(raw) != int(size) {
		return nil, badBinary(k)
	}
	switch k {
	case kind.Integer:
		return int64(binary.BigEndian.Uint64(raw)), nil
	case kind.Int4:
		return int64(int32(binary.BigEndian.Uint32(raw))), nil
	case kind.Int2:
		return int64(int16(binary.BigEndian.Uint16(raw))), nil
	case kind.OID, kind.XID, kind.Regclass, kind.Regtype, kind.Regproc, kind.Regspace, kind.Regrole:
		return int64(binary.BigEndian.Uint32(raw)), nil
	case kind.Float:
		return math.Float64frombits(binary.BigEndian.Uint64(raw)), nil
	case kind.Float4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(raw))), nil
	case kind.Numeric:
		return numericFromBinary(raw)
	case kind.Boolean:
		return raw[0] != 0, nil
	case kind.Bytea:
		return bytes.Clone(raw), nil
	case kind.UUID:
		return uuid.UUID(raw).String(), nil
	case kind.Inet:
		return inetFromBinary(raw)
	case kind.JSON:
		if len(raw) == 0 || raw[0] != 1 {
			return nil, badBinary(k)
		}
		return v.fromText(k, raw[1:])
	case kind.Timestamp, kind.Local, kind.Date, kind.Time, kind.Interval:
		return momentFromBinary(k, raw)
	case kind.Record, kind.Void, kind.AnyArray:
		return nil, errorf(stateNotSupported, "", "parameters of type %s are not supported", k)
	}
	return v.fromText(k, raw)
}

func numericFromBinary(raw []byte) (any, error) {
	var n pgtype.Numeric
	codec := pgtype.NumericCodec{}
	if err := codec.PlanScan(nil, pgtype.NumericOID, pgtype.BinaryFormatCode, &n).Scan(raw, &n); err != nil {
		return nil, badBinary(kind.Numeric)
	}
	if n.Exp > 1000 || n.Exp < -20_000 { // the text format has all digits
		return nil, errorf(stateRange, "", "value overflows numeric format")
	}
	text, err := codec.PlanEncode(nil, pgtype.NumericOID, pgtype.TextFormatCode, n).Encode(n, nil)
	if err != nil {
		return nil, badBinary(kind.Numeric)
	}
	return string(text), nil
}

func inetFromBinary(raw []byte) (any, error) {
	if len(raw) != 8 && len(raw) != 20 || int(raw[3]) != len(raw)-4 {
		return nil, badBinary(kind.Inet)
	}
	address, _ := netip.AddrFromSlice(raw[4:])
	switch bits := int(raw[1]); {
	case bits > address.BitLen():
		return nil, badBinary(kind.Inet)
	case bits < address.BitLen():
		return netip.PrefixFrom(address, bits).String(), nil
	}
	return address.String(), nil
}

// arrayFromBinary converts an array of at most one dimension to its text format.
func (v *formatSettings) arrayFromBinary(k, elem kind.Kind, raw []byte) (any, error) {
	word := func(at int) int { return int(int32(binary.BigEndian.Uint32(raw[at:]))) }
	if len(raw) < 12 || word(0) < 0 {
		return nil, badBinary(k)
	}
	switch dimensions := word(0); {
	case dimensions == 0:
		return enclose(k, nil), nil
	case dimensions > 1:
		return nil, errorf(stateNotSupported, "send the parameter in text format", "arrays of more than one dimension are not supported in binary format")
	case len(raw) < 20 || word(12) < 0 || word(12) > len(raw)/4:
		return nil, badBinary(k)
	}
	count := word(12)
	raw = raw[20:]
	var list []byte
	for i := range count {
		one, rest, fine := nextElement(raw)
		if !fine {
			return nil, badBinary(k)
		}
		if i > 0 {
			list = append(list, delimiterOf(k))
		}
		var err error
		if list, err = v.appendElement(list, elem, one); err != nil {
			return nil, err
		}
		raw = rest
	}
	return enclose(k, list), nil
}

// delimiterOf and enclose: vectors are written without commas and braces.
func delimiterOf(k kind.Kind) byte {
	if k == kind.Int2s || k == kind.OIDs {
		return ' '
	}
	return ','
}

func enclose(k kind.Kind, list []byte) string {
	if delimiterOf(k) == ' ' {
		return string(list)
	}
	return "{" + string(list) + "}"
}

func (v *formatSettings) appendElement(dst []byte, elem kind.Kind, raw []byte) ([]byte, error) {
	if raw == nil {
		return append(dst, "NULL"...), nil
	}
	value, err := v.fromBinary(elem, raw)
	if err != nil {
		return dst, err
	}
	if elem == kind.Bytea {
		value, err = byteaText(nil, value, v)
	} else {
		value, err = textOf(nil, value, v)
	}
	plain, _ := value.([]byte)
	return appendQuoted(dst, plain, `{},"\`, `\`), err
}

// nextElement cuts off the next value, which follows its length; nil is NULL.
func nextElement(raw []byte) (one, rest []byte, fine bool) {
	if len(raw) < 4 {
		return nil, nil, false
	}
	length := int(int32(binary.BigEndian.Uint32(raw)))
	raw = raw[4:]
	switch {
	case length == -1:
		return nil, raw, true
	case length < 0 || length > len(raw):
		return nil, nil, false
	}
	return raw[:length:length], raw[length:], true
}
