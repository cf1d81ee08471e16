package pgwire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/netip"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/rotajobs/rota/console/kind"
)

func badBinary(k kind.Kind) error {
	return refuse(stateBadBinary, "", "incorrect binary data format for type %s", k)
}

// fromBinary reads the binary form of a value.
func (v *values) fromBinary(k kind.Kind, raw []byte) (any, error) {
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
		return shortest(math.Float32frombits(binary.BigEndian.Uint32(raw))), nil
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
		return jsonbFromBinary(raw)
	case kind.Timestamp, kind.Local, kind.Date, kind.Time, kind.Interval:
		return momentFromBinary(k, raw)
	case kind.Record, kind.Void:
		return nil, refuse(stateNotSupported, "", "arguments of type %s are not supported", k)
	}
	return v.fromText(k, raw)
}

// shortest is a number of four bytes as the one of eight that is written alike.
func shortest(f float32) float64 {
	wide, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	return wide
}

func numericFromBinary(raw []byte) (any, error) {
	var n pgtype.Numeric
	codec := pgtype.NumericCodec{}
	if err := codec.PlanScan(nil, pgtype.NumericOID, pgtype.BinaryFormatCode, &n).Scan(raw, &n); err != nil {
		return nil, badBinary(kind.Numeric)
	}
	if n.Exp > 1000 || n.Exp < -20_000 { // it would be written in full
		return nil, refuse(stateRange, "", "value overflows numeric format")
	}
	text, err := codec.PlanEncode(nil, pgtype.NumericOID, pgtype.TextFormatCode, n).Encode(n, nil)
	if err != nil {
		return nil, badBinary(kind.Numeric)
	}
	return numericFromText(text)
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

func jsonbFromBinary(raw []byte) (any, error) {
	if len(raw) == 0 || raw[0] != 1 {
		return nil, badBinary(kind.JSON)
	}
	if !json.Valid(raw[1:]) || !utf8.Valid(raw) {
		return nil, badText(kind.JSON, raw[1:])
	}
	return string(raw[1:]), nil
}

func momentFromBinary(k kind.Kind, raw []byte) (any, error) {
	first := func() int64 { return int64(binary.BigEndian.Uint64(raw)) }
	switch k {
	case kind.Date:
		n := int32(binary.BigEndian.Uint32(raw))
		if n == math.MaxInt32 || n == math.MinInt32 {
			return infinity(n > 0), nil
		}
		return layOut(k, epoch.AddDate(0, 0, int(n)))
	case kind.Time:
		if n := first(); n < 0 || n >= 86400e6 {
			return nil, badBinary(k)
		}
		return time.UnixMicro(first()).UTC().Format(layoutOf[k]), nil
	case kind.Interval:
		days, months := int32(binary.BigEndian.Uint32(raw[8:])), int32(binary.BigEndian.Uint32(raw[12:]))
		return span{months: int64(months), days: int64(days), micros: first()}.String(), nil
	}
	n := first()
	if n == math.MaxInt64 || n == math.MinInt64 {
		return infinity(n > 0), nil
	}
	if n > math.MaxInt64/2 || n < math.MinInt64/2 {
		return nil, refuse(stateRange, "", "%s out of range", k)
	}
	return layOut(k, time.UnixMicro(epoch.UnixMicro()+n).UTC())
}

func infinity(up bool) string {
	if up {
		return "infinity"
	}
	return "-infinity"
}

// layoutOf is how moments are held.
var layoutOf = map[kind.Kind]string{
	kind.Timestamp: "2006-01-02T15:04:05.000000Z", kind.Local: "2006-01-02T15:04:05.000000",
	kind.Date: "2006-01-02", kind.Time: "15:04:05.000000",
}

// layOut writes a moment as it is held, which orders rightly within four digits of
// a year.
func layOut(k kind.Kind, t time.Time) (any, error) {
	if t.Year() < 0 || t.Year() > 9999 {
		return nil, refuse(stateRange, "years are between 0 and 9999", "%s out of range", k)
	}
	return t.Format(layoutOf[k]), nil
}
