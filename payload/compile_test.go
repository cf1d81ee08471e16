package payload_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
)

func TestCompileNamesThePathOfAnInvalidSchema(t *testing.T) {
	for name, c := range map[string]struct{ schema, field, reason string }{
		"empty":              {``, "schema", "is not JSON: it ends too early"},
		"no JSON":            {`{"a"}`, "schema", "is not JSON: invalid character '}' after object key, at byte 5"},
		"more than one":      {`{}{}`, "schema", "there is more text after the first value"},
		"no object":          {`true`, "schema", "is true or false; a schema is an object"},
		"a list":             {`[]`, "schema", "is a list"},
		"unknown type":       {`{"type":"strin"}`, "schema.type", `is "strin"; allowed are "array", "boolean"`},
		"one of the types":   {`{"properties":{"a":{"type":["string",1]}}}`, "schema.properties.a.type[1]", "is 1; allowed are"},
		"no number":          {`{"properties":{"a":{"minimum":"x"}}}`, "schema.properties.a.minimum", "is text; it must be a number"},
		"no list":            {`{"required":"a"}`, "schema.required", "is text; it must be a list"},
		"twice":              {`{"required":["a","a"]}`, "schema.required", "has the same entry twice, at [0] and [1]"},
		"misspelt":           {`{"items":{"minimun":1}}`, "schema.items.minimun", "is not a keyword of JSON Schema; did you mean minimum?"},
		"misspelt deep":      {`{"anyOf":[{},{"$defs":{"a b":{"tipe":1}}}]}`, `schema.anyOf[1].$defs["a b"].tipe`, "did you mean type?"},
		"wrong case":         {`{"maxlength":1}`, "schema.maxlength", "did you mean maxLength?"},
		"of OpenAPI":         {`{"nullable":true}`, "schema.nullable", `write "type": ["string", "null"]`},
		"an annotation":      {`{"owner":"me"}`, "schema.owner", "names of custom annotations begin with x-"},
		"remote":             {`{"items":{"$ref":"https://example.com/a.json#/b"}}`, "schema.items.$ref", "is in another document, and Rota loads no remote schemas; put it under $defs"},
		"a file":             {`{"$ref":"file:///etc/passwd"}`, "schema.$ref", "Rota loads no remote schemas"},
		"a relative file":    {`{"$ref":"other.json"}`, "schema.$ref", "Rota loads no remote schemas"},
		"no such schema":     {`{"items":{"$ref":"#/$defs/a"}}`, "schema.items.$ref", `refers to "#/$defs/a", but there is no schema`},
		"no schema":          {`{"$ref":"#/x-a","x-a":{}}`, "schema.$ref", "but there is no schema"},
		"no anchor":          {`{"$ref":"#a"}`, "schema.$ref", `refers to "#a"`},
		"no draft":           {`{"$schema":"https://example.com/"}`, "schema.$schema", "is not a draft of JSON Schema; leave it out"},
		"id inside":          {`{"items":{"$id":"a"}}`, "schema.items.$id", "only the top-level schema may have one"},
		"look-ahead":         {`{"items":{"pattern":"(?!x)"}}`, "schema.items.pattern", "look-ahead, look-behind and back references are not supported"},
		"bad pattern":        {`{"patternProperties":{"(":{}}}`, `schema.patternProperties["("]`, "is not a pattern: missing closing )"},
		"long pattern":       {`{"pattern":"` + strings.Repeat("a", 5000) + `"}`, "schema.pattern", "has 5000 bytes; at most 4096"},
		"costly pattern":     {`{"pattern":"` + strings.Repeat("a{900}", 9) + `"}`, "schema.pattern", "nested repetitions"},
		"huge number":        {`{"minimum":1e9999999}`, "schema.minimum", "a number out of range"},
		"many digits":        {`{"minimum":` + strings.Repeat("1", 2000) + `}`, "schema.minimum", "a number of 2000 digits"},
		"too deep":           {strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300), "schema", "nested more than 200 deep"},
		"far too deep":       {strings.Repeat(`[`, 20_000), "schema", "is not JSON"},
		"too long":           {`{"x-a":"` + strings.Repeat("a", rota.SchemaMax) + `"}`, "schema", "at most 262144 are allowed"},
		"too many parts":     {`{"x-a":[0` + strings.Repeat(",0", 11_000) + `]}`, "schema", "at most 10000 are allowed"},
		"many references":    {`{"allOf":[{}` + strings.Repeat(`,{"$ref":"#"}`, 1001) + `]}`, "schema", "has 1001 references; at most 1000 are allowed"},
		"itself":             {`{"$ref":"#"}`, "schema.$ref", "refers back to itself for the same value, so no check would end; refer to it only from a schema under properties or items"},
		"itself by name":     {`{"$anchor":"a","then":{"$ref":"#a"}}`, "schema.then.$ref", "refers back to itself"},
		"itself and more":    {`{"properties":{"n":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/b c~1d"}]},"b c/d":{"not":{"$ref":"#/$defs/a"}}}}`, `schema.$defs["b c/d"].not.$ref`, "refers back to itself"},
		"itself from a part": {`{"$ref":"#/$defs/a/allOf/0","$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, "schema.$defs.a.allOf", "refers back to itself"},
		"itself, dependent":  {`{"dependentSchemas":{"x":{"$dynamicRef":"#m"}},"$dynamicAnchor":"m"}`, "schema.dependentSchemas.x.$dynamicRef", "refers back to itself"},
		"itself by id":       {`{"$id":"https://e.example/s","oneOf":[true,{"$ref":"https://e.example/s#"}]}`, "schema.oneOf[1].$ref", "refers back to itself"},
		"old items":          {`{"items":[{}]}`, "schema.items", "is a list; it must be true or false or an object"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := payload.Compile(json.RawMessage(c.schema))
			var e *rota.Error
			if !errors.As(err, &e) || e.Code != rota.Invalid || e.Field != c.field || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %v, want an Invalid of field %s with %q", err, c.field, c.reason)
			}
			if err != nil && len(err.Error()) > 500 {
				t.Errorf("the error has more than 500 bytes: %s", err)
			}
		})
	}
}

func TestCompileAcceptsEveryDraft(t *testing.T) {
	for draft, c := range map[string]struct{ schema, good, bad string }{
		"none":    {`{"prefixItems":[{}],"$defs":{"n":{"minimum":1}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":1}`, `{"a":0}`},
		"2020-12": {`{"$schema":"https://json-schema.org/draft/2020-12/schema","unevaluatedProperties":false,"properties":{"a":{}}}`, `{"a":1}`, `{"b":1}`},
		"2019-09": {`{"$schema":"https://json-schema.org/draft/2019-09/schema","properties":{"a":{"items":[{"type":"integer"}]}}}`, `{"a":[1]}`, `{"a":["x"]}`},
		"07":      {`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/n","type":"string"}},"definitions":{"n":{"type":"integer"}}}`, `{"a":1}`, `{"a":"x"}`},
		"06":      {`{"$schema":"http://json-schema.org/draft-06/schema#","properties":{"a":{"const":1}}}`, `{"a":1.0}`, `{"a":2}`},
		"04":      {`{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://example.com/a","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`, `{"a":2}`, `{"a":1}`},
		"anchor":  {`{"$defs":{"n":{"$anchor":"n","type":"integer"}},"properties":{"a":{"$ref":"#n"}}}`, `{"a":1}`, `{"a":"x"}`},
		"own id":  {`{"$id":"https://example.com/a","$defs":{"a/b":{"type":"integer"}},"properties":{"a":{"$ref":"https://example.com/a#/$defs/a~1b"}}}`, `{"a":1}`, `{"a":"x"}`},
	} {
		t.Run(draft, func(t *testing.T) {
			compiled, err := payload.Compile(json.RawMessage(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			if err := compiled.Check(json.RawMessage(c.good)); err != nil {
				t.Errorf("%s: %v", c.good, err)
			}
			if err := compiled.Check(json.RawMessage(c.bad)); rota.CodeOf(err) != rota.Invalid {
				t.Errorf("%s: got %v, want Invalid", c.bad, err)
			}
		})
	}
}
