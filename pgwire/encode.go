package pgwire

import (
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/rotajobs/rota/console/kind"
	"github.com/rotajobs/rota/console/sys"
)

// textOf writes any value as a text. It is the text form of most kinds.
func textOf(dst []byte, value any, _ *values) ([]byte, error) {
	switch value := value.(type) {
	case string:
		return append(dst, value...), nil
	case []byte:
		return append(dst, value...), nil
	case int64:
		return strconv.AppendInt(dst, value, 10), nil
	case sys.Named:
		return append(dst, value.Name...), nil
	case float64:
		return appendFloat(dst, value, 64), nil
	case bool:
		return strconv.AppendBool(dst, value), nil
	}
	return dst, unfit(value, kind.Text)
}

// nothing is the one value of void.
func nothing(dst []byte, _ any, _ *values) ([]byte, error) { return dst, nil }

func truth(value any) (bool, error) {
	switch value := value.(type) {
	case string:
		if truth, known := truths[strings.ToLower(strings.TrimSpace(value))]; known {
			return truth, nil
		}
	}
	n, err := whole(value, kind.Boolean)
	return n != 0, err
}

// truths are the words for the two values of a boolean.
var truths = map[string]bool{
	"t": true, "tr": true, "tru": true, "true": true, "y": true, "ye": true, "yes": true, "on": true, "1": true,
	"f": false, "fa": false, "fal": false, "fals": false, "false": false, "n": false, "no": false, "of": false, "off": false, "0": false,
}

func booleanText(dst []byte, value any, _ *values) ([]byte, error) {
	yes, err := truth(value)
	if yes {
		return append(dst, 't'), err
	}
	return append(dst, 'f'), err
}

func booleanBinary(dst []byte, value any, _ *values) ([]byte, error) {
	yes, err := truth(value)
	if yes {
		return append(dst, 1), err
	}
	return append(dst, 0), err
}

func uuidBinary(dst []byte, value any, _ *values) ([]byte, error) {
	text, _ := value.(string)
	id, err := uuid.Parse(text)
	if err != nil {
		return dst, refuse(stateData, "", "the text %.40q is no %s", text, kind.UUID)
	}
	return append(dst, id[:]...), nil
}

// jsonbBinary is the text behind the version of the form.
func jsonbBinary(dst []byte, value any, v *values) ([]byte, error) {
	return textOf(append(dst, 1), value, v)
}

func byteaText(dst []byte, value any, v *values) ([]byte, error) {
	raw, err := byteaBinary(nil, value, v)
	return hex.AppendEncode(append(dst, `\x`...), raw), err
}

func byteaBinary(dst []byte, value any, _ *values) ([]byte, error) {
	switch value := value.(type) {
	case []byte:
		return append(dst, value...), nil
	case string:
		return append(dst, value...), nil
	}
	return dst, unfit(value, kind.Bytea)
}

// inetBinary is the family, the bits of the network, no cidr, and the address.
func inetBinary(dst []byte, value any, _ *values) ([]byte, error) {
	text, _ := value.(string)
	prefix, err := network(text)
	if err != nil {
		return dst, refuse(stateData, "", "the text %.40q is no %s", text, kind.Inet)
	}
	family := byte(2)
	if prefix.Addr().Is6() {
		family = 3
	}
	address := prefix.Addr().AsSlice()
	return append(append(dst, family, byte(prefix.Bits()), 0, byte(len(address))), address...), nil
}

// network reads an address, with the length of its network or without.
func network(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		return netip.ParsePrefix(text)
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return netip.PrefixFrom(address.WithZone(""), address.BitLen()), nil
}
