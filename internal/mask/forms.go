package mask

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// plainForms returns what of a value is searched in texts, as they are and with their escapes decoded.
func plainForms(value string) []string {
	all := []string{value, strings.ReplaceAll(value, "'", `'\''`)}
	if !utf8.ValidString(value) { // as encoders of JSON, and what stores texts, write it
		all = append(all, string([]rune(value)), strings.ToValidUTF8(value, "\uFFFD"))
	}
	if decoded := decodeAll(value); decoded != value { // a backslash of a value may be read as an escape of the text
		all = append(all, decoded)
	}
	for _, one := range all {
		if strings.Contains(one, " ") {
			all = append(all, strings.ReplaceAll(one, " ", "+")) // in a query
		}
	}
	return all
}

// decodeAll decodes what looks like an escape in a value. An escape at its end is not one that what follows in a text completes.
func decodeAll(value string) string {
	var b strings.Builder
	for rest := []byte(value + "\x00"); len(rest) > 1; {
		u := readUnit(rest)
		b.Write(u.bytes())
		rest = rest[u.size:]
	}
	return b.String()
}

// encodedForms returns a value in hexadecimal and in base64. In base64 the value may stand behind other bytes and before others, so
// there is a form for each alignment, without the characters that also encode what is around the value.
func encodedForms(value string) []string {
	lower := hex.EncodeToString([]byte(value))
	all := []string{lower, strings.ToUpper(lower)}
	for before := range 3 {
		text := append(make([]byte, before), value...)
		first := []int{0, 2, 3}[before]
		whole := len(text) * 8 / 6
		encoded := base64.RawStdEncoding.EncodeToString(text)
		all = append(all, encoded[first:whole])
		if whole < len(encoded) { // the value ends the text
			all = append(all, encoded[first:], base64.StdEncoding.EncodeToString(text)[first:])
		}
	}
	return all
}

// inBase64 maps the alphabet of base64url to that of base64, so that one form is searched for both.
var inBase64 = func() (table [256]byte) {
	for b := range table {
		table[b] = byte(b)
	}
	table['-'], table['_'] = '+', '/'
	return table
}()
