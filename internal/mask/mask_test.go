package mask_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota/internal/mask"
)

const value = "p@ss w/rd+é\"1"

func TestEveryEncodingIsMasked(t *testing.T) {
	var s mask.Set
	s.Add(value)
	quoted, _ := json.Marshal(value)
	texts := map[string]string{
		"plain": value, "query": url.QueryEscape(value), "path": url.PathEscape(value), "JSON": string(quoted),
	}
	for before := range 4 {
		for after := range 4 {
			text := strings.Repeat("x", before) + value + strings.Repeat("y", after)
			for name, e := range map[string]*base64.Encoding{"std": base64.StdEncoding, "raw": base64.RawStdEncoding, "url": base64.URLEncoding, "rawurl": base64.RawURLEncoding} {
				texts[strings.Repeat("x", before)+name+strings.Repeat("y", after)] = e.EncodeToString([]byte(text))
			}
		}
	}
	for name, text := range texts {
		got := s.String("before " + text + " after")
		if !strings.Contains(got, mask.Text) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") || len(got) > len("before *** after")+16 {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := s.String("nothing here"); got != "nothing here" {
		t.Errorf("%q", got)
	}
}

func TestShortValuesAreLeftAlone(t *testing.T) {
	var s mask.Set
	s.Add("abc")
	if got := s.String("abcdef"); got != "abcdef" || !s.Empty() {
		t.Errorf("%q", got)
	}
}

func TestLongestValueIsMasked(t *testing.T) {
	var s mask.Set
	s.Add("pass")
	s.Add("password")
	if got := s.String("password pass passwor."); got != "*** *** ***wor." {
		t.Errorf("%q", got)
	}
}

// stream writes a text in chunks of any size.
func stream(t *rapid.T, s *mask.Set, text string) string {
	var out bytes.Buffer
	w := mask.NewWriter(&out, s)
	for left := text; left != ""; {
		n := rapid.IntRange(1, len(left)).Draw(t, "chunk")
		if m, err := w.Write([]byte(left[:n])); m != n || err != nil {
			t.Fatal(m, err)
		}
		left = left[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// covered is the simplest way to mask: it marks the bytes of every value, and of half a value at the end.
func covered(values []string, text string) string {
	type run struct{ from, to int }
	var runs []run
	for i := range text {
		longest := 0
		for _, v := range values {
			left := text[i:]
			if strings.HasPrefix(left, v) {
				longest = max(longest, len(v))
			} else if strings.HasPrefix(v, left) && len(left) >= max(mask.ValueMin, (len(v)+1)/2) {
				longest = max(longest, len(left))
			}
		}
		if last := len(runs) - 1; longest > 0 && last >= 0 && i < runs[last].to {
			runs[last].to = max(runs[last].to, i+longest)
		} else if longest > 0 {
			runs = append(runs, run{i, i + longest})
		}
	}
	out, at := "", 0
	for _, r := range runs {
		out += text[at:r.from] + mask.Text
		at = r.to
	}
	return out + text[at:]
}

// TestOverlappingValuesAreMaskedWholly: values overlap each other and themselves and begin alike; no byte of one is left. A stream is
// masked as the whole text is, wherever it is cut.
func TestOverlappingValuesAreMaskedWholly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s mask.Set
		values := rapid.SliceOfN(rapid.StringMatching(`[xy]{4,8}`), 1, 3).Draw(t, "values")
		for _, v := range values {
			s.Add(v)
		}
		text := rapid.StringMatching(`[xyz]{0,60}`).Draw(t, "text")
		want := covered(values, text)
		if whole := s.String(text); whole != want {
			t.Fatalf("%q with %q is %q, want %q", text, values, whole, want)
		}
		if got := stream(t, &s, text); got != want {
			t.Fatalf("%q in chunks is %q, want %q", text, got, want)
		}
	})
}

// spellings are what programs print of a value.
var spellings = map[string]func(string) string{
	"plain":  func(v string) string { return v },
	"std":    func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) },
	"url":    func(v string) string { return base64.RawURLEncoding.EncodeToString([]byte(v)) },
	"basic":  func(v string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + v)) },
	"hex":    func(v string) string { return hex.EncodeToString([]byte(v)) },
	"HEX":    func(v string) string { return strings.ToUpper(hex.EncodeToString([]byte(v))) },
	"query":  url.QueryEscape,
	"lower":  func(v string) string { return lowerEscapes.ReplaceAllStringFunc(url.QueryEscape(v), strings.ToLower) },
	"path":   url.PathEscape,
	"quoted": strconv.Quote,
	"html":   html.EscapeString,
	"shell":  func(v string) string { return "'" + strings.ReplaceAll(v, "'", `'\''`) + "'" },
	"JSON":   func(v string) string { b, _ := json.Marshal(v); return string(b) },
	"lines 76": func(v string) string {
		return wrap(base64.StdEncoding.EncodeToString([]byte("{\"password\":\""+v+"\"}")), 76, "\n")
	},
	"lines 64": func(v string) string { return wrap(base64.StdEncoding.EncodeToString([]byte("k="+v)), 64, "\r\n") },
	"xxd":      func(v string) string { return wrap(hex.EncodeToString([]byte("PASS="+v+"\n")), 60, "\n") },
	"wrapped in JSON": func(v string) string {
		b, _ := json.Marshal(wrap(base64.StdEncoding.EncodeToString([]byte(v)), 76, "\n"))
		return string(b)
	},
	"JSON without HTML escapes": func(v string) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(v)
		return b.String()
	},
	"JSON of .NET":  func(v string) string { return escapeAll(v, "\\u%04X") },
	"JSON of Gson":  func(v string) string { return escapeAll(v, "\\u%04x") },
	"JSON in JSON":  func(v string) string { return inJSON(inJSON(v)) },
	"3 levels":      func(v string) string { return inJSON(inJSON(inJSON(v))) },
	".NET in JSON":  func(v string) string { return inJSON(escapeAll(v, "\\u%04X")) },
	"JSON with \\/": func(v string) string { return strings.ReplaceAll(inJSON(v), "/", `\/`) },
	"HTML names":    func(v string) string { return htmlNames.Replace(v) },
	"HTML in hex": func(v string) string {
		return eachRune(v, func(r rune) string {
			if strings.ContainsRune("&<>\"'/é€", r) {
				return fmt.Sprintf("&#x%X;", r)
			}
			return string(r)
		})
	},
	"bytes of Python": func(v string) string {
		q := strconv.Quote(v)
		return eachByte(q[1:len(q)-1], func(b byte) string {
			if b >= 0x80 {
				return fmt.Sprintf(`\x%02x`, b)
			}
			return string(rune(b))
		})
	},
	"base64 in JSON of .NET": func(v string) string {
		return strings.NewReplacer("+", `\u002B`, "/", `\/`, "=", `\u003d`).Replace(base64.StdEncoding.EncodeToString([]byte(v)))
	},
	"base64 in a query": func(v string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(v))) },
	"ASCII JSON": func(v string) string {
		q := strconv.QuoteToASCII(v)
		return q
	},
}

var htmlNames = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// escapeAll escapes everything that is neither a letter nor a digit, as the strictest encoders of JSON do.
func escapeAll(v, format string) string {
	return eachRune(v, func(r rune) string {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return string(r)
		}
		if r > 0xFFFF {
			first, second := utf16.EncodeRune(r)
			return fmt.Sprintf(format+format, first, second)
		}
		return fmt.Sprintf(format, r)
	})
}

func eachRune(v string, escape func(rune) string) string {
	var b strings.Builder
	for _, r := range v {
		b.WriteString(escape(r))
	}
	return b.String()
}

func eachByte(v string, escape func(byte) string) string {
	var b strings.Builder
	for i := range len(v) {
		b.WriteString(escape(v[i]))
	}
	return b.String()
}

// inJSON is a text as it stands in a string of JSON.
func inJSON(v string) string {
	quoted, _ := json.Marshal(v)
	return string(quoted[1 : len(quoted)-1])
}

var lowerEscapes = regexp.MustCompile(`%[0-9A-F]{2}`)

func wrap(text string, width int, lineBreak string) string {
	var b strings.Builder
	for len(text) > width {
		b.WriteString(text[:width] + lineBreak)
		text = text[width:]
	}
	return b.String() + text
}

// TestNothingOfAValueIsLeft prints random values in every spelling between other text, as a whole and in chunks. What is left are the
// few characters that a base64 text has around a value.
func TestNothingOfAValueIsLeft(t *testing.T) {
	names := slices.Sorted(maps.Keys(spellings))
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[a-zA-Z0-9+/ &<>"'é€😀~!*()$%=_.\\\\-]{6,90}`).Draw(t, "value")
		value = strings.Trim(value, `\`) // backslashes at the ends may stay
		if len(strings.TrimSpace(value)) < 6 {
			t.Skip()
		}
		var s mask.Set
		s.Add(value)
		name := rapid.SampledFrom(names).Draw(t, "spelling")
		before := rapid.StringMatching(`[g-z #\n]{0,5}`).Draw(t, "before")
		text := before + "|" + spellings[name](value) + "|after"
		got := stream(t, &s, text)
		if whole := s.String(text); got != whole {
			t.Fatalf("%q in chunks is %q, whole %q", text, got, whole)
		}
		rest := len(got) - len(before) - len("||after") - len(mask.Text)
		if most := map[string]int{"lines 76": 24, "lines 64": 8, "xxd": 18, "basic": 10}[name]; !strings.Contains(got, mask.Text) || rest > max(most, 6) {
			t.Fatalf("%s: %q is %q", name, text, got)
		}
	})
}

// TestLinesOfAValueAreMasked: programs print multi-line values line by line, indented, and without the line break at their end.
func TestLinesOfAValueAreMasked(t *testing.T) {
	var s mask.Set
	s.Add("-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\nhkiG9w0BAQEFAASC\nshort\n")
	s.Add("hunter2\n")
	for text, want := range map[string]string{
		"1: MIIEvQIBADANBgkq\n2:   hkiG9w0BAQEFAASC\n3: short\n":               "1: ***\n2:   ***\n3: short\n",
		"the password is hunter2.":                                             "the password is ***.",
		"key " + base64.StdEncoding.EncodeToString([]byte("hunter2")):          "key ***",
		"key " + base64.StdEncoding.EncodeToString([]byte("hkiG9w0BAQEFAASC")): "key ***",
	} {
		if got := s.String(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestCutTextLeavesNoBeginning: the end of a text that was cut may be the beginning of a value.
func TestCutTextLeavesNoBeginning(t *testing.T) {
	var s mask.Set
	s.Add("correct horse battery")
	text := "password: correct horse battery"
	for n := range text {
		if got := s.Cut(text[:n]); strings.Contains(got, "co") || !strings.HasPrefix("password: ***", got) {
			t.Errorf("%q is %q", text[:n], got)
		}
		if got := s.String(text[:n]); strings.Contains(got, "correct hors") {
			t.Errorf("%q is %q", text[:n], got)
		}
	}
}

// TestValuesMayComeDuringTheStream: a value that is added later is masked from then on, also what was held back.
func TestValuesMayComeDuringTheStream(t *testing.T) {
	var s mask.Set
	var out bytes.Buffer
	w := mask.NewWriter(&out, &s)
	write := func(text string) { _, _ = w.Write([]byte(text)) }
	write("none ")
	s.Add("first-value")
	write("first-value first-va")
	s.Add("first-vault")
	write("ult first-value\n")
	if _ = w.Close(); out.String() != "none *** *** ***\n" {
		t.Errorf("%q", out.String())
	}
}

// TestHeldTextIsBounded: line breaks without end may not be held back as part of a wrapped value.
func TestHeldTextIsBounded(t *testing.T) {
	var s mask.Set
	s.Add("swordfish")
	first := base64.StdEncoding.EncodeToString([]byte("swordfish"))[:3]
	var out bytes.Buffer
	w := mask.NewWriter(&out, &s)
	_, _ = w.Write([]byte(first))
	for range 1000 {
		_, _ = w.Write([]byte("\n"))
	}
	if out.Len() < 1000 {
		t.Errorf("%d bytes were written", out.Len())
	}
}

func TestStreamHoldsBackOnlyWhatMayBeAValue(t *testing.T) {
	var s mask.Set
	s.Add("swordfish")
	var out bytes.Buffer
	w := mask.NewWriter(&out, &s)
	_, _ = w.Write([]byte("line\nswo"))
	if out.String() != "line\n" {
		t.Errorf("%q", out.String())
	}
	_, _ = w.Write([]byte("rd\n"))
	if out.String() != "line\nsword\n" {
		t.Errorf("%q", out.String())
	}
}
