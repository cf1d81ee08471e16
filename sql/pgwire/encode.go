package pgwire

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/system"
	"github.com/rotajobs/rota/sql/translate"
)

// textOf encodes any value as text. Most kinds use it as their text format.
func textOf(dst []byte, value any, _ *formatSettings) ([]byte, error) {
	switch value := value.(type) {
	case string:
		return append(dst, value...), nil
	case []byte:
		return append(dst, value...), nil
	case int64:
		return strconv.AppendInt(dst, value, 10), nil
	case system.Named:
		return append(dst, value.Name...), nil
	case float64:
		return appendFloat(dst, value, 64), nil
	case bool:
		return strconv.AppendBool(dst, value), nil
	}
	return dst, wrongType(value, kind.Text)
}

// formatted encodes the text format of a kind like a cast to text.
func formatted(k kind.Kind) encoder {
	return func(dst []byte, value any, v *formatSettings) ([]byte, error) {
		text, err := translate.CheckedFormat(v.zoneName, k, value)
		if err != nil {
			return dst, errorf(stateData, "", "value %.40q is not a valid %s", fmt.Sprint(value), k)
		}
		return append(dst, text...), nil
	}
}

// recordBinary refuses the binary format of records: their fields have no known types.
func recordBinary(dst []byte, _ any, _ *formatSettings) ([]byte, error) {
	return dst, errorf(stateNotSupported, "cast the record to text", "records are not supported in binary format")
}

// voidValue encodes the only value of void.
func voidValue(dst []byte, _ any, _ *formatSettings) ([]byte, error) { return dst, nil }

func boolOf(value any) (bool, error) {
	if text, is := value.(string); is {
		stored, err := translate.ParseValue(kind.Boolean, text)
		if err != nil {
			return false, errorf(stateData, "", "text %.40q is not a valid %s", text, kind.Boolean)
		}
		value = stored
	}
	n, err := integerOf(value, kind.Boolean)
	return n != 0, err
}

func booleanText(dst []byte, value any, _ *formatSettings) ([]byte, error) {
	yes, err := boolOf(value)
	if yes {
		return append(dst, 't'), err
	}
	return append(dst, 'f'), err
}

func booleanBinary(dst []byte, value any, _ *formatSettings) ([]byte, error) {
	yes, err := boolOf(value)
	if yes {
		return append(dst, 1), err
	}
	return append(dst, 0), err
}

func uuidBinary(dst []byte, value any, _ *formatSettings) ([]byte, error) {
	text, _ := value.(string)
	id, err := uuid.Parse(text)
	if err != nil {
		return dst, errorf(stateData, "", "text %.40q is not a valid %s", text, kind.UUID)
	}
	return append(dst, id[:]...), nil
}

// jsonbBinary writes the version of the format and the text.
func jsonbBinary(dst []byte, value any, v *formatSettings) ([]byte, error) {
	return textOf(append(dst, 1), value, v)
}

func byteaText(dst []byte, value any, v *formatSettings) ([]byte, error) {
	raw, err := byteaBinary(nil, value, v)
	return hex.AppendEncode(append(dst, `\x`...), raw), err
}

func byteaBinary(dst []byte, value any, _ *formatSettings) ([]byte, error) {
	switch value := value.(type) {
	case []byte:
		return append(dst, value...), nil
	case string:
		return append(dst, value...), nil
	}
	return dst, wrongType(value, kind.Bytea)
}
