package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
)

// TestYAMLRoundTripOfRandomJSON: JSON converted to YAML and read again is the same text, to the last digit.
func TestYAMLRoundTripOfRandomJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{"top": drawValue(t, 4), drawText(t): drawValue(t, 4)}
		want := rota.EncodeSpec(value)
		text, err := toYAML(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readDocument("f", text)
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, want, text)
		}
		if string(got.json) != string(want) {
			t.Fatalf("got\n%s\nwant\n%s\nfrom\n%s", got.json, want, text)
		}
	})
}

func drawValue(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 {
		kind = min(kind, 3)
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "flag")
	case 2:
		return json.Number(rapid.SampledFrom([]string{"0", "-0", "1.0", "1e3", "1E+400", "12345678901234567890123", "-0.10", "0.1e-7", "010"[1:]}).Draw(t, "number"))
	case 3:
		return drawText(t)
	case 4:
		list := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		object[drawText(t)] = drawValue(t, depth-1)
	}
	return object
}

// drawText draws a text that YAML could read as something else, or any text.
func drawText(t *rapid.T) string {
	switch rapid.IntRange(0, 3).Draw(t, "text") {
	case 0:
		return rapid.SampledFrom(trickyTexts).Draw(t, "tricky")
	case 1:
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(trickyParts), 0, 8).Draw(t, "parts"), "")
	}
	return rapid.String().Draw(t, "any")
}

var trickyTexts = []string{
	"", " ", "true", "True", "null", "~", "yes", "No", "1", "-1", "1.5", "1e3", "0x1F", "0o17", "017", "+1", ".5", "5.", ".inf", "-.INF", ".nan", "1_000",
	"2026-01-01", "2026-01-01T00:00:00Z", "12:30:45", "1m30s", "100/1m", "- a", "-", "?", "? a", "a: b", "a:b", "a:", ":", ":a", "# x", "a #b", "a#b", "[", "]", "{", "}", "[a]", "{a: b}",
	",", "a, b", "&a", "*a", "*/5 * * * *", "0 3 * * *", "!a", "!!str", "|", "|-", ">", "> a", "%a", "@daily", "`a`", "'", "''", "'a'", "\"", "\"a\"", "\\", "\\n", "<<", "=",
	"a\nb", "a\nb\n", "a\n\nb", "a\n", "\na", "\n", "\n\n", "a\n\n", " a\nb", "a\n b", "a \nb", "\ta\nb", "a\n\tb", "a\r\nb", "a\rb", "---", "--- a", "...", "a\n---\nb", "# a\nb", "a\n# b\nc",
	"\u2028", "\u0085", "\ufeff", "\x00", "\x07", "\x1b[31m", "\x7f", "\u00a0", "Grüße", "世界", "👍", "\u202e", "\ufffd", "a\u2028b\nc", strings.Repeat("long ", 60), strings.Repeat("x", 300),
	"y", "n", "on", "OFF", "merge: <<", "cd / && run-parts --report /etc/cron.hourly", "echo \"$HOME = $(date)\" > /dev/null 2>&1", "it's", "a 'b' c", "a \"b\" c", "a: 'b'", "x=1", "a | b", "a & b", "a -b", "a ? b",
}

var trickyParts = []string{"a", "b", " ", "\n", ":", "#", "-", "'", "\"", "\\", "\t", ",", "[", "}", "&", "*", "|", "!", "%", "@", "1", ".", "e", "ü", "\r", "?", "="}

// TestYAMLRoundTripOfTrickyTexts tests each text as a value, in a list and as a key.
func TestYAMLRoundTripOfTrickyTexts(t *testing.T) {
	for _, text := range trickyTexts {
		want := rota.EncodeSpec(map[string]any{"a": text, "b": []string{text, text}, "c": map[string]any{text: []any{map[string]string{text: text, "z": text}}}, "d": "end"})
		encoded, err := toYAML(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readDocument("f", encoded)
		if err != nil || string(got.json) != string(want) {
			t.Errorf("%q: %v\n%s\ngot %s", text, err, encoded, got.json)
		}
	}
}

// TestYAMLLayout compares the YAML of one document.
func TestYAMLLayout(t *testing.T) {
	got, err := toYAML([]byte(`{"version":1,"types":{"mail.send":{"paused":false,"backoff":"1m30s","schema":{"type":"object","required":["to","n"],
		"properties":{"n":{"maximum":12345678901234567890}}}}},"schedules":{"7":{"cron":"*/5 * * * *","at":"2026-11-15T07:00:00Z","depends_on":[],"scopes":[{"kind":"user","ids":["7","x"]},{"kind":"a"}],
		"param_overrides":{"text":"two\nlines\n","command":"cd / && run","n":1.0,"empty":{},"none":null,"note":"a: b"}}}}`))
	want := `version: 1

types:
  mail.send:
    paused: false
    backoff: 1m30s
    schema:
      type: object
      required: [to, "n"]
      properties:
        "n":
          maximum: 12345678901234567890

schedules:
  "7":
    cron: "*/5 * * * *"
    at: "2026-11-15T07:00:00Z"
    depends_on: []
    scopes:
      - kind: user
        ids: ["7", x]
      - kind: a
    param_overrides:
      text: |
        two
        lines
      command: "cd / && run"
      "n": 1.0
      empty: {}
      none: null
      note: "a: b"
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestHandwrittenYAML covers what is read and what is refused, with the line.
func TestHandwrittenYAML(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"a: 1 # one\nb: [x, 'y', \"z\"]\nc:\n- d: ~\n", `{"a":1,"b":["x","y","z"],"c":[{"d":null}]}`},
		{"---\na: {b: c, d: 1.50}\n", `{"a":{"b":"c","d":1.50}}`},
		{"a: >\n  folded\n  text\nb: plain text\n  goes on\n", `{"a":"folded text\n","b":"plain text goes on"}`},
		{"a: 0x1F\nb: 0o17\n", `{"a":31,"b":15}`},
		{"a: 1\nb: 1_000\n", "f:2: 1_000 is not a number in JSON"},
		{"a: 017\n", "f:1: 017 is not a number in JSON"},
		{"a: +1\n", "f:1: +1 is not a number in JSON"},
		{"7: a\ntrue: b\n", `{"7":"a","true":"b"}`},
		{"\t", ""},
		{"a:\n\tb: 1\n", "f:2: not valid YAML: there is a tab"},
		{"\ta: 1\n", "f:1: not valid YAML: there is a tab"},
		{"a: |\n\tx\n", "f:2: not valid YAML: there is a tab"},
		{"a: x < y & z\n", `{"a":"x < y & z"}`},
		{"{\n\t\"a\": 1\n}", `{"a": 1}`},
		{"a: b: c\n", "f:1: not valid YAML: "},
		{"a: 1\nb: [1\n", "f:2: not valid YAML: "},
		{"a: 1\na: 2\n", "f:2: "},
		{"a: 1\n---\nb: 2\n", "f:3: a second document begins here"},
		{"- a\n", "f:1: not a document of definitions"},
		{"words\n", "f:1: not a document of definitions"},
		{"", "f: the file is empty"},
		{"# nothing\n", "f: the file is empty"},
		{"a: &x 1\nb: *x\n", "f:1: anchors and aliases are not supported"},
		{"a: 1\nb: !!str 2\n", "f:2: tags such as !!str are not supported"},
		{"a:\n  <<: {b: 1}\n", "f:2: "},
		{"a: .inf\n", "f:1: .inf is not a number in JSON"},
		{"? [a]\n: b\n", "f:"},
	} {
		got, err := readDocument("f", []byte(row.text))
		text := ""
		if err == nil {
			text = strings.ReplaceAll(string(got.json), "\n\t", "\n\t")
		} else {
			text = err.Error()
		}
		if row.want == "" && err != nil || err != nil && strings.HasPrefix(text, row.want) || err == nil && strings.Join(strings.Fields(text), "") == strings.Join(strings.Fields(row.want), "") {
			continue
		}
		t.Errorf("%q is read as %s, want %s", row.text, text, row.want)
	}
}

// TestYAMLPathToLine: a path leads to its line, or to the line of the enclosing value.
func TestYAMLPathToLine(t *testing.T) {
	d, err := readDocument("f.yaml", []byte("# head\nschedules:\n  a.b:\n    cron: x\n    scopes:\n    - kind: user\n      id: 7\n    - {kind: k, id: j}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"schedules.a.b.cron": "f.yaml:4: ", "schedules.a.b.scopes[0].id": "f.yaml:7: ", "schedules.a.b.scopes[1]": "f.yaml:8: ",
		"schedules.a.b.template": "f.yaml:3: ", "schedules": "f.yaml:2: ", "limits": "", "": "",
	} {
		if got := d.position(path); got != want {
			t.Errorf("%s is at %q, want %q", path, got, want)
		}
	}
}

// TestJSONPathToLine: JSON may contain tabs.
func TestJSONPathToLine(t *testing.T) {
	d, err := readDocument("f.json", []byte("\n{\n\t\"schedules\": {\n\t\t\"a.b\": {\"cron\":\n\"x\", \"n\": 1e999,\n\"scopes\": [{\"id\": 7},\n{\n\"id\": 8}]}\n}, \"limits\": {}, \"limits\":\n{}}"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"schedules": "f.json:3: ", "schedules.a.b.cron": "f.json:4: ", "schedules.a.b.n": "f.json:5: ", "schedules.a.b.scopes[0].id": "f.json:6: ",
		"schedules.a.b.scopes[1]": "f.json:7: ", "schedules.a.b.scopes[1].id": "f.json:8: ", "schedules.a.b.template": "f.json:4: ", "limits": "f.json:9: ", "": "",
	} {
		if got := d.position(path); got != want {
			t.Errorf("%s is at %q, want %q", path, got, want)
		}
	}
	if deep, err := readDocument("f", []byte(strings.Repeat(`{"a":`, 9_000)+"1"+strings.Repeat("}", 9_000))); err != nil || len(deep.lines) > pathMax {
		t.Errorf("a deep document has %d lines recorded, %v", len(deep.lines), err)
	}
}

// TestYAMLRoundTripOfLargeDocuments covers the export of 10,000 schedules, deep nesting and a long text.
func TestYAMLRoundTripOfLargeDocuments(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"schedules":{`)
	for i := range 10_000 {
		fmt.Fprintf(&b, `%s"s%d":{"template":"t","cron":"0 3 * * *","param_overrides":{"text":"two\nlines","n":1.5}}`, strings.Repeat(",", min(1, i)), i)
	}
	b.WriteString(`}}`)
	for name, want := range map[string]string{
		"many": b.String(), "deep": `{"a":` + strings.Repeat(`{"a":[`, 249) + strings.Repeat(`]}`, 249) + `}`,
		"long": `{"a":"` + strings.Repeat("x \\\" ", 1<<18) + `"}`,
	} {
		began := time.Now()
		text, err := toYAML([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := readDocument("f", text)
		if err != nil || string(got.json) != want {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d bytes in %s", name, len(want), time.Since(began))
	}
}

// TestImportRefusesAmbiguousParams: an import refuses params that JSON readers understand differently, with the line of the
// document, and writes nothing, also not the other definitions.
func TestImportRefusesAmbiguousParams(t *testing.T) {
	s := startServer(t)
	for _, row := range []struct{ params, want string }{
		{"n: 1e999", `templates.bad.default_params.n: is "1e999"`},
		{"list: [1, -1e400]", `templates.bad.default_params.list[1]: is "-1e400"`},
		{`"text": "\ud800"`, "surrogate pair"},
		{"n: 1, n: 2", `"n" is given twice`},
	} {
		document := "templates:\n  fine:\n    type: noop\n  bad:\n    type: noop\n    default_params: {" + row.params + "}\n"
		out, errs, code := s.runWith("import -", terminal{}, map[string]string{"STDIN": document})
		if code != exitUsage || !strings.HasPrefix(errs, "rota: standard input:6: ") || !strings.Contains(errs, row.want) {
			t.Errorf("%s exits with %d: %s%s", row.params, code, out, errs)
		}
		if list := s.must("template list"); !strings.Contains(list, "no templates") {
			t.Fatalf("%s was written: %s", row.params, list)
		}
	}
}
