package pgwire

import (
	"bytes"
	"net/netip"
	"strconv"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/rotajobs/rota/sql/kind"
)

// argument decodes an argument. The console parses texts, as if they were literals in the
// statement. Binary values become such texts; those of bytea become bytes.
func argument(number int, k kind.Kind, format int16, raw []byte) (any, error) {
	if raw == nil {
		return nil, nil
	}
	decode := fromText
	if format == pgproto3.BinaryFormat {
		decode = fromBinary
	}
	value, err := decode(k, raw)
	if err != nil {
		return nil, prefixed(err, "parameter $"+strconv.Itoa(number)+": ")
	}
	return value, nil
}

func fromText(_ kind.Kind, raw []byte) (any, error) {
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return nil, errorf(stateEncoding, "", "invalid byte sequence for encoding \"UTF8\"")
	}
	return string(raw), nil
}

// fromBinary decodes the binary format of a value.
func fromBinary(k kind.Kind, raw []byte) (any, error) {
	switch k {
	case kind.Bytea:
		return bytes.Clone(raw), nil
	case kind.Record, kind.Void, kind.AnyArray:
		return nil, errorf(stateNotSupported, "", "parameters of type %s are not supported", k)
	}
	transcode := transcoders[k]
	if transcode == nil {
		return fromText(k, raw)
	}
	text, err := transcode([]byte{}, pgtype.BinaryFormatCode, raw)
	if err != nil || text == nil { // pgx writes nothing for an invalid address
		return nil, errorf(stateBadBinary, "", "incorrect binary data format for type %s", k)
	}
	if prefix, err := netip.ParsePrefix(string(text)); err == nil && k == kind.Inet && prefix.IsSingleIP() {
		return prefix.Addr().String(), nil
	}
	return fromText(k, text)
}
