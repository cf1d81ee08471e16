package payload

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func compiled(t testing.TB, schema string) *Compiled {
	t.Helper()
	c, err := Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return c
}

func TestFlatSchemaIsRecognised(t *testing.T) {
	field := func(f string) string { return `{"type":"object","properties":{"a":` + f + `}}` }
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"f%d":{"type":"string"},`, i)
		}
		return `{"type":"object","properties":{` + strings.TrimSuffix(b.String(), ",") + `}}`
	}
	for schema, want := range map[string]bool{
		`{"type":"object"}`: true,
		`{"type":"object","additionalProperties":false,"title":"t","description":"d","examples":[{}],"default":{}}`: true,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`:                                   true,
		`{"type":"object","required":["b"],"properties":{"a":{"type":"string"}}}`:                                   false,
		`{"type":"object","additionalProperties":{}}`:                                                               false,
		`{"type":"object","maxProperties":3}`:                                                                       false,
		`{"type":"object","$schema":"http://json-schema.org/draft-04/schema#"}`:                                     false,
		`{"type":["object"]}`: false,
		`{"properties":{}}`:   false,
		field(`{"type":"string","minLength":1,"maxLength":5,"enum":["x"],"title":"t"}`): true,
		field(`{"type":["null","integer"],"minimum":-3,"maximum":9}`):                   true,
		field(`{"type":["string","null"],"enum":["x",null]}`):                           true,
		field(`{"type":"number"}`):                                                      true,
		field(`{"type":"boolean"}`):                                                     true,
		field(`{"type":"integer","maximum":1.5}`):                                       false,
		field(`{"type":"integer","maximum":1e3}`):                                       false,
		field(`{"type":"integer","maximum":9223372036854775808}`):                       false,
		field(`{"type":"integer","enum":[1]}`):                                          false,
		field(`{"type":"integer","multipleOf":2}`):                                      false,
		field(`{"type":"string","format":"email"}`):                                     false,
		field(`{"type":"string","pattern":"x"}`):                                        false,
		field(`{"type":"array"}`):                                                       false,
		field(`{"type":["string","object"]}`):                                           false,
		field(`{}`):                                                                     false,
		field(`true`):                                                                   false,
		many(64):                                                                        true,
		many(65):                                                                        false,
	} {
		if got := compiled(t, schema).fastPath != nil; got != want {
			t.Errorf("%.120s: got %v, want %v", schema, got, want)
		}
	}
}

// mail is a flat schema with params of a usual length.
const (
	mail = `{"type":"object","additionalProperties":false,"required":["to","n"],"properties":{
		"to":{"type":"string","minLength":2,"maxLength":20},"body":{"type":"string"},"n":{"type":"integer","minimum":0,"maximum":2000},
		"rate":{"type":"number"},"paid":{"type":"boolean"},"how":{"type":["string","null"],"enum":["fast","slow",null]}}}`
	mailParams = `{"to":"someone@example.com","body":"Dear customer,\nplease find the invoice for your last order attached ` +
		`to this message. Thank you for your trust.","n":1299,"rate":0.19,"paid":false,"how":"fast"}`
)

func TestFlatSchemaAcceptsOnlyParamsThatAreCertainlyValid(t *testing.T) {
	closed := compiled(t, mail).fastPath
	open := compiled(t, `{"type":"object","properties":{"a":{"type":"integer"}}}`).fastPath
	special := compiled(t, `{"type":"object","properties":{
		"m":{"type":"number","minimum":0},"e":{"type":["string","null"],"enum":["\\u0078"]},"s":{"type":"string"}}}`).fastPath
	for _, c := range []struct {
		schema *flatSchema
		params string
		want   bool
	}{
		{closed, mailParams, true},
		{closed, " {\r\n\t\"n\" : 0 , \"to\" : \"äé\" } ", true},
		{closed, `{"to":"ab","n":-0,"how":null,"paid":true,"rate":-7,"body":"\"\\"}`, true},
		{closed, `{"to":"ab"}`, false},
		{closed, `{}`, false},
		{closed, ``, false},
		{closed, `[]`, false},
		{closed, `{"to":"ab","n":1`, false},
		{closed, `{"to":"ab","n":1}}`, false},
		{closed, `{"to":"ä","n":1}`, false},
		{closed, `{"to":"aaaaaaaaaaaaaaaaaaaaa","n":1}`, false},
		{closed, `{"to":"a\u0062","n":1}`, false},
		{closed, `{"to":"ab","\u006e":1}`, false},
		{closed, `{"to":"ab","n":1,"n":1}`, false},
		{closed, `{"to":"ab","n":2001}`, false},
		{closed, `{"to":"ab","n":-1}`, false},
		{closed, `{"to":"ab","n":1.0}`, false},
		{closed, `{"to":"ab","n":1e0}`, false},
		{closed, `{"to":"ab","n":null}`, false},
		{closed, `{"to":null,"n":1}`, false},
		{closed, `{"to":"ab","n":1,"rate":1E2}`, false},
		{closed, `{"to":"ab","n":1,"rate":1.5e9999}`, false},
		{closed, `{"to":"ab","n":1,"rate":1234567890123456789}`, false},
		{closed, `{"to":"ab","n":1,"paid":"true"}`, false},
		{closed, `{"to":"ab","n":1,"how":"never"}`, false},
		{closed, `{"to":"ab","n":1,"how":"f\u0061st"}`, false},
		{closed, `{"to":"ab","n":1,"other":1}`, false},
		{closed, "{\"to\":\"ab\",\"n\":1,\"body\":\"\xff\"}", false},
		{closed, `{"to":"ab","n":1,"body":"` + strings.Repeat("x", fastPathBytesMax) + `"}`, false},
		{open, `{}`, true},
		{open, `{"b":"\n","c":1.5,"b":null,"d":true}`, true},
		{open, `{"b":[]}`, false},
		{open, `{"b":{}}`, false},
		{open, `{"b":1e9}`, false},
		{open, `{"\u0061":"x"}`, false},
		{special, `{"m":3}`, true},
		{special, `{"m":-0.5}`, false},
		{special, `{"m":0.5}`, false},
		{special, `{"e":"\u0078"}`, false},
		{special, `{"e":null}`, false},
		{special, `{"s":1}`, false},
		{nil, `{}`, false},
	} {
		if got := c.schema.accepts([]byte(c.params)); got != c.want {
			t.Errorf("%.80s: got %v, want %v", c.params, got, c.want)
		}
	}
}

func TestFlatSchemaAllocatesNothing(t *testing.T) {
	p, params := compiled(t, mail).fastPath, []byte(mailParams)
	if n := testing.AllocsPerRun(100, func() { p.accepts(params) }); n != 0 {
		t.Errorf("accepts allocates %v times", n)
	}
}

// wantFullCheckAgrees fails the test if the flat schema accepts params that the full
// check refuses. It reports whether the flat schema accepts them.
func wantFullCheckAgrees(t interface{ Fatalf(string, ...any) }, c *Compiled, params []byte) bool {
	if !c.fastPath.accepts(params) {
		return false
	}
	if err := c.fullCheck(params); err != nil {
		t.Fatalf("the flat form of %v accepts the params %q, the full check does not: %v", c.schema, params, err)
	}
	return true
}

// TestFlatSchemaAgreesWithTheFullCheck draws schemas and params that are valid or nearly so.
func TestFlatSchemaAgreesWithTheFullCheck(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			accepted += acceptedOf(t, drawSchema(t))
		}
	})
	if accepted < 10 {
		t.Errorf("the flat schema accepted only %d params, too few for the test to be meaningful", accepted)
	}
}

func acceptedOf(t *rapid.T, schema map[string]any) (accepted int) {
	text, _ := json.Marshal(schema)
	c, err := Compile(text)
	if err != nil || c.fastPath == nil {
		t.Fatalf("%s is not flat: %v", text, err)
	}
	for range 40 {
		if wantFullCheckAgrees(t, c, []byte(drawParams(t, schema))) {
			accepted++
		}
	}
	return accepted
}

func drawSchema(t *rapid.T) map[string]any {
	names := rapid.SampledFrom([]string{"a", "b", "ä", "", "$ref", "a/b~", "\ufffd"})
	properties, required := map[string]any{}, []string{}
	for _, name := range rapid.SliceOfNDistinct(names, 0, 3, rapid.ID[string]).Draw(t, "fields") {
		properties[name] = drawField(t)
		if rapid.Bool().Draw(t, "required") {
			required = append(required, name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "required": required}
	if rapid.Bool().Draw(t, "closed") {
		schema["additionalProperties"] = false
	}
	return schema
}

var limits = []struct {
	word   string
	values []any
}{
	{"enum", []any{[]any{"x", "äö"}, []any{"", nil}, []any{`\u0078`, "1"}, []any{}}},
	{"minLength", []any{0, 1, 2}},
	{"maxLength", []any{0, 1, 3}},
	{"minimum", []any{-1, 0, 2, int64(-1 << 63)}},
	{"maximum", []any{-1, 0, 7, int64(1<<63 - 1)}},
}

func drawField(t *rapid.T) map[string]any {
	f := map[string]any{"type": rapid.SampledFrom([][]string{
		{"string"}, {"integer"}, {"number"}, {"boolean"}, {"string", "null"}, {"integer", "null"}, {"number", "null"}, {"boolean", "string"},
	}).Draw(t, "type")}
	for _, limit := range limits { // in a fixed order, so that a failure can be drawn again
		if rapid.IntRange(0, 3).Draw(t, "limited") == 3 {
			f[limit.word] = rapid.SampledFrom(limit.values).Draw(t, limit.word)
		}
	}
	return f
}

var (
	texts   = []string{`"x"`, `"ä"`, `"äö"`, `""`, `"a\n"`, `"\u0078"`, `"\ud800"`, `"\\"`, `"\""`, "\"\xff\"", `"日本語"`, `"1"`}
	numbers = []string{
		`0`, `-0`, `1`, `-1`, `2`, `8`, `0.0`, `1.5`, `-0.5`, `7.5`, `1e0`, `1.5e9999`, `1.5E9999`, `-9223372036854775809`,
		`123456789012345678`, `1234567890123456789`, `0.` + strings.Repeat("1", digitsMax),
	}
	words  = []string{`true`, `false`, `null`}
	others = []string{`[]`, `{}`, `{"a":1}`, ``, `01`, `tru`}
)

// drawParams draws mostly valid fields: an error in one field is noticed only if all
// others are valid.
func drawParams(t *rapid.T, schema map[string]any) string {
	space := func() string { return rapid.SampledFrom([]string{"", "", "", " ", "\n\t\r "}).Draw(t, "space") }
	rarely := func() bool { return rapid.IntRange(0, 9).Draw(t, "rarely") == 9 }
	var parts []string
	put := func(key string, values []string) {
		if rarely() {
			values = slices.Concat(texts, numbers, words, others)
		}
		parts = append(parts, space()+key+space()+":"+space()+rapid.SampledFrom(values).Draw(t, "value")+space())
	}
	properties := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		types := properties[name].(map[string]any)["type"].([]string)
		values := map[string][]string{"string": texts, "integer": numbers, "number": numbers, "boolean": words}[types[0]]
		if !rarely() {
			put(strconv.Quote(name), values)
		}
	}
	if rarely() {
		put(rapid.SampledFrom([]string{`"other"`, `"a"`, `"\u0061"`, "\"\xff\""}).Draw(t, "key"), texts)
	}
	return space() + "{" + strings.Join(parts, ",") + space() + "}" + space()
}

func FuzzFlatSchema(f *testing.F) {
	f.Add([]byte(mail), []byte(mailParams))
	f.Add([]byte(`{"type":"object"}`), []byte(` {"a" : "\"" , "b":-1.5,"c":null} `))
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":["integer","null"],"minimum":-5}},"required":["a"]}`), []byte(`{"a":-0}`))
	f.Fuzz(func(t *testing.T, schema, params []byte) {
		if c, err := Compile(schema); err == nil {
			wantFullCheckAgrees(t, c, params)
		}
	})
}

// BenchmarkCheck compares Check, which tries the flat schema first, with the full check.
func BenchmarkCheck(b *testing.B) {
	c, params := compiled(b, mail), json.RawMessage(mailParams)
	for name, check := range map[string]func(json.RawMessage) error{"flat": c.Check, "full": c.fullCheck} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := check(params); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
