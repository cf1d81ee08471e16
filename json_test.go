package rota

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// jsonTexts are valid and nearly valid documents.
var jsonTexts = []string{
	``, ` `, `{}`, ` { } `, "\t\r\n{}\n", "\v{}", "\ufeff{}", `{}{}`, `{},`, `[]`, `null`, `nul`, `nulls`, `true`, `tru`, `falsee`,
	`{"a":1}`, `{"a":1,}`, `{,"a":1}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a" : 1 , "b":[ ]}`, `{'a':1}`, `{"a":1 "b":2}`, `{"a":1`, `{"a`, `{"a\`,
	`0`, `-0`, `-`, `+1`, `01`, `1.`, `.5`, `1.5`, `1e5`, `1E+5`, `1e-05`, `1e`, `1e+`, `0x10`, `1_000`, `NaN`, `Infinity`, `1.5.5`, `--1`,
	`""`, `"a`, `"\n"`, `"\u12"`, `"\u12g4"`, `"\uD800"`, `"\uD83D\uDE00"`, `"\x41"`, `"\'"`, `"\/"`, "\"a\nb\"", "\"\x00\"", "\"\x1f\"", "\"\x7f\"", `"é"`,
	"\"\xff\"", "\"\xed\xa0\x80\"", `[1,2,[3,[4]]]`, `[1,]`, `[,1]`, `[1 2]`, `[`, `]`, `{]`, `[}`, `//a`, `/**/{}`, `{}//a`, "{}\x00",
}

// sameJSON checks that Rota and the standard library agree on what is JSON.
func sameJSON(t *testing.T, text string) {
	t.Helper()
	is := CheckJSON("doc", json.RawMessage(text), ResultMax) == nil
	if want := json.Valid([]byte(text)) && utf8.ValidString(text) && JSONDepth([]byte(text)) <= DepthMax; is != want && len(text) <= ResultMax {
		t.Errorf("%.100q is taken for JSON: %t, by the standard library: %t", text, is, want)
	}
}

func TestCheckJSONAgreesWithStandardLibrary(t *testing.T) {
	for _, text := range jsonTexts {
		sameJSON(t, text)
		sameJSON(t, `{"in": `+text+`}`)
		sameJSON(t, `[1, `+text+`, 2]`)
		for i := range text { // truncated, and with one byte removed
			sameJSON(t, text[:i])
			sameJSON(t, text[:i]+text[i+1:])
		}
	}
	for _, depth := range []int{DepthMax - 1, DepthMax, DepthMax + 1, 30_000} {
		sameJSON(t, strings.Repeat("[", depth)+strings.Repeat("]", depth))
		sameJSON(t, strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth))
		sameJSON(t, strings.Repeat("[", depth))
	}
}

func FuzzJSON(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	f.Fuzz(sameJSON)
}
