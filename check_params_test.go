package rota_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rotajobs/rota"
	"github.com/tidwall/gjson"
)

func TestParamsThatReadersUnderstandDifferentlyAreRefused(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	for text, want := range map[string]string{
		`{"a":1,"a":1}`:                             "params.a: is given twice",
		`{"a":1, "b":2, "\u0061":3}`:                "params.a: is given twice",
		`{"user":{"id":1,"x":{},"id":2}}`:           "params.user.id: is given twice",
		`{"list":[0,{"b":{"c":1,"c":2}}]}`:          "params.list[1].b.c: is given twice",
		`{"a b":1,"a b":2}`:                         `params["a b"]: is given twice`,
		`{"":1,"":2}`:                               `params[""]: is given twice`,
		`{` + strings.Join(many, ",") + `,"k7":0}`:  "params.k7: is given twice",
		`{` + strings.Join(many, ",") + `,"k39":0}`: "params.k39: is given twice",
		`{"a":"\ud800"}`:                            `params.a: contains \ud800`,
		`{"a":"x\uDFFFy"}`:                          `params.a: contains \uDFFF`,
		`{"a":["\ud83d\u0041"]}`:                    `params.a[0]: contains \ud83d`,
		`{"a":"\ud83d\ud83d\ude00"}`:                `params.a: contains \ud83d`,
		`{"a":"\\\ud800"}`:                          `params.a: contains \ud800`,
		`{"\udc00":1}`:                              `contains \udc00`,
		`{"n":1e999}`:                               `params.n: is "1e999"`,
		`{"n":[1,-1E+400]}`:                         `params.n[1]: is "-1E+400"`,
		`{"n":` + strings.Repeat("9", 400) + `}`:    `params.n: is "999`,
	} {
		for name, err := range map[string]error{
			"CheckParams": rota.CheckParams(json.RawMessage(text)),
			"PutTemplate": (&rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: "t", Spec: rota.TemplateSpec{Type: "noop", Params: json.RawMessage(text)}}).Validate(),
		} {
			var e *rota.Error
			switch {
			case !errors.As(err, &e) || e.Code != rota.Invalid:
				t.Errorf("%s of %.80s: %v", name, text, err)
			case !strings.Contains(e.Field+": "+e.Reason, want):
				t.Errorf("%s of %.80s: %s: %s, want %s", name, text, e.Field, e.Reason, want)
			}
		}
	}
}

func TestParamsThatReadersUnderstandAlikeAreAccepted(t *testing.T) {
	for _, text := range []string{
		`{}`, ` { } `, `{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}`, `{"A":1,"a":2}`,
		`{"a":"\ud83d\ude00","b":"\\ud800","c":"\"","d":"\\"}`, `{"a":"\\\\","b":"\"a\":1,\"a\":2"}`,
		`{"n":1e308,"m":-1.7e308,"tiny":1e-400,"long":0.` + strings.Repeat("3", 400) + `,"whole":` + strings.Repeat("9", 300) + `}`,
		`{"t":true,"f":false,"n":null,"x":[true,null,[ ],{ }]}`, "{\n\t\"a\" : [ 1 , 2 ] ,\r\n \"b\" : -0.5 }",
	} {
		if err := rota.CheckParams(json.RawMessage(text)); err != nil {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// A result is the outcome of work that was done: refusing the command would lose the outcome. CheckDocument refuses it
// where it enters.
func TestResultsAndProgressOfAnyJSONAreAccepted(t *testing.T) {
	text := json.RawMessage(`{"a":1,"a":1e999,"b":"\ud800"}`)
	if err := rota.CheckDocument("result", text, rota.ResultMax); rota.CodeOf(err) != rota.Invalid {
		t.Error(err)
	}
	if err := (&rota.Finish{Meta: rota.NewMeta("ada"), Items: []rota.FinishItem{{LeaseRef: rota.LeaseRef{JobID: rota.NewID(), RunID: rota.NewID(), Token: rota.NewToken()}, Outcome: rota.OutcomeCompleted, Result: text}}}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestDocumentsOfAnyFormAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`[1,{"a":1,"a":1}]`: "result[1].a", `"\ud800"`: "result", `1e999`: "result", ` [ "x" , -1e999 ] `: "result[1]", `{`: "result",
		`"` + strings.Repeat("x", rota.ResultMax) + `"`: "result",
	} {
		var e *rota.Error
		if err := rota.CheckDocument("result", json.RawMessage(text), rota.ResultMax); !errors.As(err, &e) || e.Field != want {
			t.Errorf("%.80s: %v", text, err)
		}
	}
	for _, text := range []string{`null`, `true`, ` 7 `, `"x"`, `[]`, `1.5e300`, `[{"a":1},{"a":1}]`} {
		if err := rota.CheckDocument("result", json.RawMessage(text), rota.ResultMax); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := rota.CheckDocument("result", nil, rota.ResultMax); err != nil {
		t.Error(err)
	}
}

func TestSurrogatesAreCheckedEverywhere(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud800"`: "", `{"a":1,"a":1e999,"b":{"c":["","\udc00"]}}`: "b.c[1]", `["\ud83d","\ude00"]`: "[0]", `{"a":"\\","b":"\\\uD800"}`: "b",
	} {
		var e *rota.Error
		if err := rota.CheckSurrogates([]byte(text)); !errors.As(err, &e) || e.Code != rota.Invalid || e.Field != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{`{"a":1,"a":1e999}`, `"\ud83d\ude00"`, `"\\ud800"`, `7`, ` [ ] `, `"\u00e4"`} {
		if err := rota.CheckSurrogates([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzParams compares with the standard library: it decodes accepted params, and loses no member.
func FuzzParams(f *testing.F) {
	for _, text := range []string{`{"a":1,"a":2}`, `{"a":"\ud800"}`, `{"n":1e999}`, `{"a":[{"b":"\\\""}]}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := rota.CheckParams(json.RawMessage(text)); err != nil {
			return
		}
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatalf("%q is accepted, and cannot be decoded: %v", text, err)
		}
		if got, want := countMembers(value), countColons(text); got != want {
			t.Errorf("%q has %d members, and %d of them are decoded", text, want, got)
		}
	})
}

// countColons counts the colons outside of texts, one for each member.
func countColons(text string) (n int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == ':' && !quoted:
			n++
		}
	}
	return n
}

func countMembers(value any) (n int) {
	switch v := value.(type) {
	case map[string]any:
		for _, one := range v {
			n += 1 + countMembers(one)
		}
	case []any:
		for _, one := range v {
			n += countMembers(one)
		}
	}
	return n
}

func BenchmarkCheckParams(b *testing.B) {
	text := json.RawMessage(`{"user":{"id":1234567,"name":"Ada Lovelace","email":"ada@example.org"},"month":"2026-11","attachments":["report.pdf","summary.csv"],"retry":false,"amount":1234.56,"note":"The quarterly report is attached."}`)
	b.Run("syntax", func(b *testing.B) {
		for b.Loop() {
			if !gjson.ValidBytes(text) || !utf8.Valid(text) {
				b.Fatal("refused")
			}
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if rota.CheckParams(text) != nil {
				b.Fatal("refused")
			}
		}
	})
}
