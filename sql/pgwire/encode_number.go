package pgwire

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/system"
)

// integerOf converts a value to an integer if that is exact. SQLite columns can contain values
// of other types.
func integerOf(value any, k kind.Kind) (int64, error) {
	switch value := value.(type) {
	case int64:
		return value, nil
	case system.Named:
		return value.Number, nil
	case bool:
		if value {
			return 1, nil
		}
		return 0, nil
	case float64:
		if n := int64(value); float64(n) == value && math.Abs(value) < 1<<53 {
			return n, nil
		}
		return 0, errorf(stateData, "", "%v is not a valid %s", value, k)
	case string:
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
			return n, nil
		}
		return 0, errorf(stateData, "", "text %.40q is not a valid %s", value, k)
	}
	return 0, wrongType(value, k)
}

func integerInRange(value any, k kind.Kind, bits int) (int64, error) {
	n, err := integerOf(value, k)
	if err != nil {
		return 0, err
	}
	if n>>(bits-1) != 0 && n>>(bits-1) != -1 {
		return 0, errorf(stateRange, "", "%d is out of range for type %s", n, k)
	}
	return n, nil
}

func integerText(k kind.Kind, bits int) encoder {
	return func(dst []byte, value any, _ *formatSettings) ([]byte, error) {
		n, err := integerInRange(value, k, bits)
		return strconv.AppendInt(dst, n, 10), err
	}
}

func integerBinary(k kind.Kind, size int) encoder {
	return func(dst []byte, value any, _ *formatSettings) ([]byte, error) {
		n, err := integerInRange(value, k, 8*size)
		var all [8]byte
		binary.BigEndian.PutUint64(all[:], uint64(n))
		return append(dst, all[8-size:]...), err
	}
}

func unsignedBinary(k kind.Kind) encoder {
	return func(dst []byte, value any, _ *formatSettings) ([]byte, error) {
		n, err := integerOf(value, k)
		if err == nil && (n < 0 || n > math.MaxUint32) {
			err = errorf(stateRange, "", "%d is out of range for type %s", n, k)
		}
		return binary.BigEndian.AppendUint32(dst, uint32(n)), err
	}
}

func floatOf(value any) (float64, error) {
	switch value := value.(type) {
	case float64:
		return value, nil
	case int64:
		return float64(value), nil
	case string:
		if f, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			return f, nil
		}
		return 0, errorf(stateData, "", "text %.40q is not a valid %s", value, kind.Float)
	}
	return 0, wrongType(value, kind.Float)
}

func floatText(bits int) encoder {
	return func(dst []byte, value any, _ *formatSettings) ([]byte, error) {
		f, err := floatOf(value)
		return appendFloat(dst, f, bits), err
	}
}

// appendFloat appends the shortest text that parses to the same number, with an exponent where
// PostgreSQL writes one.
func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	digits := 15
	if bits == 32 {
		digits = 6
	}
	short := strconv.FormatFloat(f, 'e', -1, bits)
	exponent, _ := strconv.Atoi(short[strings.IndexByte(short, 'e')+1:])
	if exponent < -4 || exponent >= digits {
		return append(dst, short...)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

func floatBinary(bits int) encoder {
	return func(dst []byte, value any, _ *formatSettings) ([]byte, error) {
		f, err := floatOf(value)
		if bits == 32 {
			return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(f))), err
		}
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(f)), err
	}
}
