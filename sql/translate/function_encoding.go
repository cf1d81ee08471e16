package translate

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// convertFrom is convert_from(): bytes as a text.
func convertFrom(a arguments) any {
	checkEncoding(a.text(1))
	text := a.text(0)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			panic(valueError(StateEncoding, "invalid byte sequence for encoding \"UTF8\": %s", firstBytes(text[i:])).
				WithHint("encode(x, 'hex') shows bytes that are not a text"))
		}
		i += size
	}
	return text
}

// convertTo is convert_to(): a text as bytes.
func convertTo(a arguments) any {
	checkEncoding(a.text(1))
	return []byte(a.text(0))
}

// checkEncoding refuses an encoding other than UTF-8. Like PostgreSQL it compares only the letters and digits of the name, in
// any case, and takes unicode as another name.
func checkEncoding(name string) {
	clean := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	if clean != "utf8" && clean != "unicode" {
		panic(valueError(StateUnsupported, "encoding %q is not supported", shorten(name)).WithHint("use UTF8"))
	}
}

// firstBytes lists the bytes that the first byte of a text announces as one character, as PostgreSQL does.
func firstBytes(text string) string {
	n := 1
	switch c := text[0]; {
	case c&0xe0 == 0xc0:
		n = 2
	case c&0xf0 == 0xe0:
		n = 3
	case c&0xf8 == 0xf0:
		n = 4
	}
	var list []string
	for _, b := range []byte(text[:min(n, len(text))]) {
		list = append(list, fmt.Sprintf("0x%02x", b))
	}
	return strings.Join(list, " ")
}
