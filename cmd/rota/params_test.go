package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParamsFromFlagsFileAndStdin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "params.json")
	if err := os.WriteFile(file, []byte(` {"a": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		document string
		fields   []string
		want     string
	}{
		{"", nil, ""},
		{"{}", nil, "{}"},
		{`{"a": 1}`, []string{"b=2", "a=3"}, `{"a":3,"b":2}`},
		{"", []string{"n=12345678901234567890", "text=hello", "quoted=\"5\"", "list=[1,2]", "nothing=null", "empty=", "is=a=b"}, `{"empty":"","is":"a=b","list":[1,2],"n":12345678901234567890,"nothing":null,"quoted":"5","text":"hello"}`},
		{"@" + file, nil, `{"a": 1}`},
		{"-", []string{"b=2"}, `{"b":2,"in":true}`},
		// Refused.
		{"", []string{"novalue"}, "-p novalue is not of the form KEY=VALUE"},
		{"", []string{"a=1", "b=1", "a=2"}, "-p a is given twice"},
		{"", []string{"a=\xff"}, `-p "a=\xff" is not valid UTF-8`},
		{"", []string{"a=\"\xff\""}, `is not valid UTF-8`},
		{"", []string{"=x"}, "-p =x is not of the form KEY=VALUE"},
		{`{"a": `, nil, "--params is not valid JSON: unexpected end of JSON input, at byte 6"},
		{`[1]`, nil, "--params is not a JSON object"},
		{`null`, nil, "--params is null, not a JSON object"},
		{`{"a": 1, "a": 2}`, []string{"b=2"}, "--params: params.a is given twice in one object; keep one of the two"},
		{`{"a": [1e999]}`, nil, "--params: params.a[0] is \"1e999\", which no 64-bit floating-point number holds; use a number between -1.7e308 and 1.7e308, or a text"},
		{"@" + file + "x", nil, "no such file or directory"},
	} {
		a := &app{environment: environment{in: strings.NewReader(`{"in": true}`)}}
		p := paramFlags{document: row.document, fields: row.fields}
		got, err := p.read(a)
		text := strings.TrimSpace(string(got))
		if err != nil {
			text = err.Error()
			if exitCode(err) != exitUsage {
				t.Errorf("%s %q exits with %d", row.document, row.fields, exitCode(err))
			}
		}
		if text != row.want && (err == nil || !strings.Contains(text, row.want)) {
			t.Errorf("%s %q is %s, want %s", row.document, row.fields, text, row.want)
		}
	}
}
