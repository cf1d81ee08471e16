package mask

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unit is a byte of a text, or an escape of JSON, Go, URLs or HTML with the bytes that it stands for.
type unit struct {
	size  int  // bytes of the text
	cut   bool // the text ends within what may be an escape
	n     int  // bytes that it stands for; 0: backslashes before what is no escape
	value [utf8.UTFMax]byte
}

func (u *unit) bytes() []byte { return u.value[:u.n] }

func byteUnit(b byte, size int) unit { return unit{size: size, n: 1, value: [utf8.UTFMax]byte{b}} }

func runeUnit(r rune, size int) (u unit) {
	u.size = size
	u.n = utf8.EncodeRune(u.value[:], r)
	return u
}

var cutUnit = unit{cut: true}

// What a byte of a text may be, other than itself.
const (
	escapes   = 1 // it begins an escape
	lineBreak = 2
)

var kinds = [256]byte{'\\': escapes, '%': escapes, '&': escapes, '\n': lineBreak, '\r': lineBreak}

// readUnit reads the unit at the beginning of a text that is not empty.
func readUnit(text []byte) unit {
	switch text[0] {
	case '\\':
		return readBackslash(text)
	case '%':
		if v, cut, is := readHex(text[1:], 2); cut {
			return cutUnit
		} else if is {
			return byteUnit(byte(v), 3)
		}
	case '&':
		return readEntity(text)
	}
	return byteUnit(text[0], 1)
}

// backslashesMax bounds how many backslashes an escape begins with. JSON in JSON doubles them at each level.
const backslashesMax = 8

// controls are what letters after a backslash stand for; 0: nothing.
var controls = [256]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'v': '\v', 'a': '\a', '"': '"', '\'': '\'', '/': '/'}

// hexDigits is how many digits follow a letter after a backslash; 0: it begins no number.
var hexDigits = [256]int{'x': 2, 'u': 4, 'U': 8}

// readBackslash reads an escape of JSON or Go at any level: the backslashes before it count as one.
func readBackslash(text []byte) unit {
	n := 0
	for n < len(text) && n < backslashesMax && text[n] == '\\' {
		n++
	}
	if n == len(text) {
		return cutUnit
	}
	if b := controls[text[n]]; b != 0 {
		return byteUnit(b, n+1)
	}
	digits := hexDigits[text[n]]
	if digits == 0 {
		return unit{size: n}
	}
	v, cut, is := readHex(text[n+1:], digits)
	size := n + 1 + digits
	switch {
	case cut:
		return cutUnit
	case !is:
		return unit{size: n}
	case digits == 2:
		return byteUnit(byte(v), size)
	case digits == 4 && utf16.IsSurrogate(rune(v)):
		return readSurrogate(text, rune(v), size)
	}
	return runeUnit(rune(min(v, utf8.MaxRune+1)), size)
}

// readSurrogate reads the second half of a pair of escapes, as of an emoji in JSON.
func readSurrogate(text []byte, first rune, size int) unit {
	rest := text[size:]
	n := 0
	for n < len(rest) && n < backslashesMax && rest[n] == '\\' {
		n++
	}
	if n == len(rest) {
		return cutUnit
	}
	if n > 0 && rest[n] == 'u' {
		v, cut, is := readHex(rest[n+1:], 4)
		if cut {
			return cutUnit
		} else if is {
			return runeUnit(utf16.DecodeRune(first, rune(v)), size+n+5)
		}
	}
	return runeUnit(utf8.RuneError, size)
}

// readHex reads digits. cut: the text ends before the last of them.
func readHex(text []byte, digits int) (v int64, cut, is bool) {
	for i := range digits {
		if i == len(text) {
			return 0, true, false
		}
		c := text[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false, false
		}
		v = v<<4 | int64(c)
	}
	return v, false, true
}

// entityMax is the length of the longest entity that is decoded.
const entityMax = 10

var entities = map[string]rune{"quot": '"', "apos": '\'', "amp": '&', "lt": '<', "gt": '>'}

// readEntity reads an entity of HTML, such as &quot; and &#x27;.
func readEntity(text []byte) unit {
	for i := 1; i < entityMax; i++ {
		if i == len(text) {
			return cutUnit
		}
		c := text[i]
		if c == ';' {
			return decodeEntity(string(text[1:i]))
		}
		if c != '#' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			break
		}
	}
	return byteUnit('&', 1)
}

func decodeEntity(name string) unit {
	size := len(name) + len("&;")
	if r, is := entities[name]; is {
		return runeUnit(r, size)
	}
	if len(name) > 1 && name[0] == '#' {
		digits, base := name[1:], 10
		if digits[0]|0x20 == 'x' {
			digits, base = digits[1:], 16
		}
		if v, err := strconv.ParseUint(digits, base, 21); err == nil {
			return runeUnit(rune(v), size)
		}
	}
	return byteUnit('&', 1)
}
