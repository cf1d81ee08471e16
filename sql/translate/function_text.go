package translate

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rotajobs/rota/sql/query"
)

// textFunctions are the functions of texts.
var textFunctions = []Function{
	strict("rota_lower", 1, func(a arguments) any { return strings.ToLower(a.text(0)) }),
	strict("rota_upper", 1, func(a arguments) any { return strings.ToUpper(a.text(0)) }),
	strict("rota_initcap", 1, func(a arguments) any { return initcap(a.text(0)) }),
	strict("rota_ascii", 1, func(a arguments) any {
		r, size := utf8.DecodeRuneInString(a.text(0))
		if size == 0 {
			return int64(0)
		}
		return int64(r)
	}),
	strict("rota_starts", 2, func(a arguments) any { return boolean(strings.HasPrefix(a.text(0), a.text(1))) }),
	strict("rota_trim", 3, func(a arguments) any {
		text, side, cut := a.text(0), a.int(2), runesOf(a.text(1))
		if side&1 != 0 {
			text = strings.TrimLeftFunc(text, cut)
		}
		if side&2 != 0 {
			text = strings.TrimRightFunc(text, cut)
		}
		return text
	}),
	strict("rota_pad", 4, pad),
	strict("rota_repeat", 2, func(a arguments) any {
		n := max(a.int(1), 0)
		if n > valueMax || n*int64(len(a.text(0))) > valueMax {
			panic(tooLong())
		}
		return strings.Repeat(a.text(0), int(n))
	}),
	strict("rota_reverse", 1, func(a arguments) any {
		text := a.text(0)
		out := make([]byte, 0, len(text))
		for len(text) > 0 {
			_, size := utf8.DecodeLastRuneInString(text)
			out = append(out, text[len(text)-size:]...)
			text = text[:len(text)-size]
		}
		return string(out)
	}),
	strict("rota_substr", 2, func(a arguments) any { return substr(a.text(0), a.int(1), 1<<40) }),
	strict("rota_substr", 3, func(a arguments) any { return substr(a.text(0), a.int(1), a.int(2)) }),
	strict("rota_split_part", 3, splitPart),
	strict("rota_md5", 1, func(a arguments) any {
		sum := md5.Sum([]byte(a.text(0)))
		return hex.EncodeToString(sum[:])
	}),
	strict("rota_quote_ident", 1, func(a arguments) any { return query.QuoteIdent(a.text(0)) }),
	strict("rota_encode", 2, encodeBytes),
	strict("rota_convert_from", 2, convertFrom),
	strict("rota_convert_to", 2, convertTo),
	withNulls("rota_format", -1, formatText),
	withNulls("rota_concat_ws", -1, concatWith),
}

// runesOf returns a fast membership test for the letters of a text.
func runesOf(text string) func(rune) bool {
	set := map[rune]bool{}
	for _, r := range text {
		set[r] = true
	}
	return func(r rune) bool { return set[r] }
}

func initcap(text string) string {
	var b strings.Builder
	inside := false
	for _, r := range text {
		if inside {
			b.WriteRune(unicode.ToLower(r))
		} else {
			b.WriteRune(unicode.ToUpper(r))
		}
		inside = unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return b.String()
}

// pad fills a text to a length, on the left (1) or on the right (2).
func pad(a arguments) any {
	text, fill, n := a.text(0), a.text(2), max(a.int(1), 0)
	if n > valueMax {
		panic(tooLong())
	}
	length := int64(utf8.RuneCountInString(text))
	if length >= n {
		return text[:runeOffset(text, n)]
	}
	if fill == "" {
		return text
	}
	added := padding(fill, n-length)
	if len(added)+len(text) > valueMax {
		panic(tooLong())
	}
	if a.int(3) == 1 {
		return added + text
	}
	return text + added
}

// padding repeats a text up to a number of characters.
func padding(fill string, count int64) string {
	length := int64(utf8.RuneCountInString(fill))
	whole, rest := count/length, fill[:runeOffset(fill, count%length)]
	if whole*int64(len(fill))+int64(len(rest)) > valueMax {
		panic(tooLong())
	}
	return strings.Repeat(fill, int(whole)) + rest
}

// runeOffset is the byte at which the n-th character begins, counted from 0; the length of the text if it has fewer.
func runeOffset(text string, n int64) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

func substr(text string, from, count int64) any {
	if count < 0 {
		panic(valueError("22011", "negative substring length not allowed"))
	}
	from = max(min(from, 1<<40), -1<<40)
	count = min(count, 1<<41)
	begin, end := max(from, 1), from+count
	if begin >= end {
		return ""
	}
	text = text[runeOffset(text, begin-1):]
	return text[:runeOffset(text, end-begin)]
}

func splitPart(a arguments) any {
	n := a.int(2)
	if n == 0 {
		panic(valueError(StateValue, "field position must not be zero").WithHint("fields count from 1"))
	}
	parts := []string{a.text(0)}
	if a.text(1) != "" {
		if strings.Count(a.text(0), a.text(1)) >= documentValuesMax {
			panic(valueError(StateLimit, "a text has more than %d fields", documentValuesMax))
		}
		parts = strings.Split(a.text(0), a.text(1))
	}
	if n < 0 {
		n += int64(len(parts)) + 1
	}
	if n < 1 || n > int64(len(parts)) {
		return ""
	}
	return parts[n-1]
}

func encodeBytes(a arguments) any {
	b := []byte(a.text(0))
	switch strings.ToLower(a.text(1)) {
	case "hex":
		return checkLength(hex.EncodeToString(b))
	case "base64":
		return checkLength(base64.StdEncoding.EncodeToString(b))
	case "escape":
		return string(b)
	}
	panic(valueError(StateValue, "unrecognized encoding: %q", shorten(a.text(1))).WithHint("use hex, base64 or escape"))
}

// concatWith joins texts with the first one as the separator.
func concatWith(a arguments) any {
	if len(a) == 0 || a[0] == nil {
		return nil
	}
	var words []string
	size := 0
	for i := 1; i < len(a); i++ {
		if a[i] != nil {
			words = append(words, a.text(i))
			size += len(a.text(0)) + len(a.text(i))
		}
	}
	if size > 2*valueMax {
		panic(tooLong())
	}
	return checkLength(strings.Join(words, a.text(0)))
}

// formatText is format(): %s is a text, %I a name, %L a literal, %% a percent sign.
func formatText(a arguments) any {
	if a[0] == nil {
		return nil
	}
	if strings.Count(a.text(0), "%") >= documentValuesMax {
		panic(tooLong())
	}
	parts := strings.Split(a.text(0), "%")
	var b strings.Builder
	b.WriteString(parts[0])
	next := 1
	for i := 1; i < len(parts); i++ {
		switch {
		case parts[i] == "" && i+1 < len(parts): // %%
			i++
			b.WriteString("%" + parts[i])
			continue
		case parts[i] == "":
			panic(valueError(StateValue, "unterminated format() type specifier").WithHint("for a single %% write %%%%"))
		case next >= len(a):
			panic(valueError(StateValue, "too few arguments for format()"))
		}
		text := formatOne(parts[i][0], a[next])
		next++
		b.WriteString(text + parts[i][1:])
		if b.Len() > valueMax {
			panic(tooLong())
		}
	}
	return b.String()
}

func formatOne(how byte, v any) string {
	switch how {
	case 's':
		return asText(v)
	case 'I':
		if v == nil {
			panic(valueError(StateValue, "null values cannot be formatted as an SQL identifier"))
		}
		return query.QuoteIdent(asText(v))
	case 'L':
		if v == nil {
			return "NULL"
		}
		return quoteText(asText(v))
	}
	panic(valueError(StateUnsupported, "format() does not support the type specifier %q", string(how)).WithHint("use %%s, %%I or %%L without a position and a width"))
}
