package httpapi

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// sample has a field of every form.
type sample struct {
	Text   string                   `json:"text"`
	Number int                      `json:"number"`
	Part   *float64                 `json:"part"`
	Flag   bool                     `json:"flag"`
	When   api.Time                 `json:"when"`
	Long   *api.Duration            `json:"long"`
	Who    api.ID                   `json:"who"`
	Doc    api.Document             `json:"doc"`
	Limits map[string]int           `json:"limits"`
	Each   []sampleItem             `json:"each"`
	Maybe  api.Opt[int]             `json:"maybe"`
	Any    api.Opt[json.RawMessage] `json:"any"`
	api.PolicyRequest
}

type sampleItem struct {
	Name string   `json:"name"`
	IDs  []string `json:"ids"`
}

func TestDecodeIsStrict(t *testing.T) {
	for _, test := range []struct {
		body   string
		status int // 0: valid
		fields string
	}{
		{`{}`, 0, ""},
		{` {"text" : "a\"}]," , "number":-3,"part":1e3,"flag":true,"doc":{"a":[1,{"b":null}]}} `, 0, ""},
		{`{"when":"2026-11-15T07:00:00+01:00","long":"5 MINUTES","who":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60"}`, 0, ""},
		{`{"text":null,"number":null,"doc":null,"each":null,"maybe":null,"long":null,"when":null,"who":null}`, 0, ""},
		{`{"each":[{"name":"a","ids":["x","y"]},{}, {"ids":[]}],"limits":{"a":1,"b":2},"any":[1,2]}`, 0, ""},
		{`{"timeout":"1h","\u0074ext":"escaped"}`, 0, ""},

		{``, 400, ""},
		{`   `, 400, ""},
		{`{`, 400, ""},
		{`{"text":}`, 400, ""},
		{`{"text":"a"} x`, 400, ""},
		{"{\"text\":\"\xff\"}", 400, ""},
		{strings.Repeat("[", 20_000), 400, ""},

		{`[]`, 422, ""},
		{`"text"`, 422, ""},
		{`7`, 422, ""},
		{`{"txet":1}`, 422, "txet"},
		{`{"Text":"a"}`, 422, "Text"},
		{`{"text":"a","text":"b"}`, 422, "text"},
		{`{"number":1.5}`, 422, "number"},
		{`{"number":"1"}`, 422, "number"},
		{`{"number":99999999999999999999}`, 422, "number"},
		{`{"part":1e999}`, 422, "part"},
		{`{"flag":1}`, 422, "flag"},
		{`{"when":"tomorrow"}`, 422, "when"},
		{`{"when":1700000000}`, 422, "when"},
		{`{"long":90}`, 422, "long"},
		{`{"long":"90"}`, 422, "long"},
		{`{"who":"me"}`, 422, "who"},
		{`{"doc":[]}`, 422, "doc"},
		{`{"doc":"{}"}`, 422, "doc"},
		{`{"limits":{"a":"b"}}`, 422, "limits.a"},
		{`{"each":{}}`, 422, "each"},
		{`{"each":[{"name":1},{"nmae":"x"},3]}`, 422, "each[0].name each[1].nmae each[2]"},
		{`{"each":[{"ids":["a",2]}]}`, 422, "each[0].ids[1]"},
		{`{"maybe":"x","text":5,"timeout":7}`, 422, "maybe text timeout"},
	} {
		var into sample
		err := decode([]byte(test.body), &into)
		var p *api.Problem
		if errors.As(err, &p); err == nil && test.status == 0 {
			continue
		}
		if p == nil || p.Status != test.status {
			t.Errorf("%.80q: got %v", test.body, err)
			continue
		}
		var fields []string
		for _, e := range p.Errors {
			fields = append(fields, e.Field)
		}
		if got := strings.Join(fields, " "); got != test.fields {
			t.Errorf("%.80q: the fields %q are refused, not %q", test.body, got, test.fields)
		}
	}
}

func TestDecodeSyntaxErrorHasPosition(t *testing.T) {
	err := decode([]byte("{\n  \"text\": \"a\",\n  \"number\": x\n}"), &sample{})
	if want := "line 3, column 13"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not contain %s", err, want)
	}
}

func TestDecodeUnknownFieldSuggestsNearest(t *testing.T) {
	err := decode([]byte(`{"numbr": 1}`), &sample{})
	if err == nil || !strings.Contains(err.Error(), "did you mean number?") {
		t.Error(err)
	}
}

func TestDecodeLimitsNumberOfErrors(t *testing.T) {
	err := decode([]byte(`{"each":[`+strings.Repeat("1,", 500)+`2]}`), &sample{})
	var p *api.Problem
	if !errors.As(err, &p) || len(p.Errors) != problem.Max {
		t.Error(err)
	}
}

func TestOptDistinguishesNullFromOmitted(t *testing.T) {
	var into api.TemplateRequest
	if err := decode([]byte(`{"priority":null,"timeout":"5s"}`), &into); err != nil {
		t.Fatal(err)
	}
	if !into.Priority.Set || into.Priority.Value != nil || into.Timeout.Value == nil || into.MaxRetries.Set {
		t.Errorf("%+v", into)
	}
	text, err := json.Marshal(into)
	if err != nil || string(text) != `{"priority":null,"timeout":"5s"}` {
		t.Errorf("%s %v", text, err)
	}
}

func TestDecodeUnknownFieldSuggestsAlias(t *testing.T) {
	for _, test := range []struct {
		body, meant string
		into        any
	}{
		{`{"params":{}}`, "default_params", &api.TemplateRequest{}},
		{`{"Params":{}}`, "default_params", &api.TemplateRequest{}},
		{`{"params":{}}`, "param_overrides", &api.ScheduleRequest{}},
		{`{"corn":"* * * * *"}`, "cron", &api.ScheduleRequest{}},
		{`{"priorty":1}`, "priority", &api.JobRequest{}},
		{`{"jobs":[{"parms":{}}]}`, "params", &api.BatchRequest{}},
		{`{"whatever":1}`, "", &api.JobRequest{}},
	} {
		err := decode([]byte(test.body), test.into)
		var p *api.Problem
		if !errors.As(err, &p) || p.Status != 422 || len(p.Errors) != 1 {
			t.Errorf("%s: %v", test.body, err)
			continue
		}
		if _, guess, _ := strings.Cut(p.Errors[0].Reason, "did you mean "); strings.TrimSuffix(guess, "?") != test.meant {
			t.Errorf("%s: %s", test.body, p.Errors[0].Reason)
		}
	}
}

// FuzzDecode checks that decode never panics, that encoding/json accepts what it accepts, and that
// every error is a 400 or 422.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"text":"a","number":1}`, `{"each":[{"name":"x","ids":["a"]}]}`, `{"doc":{"a":{"b":[1,2,{}]}}}`, `{"limits":{"a":1}}`,
		`{"when":"2026-11-15T07:00:00Z","long":"5s","maybe":null}`, `[`, `{"a`, `{"text":"\u0000\ud800"}`, "\xff", `{"":{}}`, `{"number":-0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var into sample
		err := decode(slices.Clone(body), &into)
		var p *api.Problem
		if err != nil && (!errors.As(err, &p) || p.Status != 400 && p.Status != 422 || p.Detail == "the body cannot be decoded") {
			t.Fatalf("%q: %v", body, err)
		}
		var plain sample
		if err == nil && json.Unmarshal(body, &plain) != nil {
			t.Fatalf("%q is accepted", body)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(string(cursorOf(cursorJobs, make([]byte, 16))))
	f.Add(string(cursorOf(cursorQueue, make([]byte, 39))))
	f.Add(string(cursorOf(cursorAudit, make([]byte, 25))))
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		for _, list := range []cursorKind{cursorJobs, cursorAudit} {
			if place, err := readCursor(list, text); err == nil && place != nil && string(cursorOf(list, place)) != text {
				t.Fatalf("%q is accepted as a cursor", text)
			}
		}
		if position, err := readCursor(cursorQueue, text); err == nil {
			_ = jobAt(position) // must not panic
		}
		if position, err := readCursor(cursorAudit, text); err == nil {
			_ = auditAt(position)
		}
	})
}
