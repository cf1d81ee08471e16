package payload_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
)

func compile(t *testing.T, schema string) *payload.Compiled {
	t.Helper()
	compiled, err := payload.Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestCheckNamesTheFieldAndTheProblem(t *testing.T) {
	for name, c := range map[string]struct{ schema, params, want string }{
		"missing":           {`{"required":["to"]}`, `{}`, "params.to: is missing"},
		"no params":         {`{"required":["to"]}`, ``, "params.to: is missing"},
		"missing deep":      {`{"properties":{"a":{"properties":{"b":{"items":{"required":["c"]}}}}}}`, `{"a":{"b":[{"c":1},{"c":1},{}]}}`, "params.a.b[2].c: is missing"},
		"unknown":           {`{"properties":{"to":{}},"additionalProperties":false}`, `{"too":1}`, "params.too: is not a field of this type; did you mean params.to?"},
		"unknown deep":      {`{"properties":{"a":{"properties":{"from":{}},"additionalProperties":false}}}`, `{"a":{"form":1}}`, "params.a.form: is not a field of this type; did you mean params.a.from?"},
		"unlike any":        {`{"properties":{"to":{},"cc":{}},"additionalProperties":false}`, `{"subject":1}`, "params.subject: is not a field of this type; it has cc, to"},
		"no fields":         {`{"additionalProperties":false}`, `{"a":1}`, "params.a: is not allowed as a name here"},
		"unevaluated":       {`{"unevaluatedProperties":false}`, `{"a":1}`, "params.a: is not allowed here"},
		"name with a space": {`{"additionalProperties":{"type":"string"}}`, `{"a b":1}`, `params["a b"]: is a number; it must be text`},
		"empty name":        {`{"additionalProperties":{"type":"string"}}`, `{"":1}`, `params[""]: is a number; it must be text`},
		"type":              {`{"properties":{"a":{"type":"integer"}}}`, `{"a":"x"}`, "params.a: is text; it must be a whole number"},
		"types":             {`{"properties":{"a":{"type":["null","integer"]}}}`, `{"a":[]}`, "params.a: is a list; it must be a whole number or null"},
		"null":              {`{"properties":{"a":{"type":"string"}}}`, `{"a":null}`, "params.a: is null; it must be text"},
		"fraction":          {`{"properties":{"a":{"type":"integer"}}}`, `{"a":1.5}`, "params.a: is 1.5; it must be a whole number"},
		"boolean":           {`{"properties":{"a":{"type":"object"}}}`, `{"a":true}`, "params.a: is true; it must be an object"},
		"enum":              {`{"properties":{"a":{"enum":["x",1,null]}}}`, `{"a":"y"}`, `params.a: is "y"; allowed are "x", 1, null`},
		"long enum":         {`{"properties":{"a":{"enum":[1,2,3,4,5,6,7,8,9,10,11,12]}}}`, `{"a":0}`, "params.a: is 0; allowed are 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, and 2 others"},
		"const":             {`{"properties":{"a":{"const":"x"}}}`, `{"a":"y"}`, `params.a: must be "x"`},
		"minimum":           {`{"properties":{"a":{"minimum":5}}}`, `{"a":3}`, "params.a: is 3; at least 5 is required"},
		"maximum":           {`{"properties":{"a":{"maximum":0.5}}}`, `{"a":3}`, "params.a: is 3; at most 0.5 is allowed"},
		"more":              {`{"properties":{"a":{"exclusiveMinimum":5}}}`, `{"a":5}`, "params.a: is 5; more than 5 is required"},
		"less":              {`{"properties":{"a":{"exclusiveMaximum":5}}}`, `{"a":5}`, "params.a: is 5; less than 5 is required"},
		"multiple":          {`{"properties":{"a":{"multipleOf":5}}}`, `{"a":7}`, "params.a: is 7; a multiple of 5 is required"},
		"exact":             {`{"properties":{"a":{"maximum":9007199254740992}}}`, `{"a":9007199254740993}`, "params.a: is 9007199254740993; at most 9007199254740992 is allowed"},
		"empty":             {`{"properties":{"a":{"minLength":2}}}`, `{"a":""}`, "params.a: is empty"},
		"short":             {`{"properties":{"a":{"minLength":2}}}`, `{"a":"é"}`, "params.a: has 1 character; at least 2 are required"},
		"long":              {`{"properties":{"a":{"maxLength":1}}}`, `{"a":"secret"}`, "params.a: has 6 characters; at most 1 is allowed"},
		"pattern":           {`{"properties":{"a":{"pattern":"^a+$"}}}`, `{"a":"secret"}`, "params.a: does not match the pattern ^a+$"},
		"few":               {`{"properties":{"a":{"minItems":2}}}`, `{"a":[1]}`, "params.a: has 1 entry; at least 2 are required"},
		"many":              {`{"properties":{"a":{"maxItems":1}}}`, `{"a":[1,2]}`, "params.a: has 2 entries; at most 1 is allowed"},
		"twice":             {`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1,2,1.0]}`, "params.a: has the same entry twice, at [0] and [2]"},
		"contains":          {`{"properties":{"a":{"contains":{"const":1}}}}`, `{"a":[]}`, "params.a: has no entry of the required form"},
		"too many names":    {`{"maxProperties":1}`, `{"a":1,"b":1}`, "params: has 2 fields; at most 1 is allowed"},
		"name":              {`{"properties":{"m":{"propertyNames":{"maxLength":1}}}}`, `{"m":{"ab":1}}`, "params.m.ab: is not allowed as a name here: it has 2 characters; at most 1 is allowed"},
		"dependent":         {`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "params.b: is missing; it is required together with a"},
		"not":               {`{"properties":{"a":{"not":{"const":1}}}}`, `{"a":1}`, "params.a: is what the schema forbids here"},
		"forbidden":         {`{"properties":{"a":false}}`, `{"a":1}`, "params.a: is not allowed here"},
		"time":              {`{"properties":{"a":{"format":"date-time"}}}`, `{"a":"today"}`, "params.a: is not a time such as 2026-11-15T07:00:00Z"},
		"duration":          {`{"properties":{"a":{"format":"rota-duration"}}}`, `{"a":"2x"}`, "params.a: is not a duration; write it like 90s, 1h30m or 2 DAYS"},
		"other format":      {`{"properties":{"a":{"format":"semver"}}}`, `{"a":"x"}`, "params.a: is not of the format semver"},
		"base64":            {`{"properties":{"a":{"contentEncoding":"base64"}}}`, `{"a":"%"}`, "params.a: is not base64 text"},
		"media type":        {`{"properties":{"a":{"contentMediaType":"application/json"}}}`, `{"a":"{"}`, "params.a: does not hold application/json"},
		"or null":           {`{"properties":{"a":{"anyOf":[{"type":"object","required":["b"]},{"type":"null"}]}}}`, `{"a":{}}`, "params.a.b: is missing"},
		"or a number":       {`{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"string","enum":["x"]},{"type":"array"},{"type":"null"}]}}}`, `{"a":"y"}`, `params.a: is "y"; allowed are "x"; or a list or a whole number`},
		"neither":           {`{"properties":{"a":{"anyOf":[{"type":"object"},{"type":"null"}]}}}`, `{"a":1}`, "params.a: is a number; it must be an object or null"},
		"forms":             {`{"properties":{"a":{"oneOf":[{"required":["b","c"]},{"required":["d"]}]}}}`, `{"a":{}}`, "params.a: matches none of the allowed alternatives; closest match: params.a.d is missing"},
		"two forms":         {`{"properties":{"a":{"oneOf":[{},{"type":"object"}]}}}`, `{"a":{}}`, "params.a: matches more than one of the alternatives; it must match exactly one"},
		"if then":           {`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, "params.b: is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			err := compile(t, c.schema).Check(json.RawMessage(c.params))
			var e *rota.Error
			if !errors.As(err, &e) || e.Code != rota.Invalid {
				t.Fatalf("got %v, want Invalid", err)
			}
			if got := e.Field + ": " + e.Reason; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			var problems payload.Problems
			if !errors.As(err, &problems) || len(problems) != 1 || problems[0] != (payload.Problem{Field: e.Field, Reason: e.Reason}) {
				t.Errorf("got the problems %v", problems)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%v repeats the value", err)
			}
		})
	}
}

func TestCheckRefusesParamsThatAreNotAnObject(t *testing.T) {
	compiled := compile(t, `{}`)
	for params, want := range map[string]string{
		`[1]`:                    "params: is a list; params are an object",
		`null`:                   "params: is null; params are an object",
		`"x"`:                    "params: is text; params are an object",
		`{"a":`:                  "params: is not JSON: it ends too early",
		`{} {}`:                  "params: is not JSON: there is more text after the first value",
		`{"a":[0,{"b":1e5000}]}`: "params.a[1].b: is 1e5000, a number out of range",
		`{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`: "params: is nested more than 500 deep",
	} {
		err := compiled.Check(json.RawMessage(params))
		if rota.CodeOf(err) != rota.Invalid || err.Error() != want {
			t.Errorf("%.40s: got %v, want %s", params, err, want)
		}
	}
}

func TestCheckReportsEveryFieldOnce(t *testing.T) {
	err := compile(t, `{
		"required": ["to", "from"], "additionalProperties": false,
		"properties": {"to": {}, "from": {}, "n": {"minimum": 3, "multipleOf": 2}, "list": {"items": {"type": "string"}}}
	}`).Check(json.RawMessage(`{"n": 1, "list": ["a", 1, "b", 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], "x": 0}`))
	want := []string{
		"params.from", "params.list[1]", "params.list[3]", "params.list[4]", "params.list[5]", "params.list[6]", "params.list[7]",
		"params.list[8]", "params.list[9]", "params.list[10]", "params.list[11]", "params.list[12]", "params.n", "params.to", "params.x",
	}
	var problems payload.Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Field)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if text := err.Error(); !strings.HasPrefix(text, "params.from: is missing: and params.list[1]: is a number; it must be text; params.list[3]: ") {
		t.Errorf("the error is %q", text)
	}
}

func TestCheckErrorIsShortForLargeParams(t *testing.T) {
	long := strings.Repeat("ä", 10_000)
	err := compile(t, `{"properties":{"a":{"enum":["x"]}},"additionalProperties":{"type":"string"}}`).
		Check(json.RawMessage(`{"a":"` + long + `","` + long + `":[` + strings.Repeat("0,", 1000) + `0]}`))
	if rota.CodeOf(err) != rota.Invalid || len(err.Error()) > 1000 {
		t.Errorf("the error has %d bytes: %.300s", len(err.Error()), err)
	}
	err = compile(t, `{"properties":{"a":{"items":{"type":"string"}}}}`).Check(json.RawMessage(`{"a":[` + strings.Repeat("0,", 5000) + `0]}`))
	var problems payload.Problems
	if !errors.As(err, &problems) || len(problems) != 20 || problems[19].Field != "params.a[19]" {
		t.Errorf("got %d problems: %v", len(problems), problems)
	}
}

func TestLastOfTwoEqualKeysCounts(t *testing.T) {
	compiled := compile(t, `{"properties":{"a":{"type":"integer"}}}`)
	if err := compiled.Check(json.RawMessage(`{"a":"x","a":1}`)); err != nil {
		t.Error(err)
	}
	if err := compiled.Check(json.RawMessage(`{"a":1,"a":"x"}`)); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("got %v, want Invalid", err)
	}
}

func TestCheckIsSafeForConcurrentUse(t *testing.T) {
	compiled := compile(t, `{"properties":{"a":{"type":"string","pattern":"^x*$"}},"required":["a"]}`)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				if err := compiled.Check(json.RawMessage(`{"a":"xx"}`)); err != nil {
					t.Error(err)
				}
				if err := compiled.Check(json.RawMessage(`{"a":"y"}`)); rota.CodeOf(err) != rota.Invalid {
					t.Errorf("got %v, want Invalid", err)
				}
			}
		})
	}
	group.Wait()
}
