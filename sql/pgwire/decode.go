package pgwire

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"strconv"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/rotajobs/rota/sql/kind"
)

// argument decodes an argument. The console parses texts, as if they were literals in the
// statement. Binary values become such texts; those of bytea become bytes.
func (v *formatSettings) argument(number int, k kind.Kind, format int16, raw []byte) (any, error) {
	if raw == nil {
		return nil, nil
	}
	decode := v.fromText
	if format == pgproto3.BinaryFormat {
		decode = v.fromBinary
	}
	value, err := decode(k, raw)
	if err != nil {
		return nil, prefixed(err, "parameter $"+strconv.Itoa(number)+": ")
	}
	return value, nil
}

func (v *formatSettings) fromText(k kind.Kind, raw []byte) (any, error) {
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return nil, errorf(stateEncoding, "", "invalid byte sequence for encoding \"UTF8\"")
	}
	if k == kind.Bytea {
		return byteaFromText(raw)
	}
	return string(raw), nil
}

// byteaFromText decodes both formats: hexadecimal after \x, or octal escapes.
func byteaFromText(raw []byte) (any, error) {
	wrong := errorf(stateBadText, "", "invalid input syntax for type bytea")
	if bytes.HasPrefix(raw, []byte(`\x`)) {
		plain, err := hex.DecodeString(string(raw[2:]))
		if err != nil {
			return nil, wrong
		}
		return plain, nil
	}
	plain := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] != '\\':
			plain = append(plain, raw[i])
		case i+1 < len(raw) && raw[i+1] == '\\':
			plain = append(plain, '\\')
			i++
		case i+3 < len(raw):
			n, err := strconv.ParseUint(string(raw[i+1:i+4]), 8, 8)
			if err != nil {
				return nil, wrong
			}
			plain = append(plain, byte(n))
			i += 3
		default:
			return nil, wrong
		}
	}
	return plain, nil
}

// fromBinary decodes the binary format of a value.
func (v *formatSettings) fromBinary(k kind.Kind, raw []byte) (any, error) {
	switch k {
	case kind.Bytea:
		return bytes.Clone(raw), nil
	case kind.Record, kind.Void, kind.AnyArray:
		return nil, errorf(stateNotSupported, "", "parameters of type %s are not supported", k)
	}
	transcode := transcoders[k]
	if transcode == nil {
		return v.fromText(k, raw)
	}
	text, err := transcode([]byte{}, pgtype.BinaryFormatCode, raw)
	if err != nil || text == nil { // pgx writes nothing for an invalid address
		return nil, errorf(stateBadBinary, "", "incorrect binary data format for type %s", k)
	}
	if prefix, err := netip.ParsePrefix(string(text)); err == nil && k == kind.Inet && prefix.IsSingleIP() {
		return prefix.Addr().String(), nil
	}
	return v.fromText(k, text)
}
