package pgwire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/console/kind"
)

// argument reads an argument into how values of its kind are held.
func (v *values) argument(number int, k kind.Kind, format int16, raw []byte) (any, error) {
	if raw == nil {
		return nil, nil
	}
	decode := v.fromText
	if format == pgproto3.BinaryFormat {
		decode = v.fromBinary
	}
	value, err := decode(k, raw)
	var own *console.Error
	if errors.As(err, &own) {
		named := *own
		named.Message = "parameter $" + strconv.Itoa(number) + ": " + own.Message
		return nil, &named
	}
	return value, err
}

// badText refuses a text that is no value of a kind.
func badText(k kind.Kind, raw []byte) error {
	state := stateBadText
	switch k {
	case kind.Timestamp, kind.Local, kind.Date, kind.Time, kind.Interval:
		state = stateDateTime
	}
	return refuse(state, "", "invalid input syntax for type %s: %.60q", k, raw)
}

// fromText reads the text form of a value.
func (v *values) fromText(k kind.Kind, raw []byte) (any, error) {
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return nil, refuse(stateEncoding, "", "invalid byte sequence for encoding \"UTF8\"")
	}
	switch elem := k.Elem(); {
	case k == kind.Int2s || k == kind.OIDs:
		return v.membersFromText(elem, raw, pointers(strings.Fields(string(raw))))
	case elem != kind.Unknown:
		return v.arrayFromText(elem, raw)
	}
	text := strings.TrimSpace(string(raw))
	switch k {
	case kind.Integer:
		return integerFromText(k, raw, 64)
	case kind.Int4:
		return integerFromText(k, raw, 32)
	case kind.Int2:
		return integerFromText(k, raw, 16)
	case kind.OID, kind.XID:
		n, err := strconv.ParseUint(text, 10, 32)
		return int64(n), orBad(err, k, raw)
	case kind.Regclass, kind.Regtype, kind.Regproc, kind.Regspace, kind.Regrole:
		if n, err := strconv.ParseUint(text, 10, 32); err == nil {
			return int64(n), nil
		}
		return string(raw), nil
	case kind.Float, kind.Float4:
		f, err := strconv.ParseFloat(text, 64)
		return f, orBad(err, k, raw)
	case kind.Numeric:
		return numericFromText(raw)
	case kind.Boolean:
		if yes, known := truths[strings.ToLower(text)]; known {
			return yes, nil
		}
		return nil, badText(k, raw)
	case kind.Bytea:
		return byteaFromText(raw)
	case kind.Inet:
		_, err := network(text)
		return text, orBad(err, k, raw)
	case kind.UUID:
		id, err := uuid.Parse(text)
		return id.String(), orBad(err, k, raw)
	case kind.JSON, kind.PlainJSON:
		if !json.Valid(raw) {
			return nil, badText(k, raw)
		}
		return string(raw), nil
	case kind.Timestamp, kind.Local, kind.Date, kind.Time:
		return v.momentFromText(k, text)
	case kind.Interval:
		return intervalFromText(raw)
	}
	return string(raw), nil
}

func orBad(err error, k kind.Kind, raw []byte) error {
	if err != nil {
		return badText(k, raw)
	}
	return nil
}

func integerFromText(k kind.Kind, raw []byte, bits int) (any, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, bits)
	if errors.Is(err, strconv.ErrRange) {
		return nil, refuse(stateRange, "", "value %.60q is out of range for type %s", raw, k)
	}
	return n, orBad(err, k, raw)
}

// numericFromText holds a number as one where that is exact, else as its text.
func numericFromText(raw []byte) (any, error) {
	text := strings.TrimSpace(string(raw))
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || strings.ContainsAny(text, "xX_pP") {
		return nil, badText(kind.Numeric, raw)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) || strconv.FormatFloat(f, 'f', -1, 64) != strings.TrimPrefix(text, "+") {
		return text, nil
	}
	return f, nil
}

// byteaFromText reads both forms: \x and hexadecimal, or octal behind backslashes.
func byteaFromText(raw []byte) (any, error) {
	if bytes.HasPrefix(raw, []byte(`\x`)) {
		plain, err := hex.DecodeString(string(raw[2:]))
		return plain, orBad(err, kind.Bytea, raw)
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
				return nil, badText(kind.Bytea, raw)
			}
			plain = append(plain, byte(n))
			i += 3
		default:
			return nil, badText(kind.Bytea, raw)
		}
	}
	return plain, nil
}
