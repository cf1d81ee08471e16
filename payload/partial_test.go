package payload_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPartialParamsMayLackFieldsOnly(t *testing.T) {
	const mail = `{"type":"object","properties":{"to":{"type":"string","minLength":3},"n":{"type":"integer","maximum":9},
		"from":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}},"required":["to","n"],"minProperties":2,"additionalProperties":false}`
	const byRef = `{"$ref":"#/$defs/mail","$defs":{"mail":` + mail + `}}`
	const either = `{"type":"object","oneOf":[
		{"properties":{"url":{"type":"string"}},"required":["url"],"additionalProperties":false},
		{"properties":{"host":{"type":"string"},"port":{"type":"integer"}},"required":["host","port"],"additionalProperties":false}]}`
	const conditional = `{"type":"object","properties":{"a":{"type":"integer"}},"if":{"required":["a"]},"then":{"required":["b"]},"dependentRequired":{"a":["c"]},"not":{"maxProperties":1}}`
	const old = `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/m","required":["x"],"additionalProperties":false,"definitions":{"m":{"properties":{"a":{"type":"integer"}},"required":["a","b"]}}}`
	for name, c := range map[string]struct{ schema, params, want string }{
		"nothing":              {mail, `{}`, ""},
		"no params":            {mail, ``, ""},
		"some":                 {mail, `{"to":"ada"}`, ""},
		"all":                  {mail, `{"to":"ada","n":1}`, ""},
		"wrong type":           {mail, `{"n":"x"}`, "params.n"},
		"out of range":         {mail, `{"n":10}`, "params.n"},
		"too short":            {mail, `{"to":"a"}`, "params.to"},
		"unknown":              {mail, `{"too":"ada"}`, "params.too"},
		"missing in a value":   {mail, `{"from":{}}`, "params.from.name"},
		"not an object":        {mail, `[1]`, "params"},
		"reference, some":      {byRef, `{"to":"ada"}`, ""},
		"reference, unknown":   {byRef, `{"too":"ada"}`, "params.too"},
		"reference, wrong":     {byRef, `{"n":"x"}`, "params.n"},
		"either, nothing":      {either, `{}`, ""},
		"either, some":         {either, `{"host":"h"}`, ""},
		"either, of none":      {either, `{"host":"h","url":"u"}`, "params"},
		"conditional":          {conditional, `{"a":1}`, ""},
		"conditional, wrong":   {conditional, `{"a":"x"}`, "params.a"},
		"old draft, beside":    {old, `{"other":1}`, ""},
		"old draft, wrong":     {old, `{"a":"x"}`, "params.a"},
		"whole value":          {`{"enum":[{"a":1,"b":2}]}`, `{"a":1}`, ""},
		"no schema of objects": {`{"type":"string"}`, `{}`, "params"},
	} {
		t.Run(name, func(t *testing.T) {
			err := compile(t, c.schema).CheckPartial(json.RawMessage(c.params))
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && err == nil:
				t.Errorf("accepted; it is wrong in %s", c.want)
			case c.want != "" && !strings.HasPrefix(err.Error(), c.want):
				t.Errorf("got %v, want an error of %s", err, c.want)
			}
		})
	}
}
