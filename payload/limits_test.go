package payload_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
)

// doubling is a schema whose work doubles with each of its lines.
func doubling(keyword, last string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range 100 {
		fmt.Fprintf(&b, `"a%d":{"%s":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, keyword, i+1, i+1)
	}
	return b.String() + `"a100":` + last + `}}`
}

func nested(n int) string { return strings.Repeat(`{"x":`, n) + `1` + strings.Repeat(`}`, n) }

// TestCostlySchemaIsAbortedInTime runs checks that would take hours without a
// budget. A check takes less than a second; the test allows more, because a loaded
// machine is slow.
func TestCostlySchemaIsAbortedInTime(t *testing.T) {
	list := func(item string, n int) string { return `{"a":[` + strings.Repeat(item+",", n) + item + `]}` }
	for name, c := range map[string]struct{ schema, params string }{
		"anyOf of two, of two":   {doubling("anyOf", `{"type":"string"}`), `{}`},
		"allOf of two, of two":   {doubling("allOf", `{"type":"object"}`), `{}`},
		"not of two, of two":     {strings.Replace(doubling("allOf", `{"type":"object"}`), `"$ref":"#/$defs/a0"`, `"not":{"$ref":"#/$defs/a0"}`, 1), `{}`},
		"two, at each level":     {`{"type":"object","properties":{"x":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, nested(400)},
		"properties and pattern": {`{"type":"object","properties":{"x":{"$ref":"#"}},"patternProperties":{"x":{"$ref":"#"}}}`, nested(400)},
		"marked as hoisted":      {strings.ReplaceAll(doubling("anyOf", `{"type":"string"}`), `"anyOf"`, `"x-rota-part":true,"anyOf"`), `{}`},
		"a pattern of many parts": {
			`{"properties":{"a":{"items":{"pattern":"(x+x+)+y(a{0,700}b{0,700}){1}"}}}}`, list(`"`+strings.Repeat("x", 5000)+`"`, 100),
		},
		"a long enum of numbers": {`{"properties":{"a":{"items":{"enum":[0` + strings.Repeat(",1", 5000) + `]}}}}`, list("7", 1000)},
		"many types":             {`{"properties":{"a":{"items":{"allOf":[{"type":"string"}` + strings.Repeat(`,{"type":"string"}`, 1000) + `]}}}}`, list("7", 10_000)},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			err := compile(t, c.schema).Check(json.RawMessage(c.params))
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("the check took %v", took)
			}
			if e, is := err.(*rota.Error); !is || e.Code != rota.Invalid || e.Field != "type" || !strings.Contains(err.Error(), "too many steps") && !strings.Contains(err.Error(), "too many to compare") {
				t.Errorf("got %.300v, want an Invalid about too many steps", err)
			}
		})
	}
}

func TestCheckAfterAnAbortedCheckSucceeds(t *testing.T) {
	compiled := compile(t, `{"type":"object","properties":{"x":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`)
	for range 3 {
		if err := compiled.Check(json.RawMessage(nested(100))); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("got %v, want Invalid", err)
		}
		if err := compiled.Check(json.RawMessage(`{"x":{"x":{}}}`)); err != nil {
			t.Error(err)
		}
	}
}

// TestLargestParamsStayWithinTheBudget checks params of the largest allowed size
// with as many values as possible.
func TestLargestParamsStayWithinTheBudget(t *testing.T) {
	params := `{"a":[1` + strings.Repeat(",1", rota.ParamsMax/2-10) + `]}`
	compiled := compile(t, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}`)
	if err := compiled.Check(json.RawMessage(params)); err != nil {
		t.Error(err)
	}
}

func FuzzCompileAndCheck(f *testing.F) {
	for _, seed := range [][2]string{
		{`{}`, `{}`},
		{`{"type":"object","required":["a"],"properties":{"a":{"type":["integer","null"],"minimum":1e3}},"additionalProperties":false}`, `{"a":1,"b":[2.5e-3]}`},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#"},{"pattern":"^a|b$"}]}}}`, `{"x":"y"}`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`, `{"a":1}`},
		{`{"patternProperties":{"^x":{"enum":[1,"a",null,{}]}},"propertyNames":{"format":"uuid"},"if":{},"then":false}`, `{"xy":[1,[2,{}]]}`},
		{`{"properties":{"a":{"contentEncoding":"base64","contentMediaType":"application/json","contentSchema":{"type":"string"}}}}`, `{"a":"MQ=="}`},
		{`{"$dynamicRef":"#a","$dynamicAnchor":"a","unevaluatedProperties":{"$dynamicRef":"#a"}}`, `{"a":{"b":{}}}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, params []byte) {
		compiled, err := payload.Compile(schema)
		if err != nil {
			wantInvalid(t, err, "schema")
			return
		}
		err = compiled.Check(params)
		if again := compiled.Check(params); rota.CodeOf(again) != rota.CodeOf(err) {
			t.Errorf("first %v, then %v", err, again)
		}
		if e := (*rota.Error)(nil); errors.As(err, &e) && e.Field != "type" { // params that cannot be checked have the field type
			wantInvalid(t, err, "params")
		}
	})
}

func wantInvalid(t *testing.T, err error, root string) {
	t.Helper()
	e, is := err.(*rota.Error)
	if !is || e.Code != rota.Invalid || !strings.HasPrefix(e.Field, root) || e.Reason == "" {
		t.Errorf("got %v, want an Invalid about %s", err, root)
	}
	if len(err.Error()) > 100<<10 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}
