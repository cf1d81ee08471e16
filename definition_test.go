package rota_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

func TestMergeParams(t *testing.T) {
	for _, test := range []struct {
		name   string
		layers []string
		want   string
	}{
		{"nothing", nil, `{}`},
		{"nothing said", []string{"", `{}`, ` { } `}, `{}`},
		{"one has something to say, as it was written", []string{"", `{ "b":1, "a" : 2}`, `{}`}, `{ "b":1, "a" : 2}`},
		{"later over earlier", []string{`{"a":1,"b":1}`, `{"b":2,"c":2}`, `{"c":3}`}, `{"a":1,"b":2,"c":3}`},
		{"what stands deeper is replaced whole", []string{`{"a":{"x":1,"y":1}}`, `{"a":{"x":2}}`}, `{"a":{"x":2}}`},
		{"null is said too", []string{`{"a":1,"b":1}`, `{"a":null}`}, `{"a":null,"b":1}`},
		{"sorted and compact", []string{`{"b": [1, 2]}`, `{"a": "x y"}`}, `{"a":"x y","b":[1,2]}`},
		{"numbers keep their digits", []string{`{"a":12345678901234567890}`, `{"b":1.10}`}, `{"a":12345678901234567890,"b":1.10}`},
		{"text stays as it was written", []string{`{"a":"<&>"}`, `{"b":"\u00e4"}`}, `{"a":"<&>","b":"\u00e4"}`},
		{"names of other cases are others", []string{`{"a":1}`, `{"A":2}`}, `{"A":2,"a":1}`},
	} {
		layers := make([]json.RawMessage, len(test.layers))
		for i, text := range test.layers {
			layers[i] = json.RawMessage(text)
		}
		if got := rota.MergeParams(layers...); string(got) != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// The test compares with a merge of maps, and with a merge in two steps.
func TestMergeParamsOverlays(t *testing.T) {
	object := rapid.MapOf(rapid.StringMatching(`[a-e<]`), rapid.IntRange(0, 9))
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]int{}
		var layers []json.RawMessage
		for _, fields := range rapid.SliceOfN(object, 0, 4).Draw(t, "layers") {
			maps.Copy(want, fields)
			doc, _ := json.Marshal(fields)
			layers = append(layers, doc)
		}
		got := map[string]int{}
		if err := json.Unmarshal(rota.MergeParams(layers...), &got); err != nil || !maps.Equal(got, want) {
			t.Fatalf("%s merge to %v, %v; want %v", layers, got, err, want)
		}
		if n := len(layers); n > 1 {
			steps := rota.MergeParams(rota.MergeParams(layers[:n-1]...), layers[n-1])
			if !json.Valid(steps) || string(rota.MergeParams(steps, json.RawMessage(`{}`))) != string(steps) {
				t.Fatalf("%s merge to %s in two steps", layers, steps)
			}
		}
	})
}

func TestPolicyPatchFirstSetValueWins(t *testing.T) {
	request := rota.PolicyPatch{MaxRetries: new(0)}
	schedule := rota.PolicyPatch{MaxRetries: new(7), Backoff: new(time.Second)}
	kind := rota.PolicyPatch{Backoff: new(time.Hour), BackoffMax: new(time.Minute), Jitter: new(0.5), Timeout: new(3*time.Second + 999)}
	got := request.Or(schedule).Or(rota.PolicyPatch{}).Or(kind).Policy()
	if want := (rota.Policy{MaxAttempts: 1, Backoff: time.Second, BackoffMax: time.Minute, Jitter: 0.5, Timeout: 3 * time.Second}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if want := (rota.Policy{MaxAttempts: rota.DefaultMaxRetries + 1, Backoff: rota.DefaultBackoff, Timeout: rota.DefaultTimeout}); (rota.PolicyPatch{}).Policy() != want {
		t.Errorf("the default is %+v, want %+v", rota.PolicyPatch{}.Policy(), want)
	}
	n := rota.NewJob{MaxRetries: new(1), Backoff: new(time.Second), BackoffMax: new(time.Hour), Jitter: new(0.1), Timeout: new(time.Minute)}
	if got := n.Patch().Or(kind).Policy(); got != (rota.Policy{MaxAttempts: 2, Backoff: time.Second, BackoffMax: time.Hour, Jitter: 0.1, Timeout: time.Minute}) {
		t.Errorf("a request says %+v", got)
	}
}

func TestCanonicalSchedule(t *testing.T) {
	east := time.FixedZone("east", 3600)
	got := rota.ScheduleSpec{
		Template: "mail", Cron: "0 9 * * *", Zone: "UTC", StartsAt: samples.Time.Add(999).In(east), EndsAt: samples.Time.AddDate(1, 0, 0),
		Scopes: []rota.Scope{{"user", "8"}, {"user", "7"}, {"shard", "9"}, {"user", "8"}}, DependsOn: []string{"b", "a", "b"},
		Params: json.RawMessage(`{ "b" : "<" }`),
	}.Canonical()
	want := rota.ScheduleSpec{
		Template: "mail", Cron: "0 9 * * *", StartsAt: samples.Time, EndsAt: samples.Time.AddDate(1, 0, 0),
		Scopes: []rota.Scope{{"shard", "9"}, {"user", "7"}, {"user", "8"}}, DependsOn: []string{"a", "b"},
		Params: json.RawMessage(`{"b":"<"}`), CatchUp: rota.CatchUpLast, Overlap: rota.OverlapAllow, OnCompletion: rota.CompletionPreserve,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	every := rota.ScheduleSpec{Every: time.Second + 999, Scopes: []rota.Scope{}, DependsOn: []string{}}.Canonical()
	if every.Every != time.Second || every.Scopes != nil || every.DependsOn != nil {
		t.Errorf("got %+v", every)
	}
}

// Canonical must not change its argument, since the caller may still use it.
func TestCanonicalDoesNotChangeArgument(t *testing.T) {
	s := rota.ScheduleSpec{Scopes: []rota.Scope{{"b", "1"}, {"a", "1"}, {"a", "1"}}, DependsOn: []string{"b", "a", "a"}}
	l := rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "b"}, {Type: "a"}}, Keys: []rota.KeyLimit{{Key: "b"}, {Key: "a"}}}
	l.EachKey, l.EachKeyOfType = []rota.EachKeyLimit{{Pattern: "b*"}, {Pattern: "a*"}}, []rota.EachKeyOfTypeLimit{{Type: "b"}, {Type: "a"}}
	s.Canonical()
	l.Canonical()
	if s.Scopes[0].Kind != "b" || s.Scopes[2].Kind != "a" || s.DependsOn[0] != "b" || s.DependsOn[2] != "a" {
		t.Errorf("got %+v", s)
	}
	if l.Types[0].Type != "b" || l.Keys[0].Key != "b" || l.EachKey[0].Pattern != "b*" || l.EachKeyOfType[0].Type != "b" {
		t.Errorf("got %+v", l)
	}
}

// For the samples, which set every field: Canonical is idempotent, and storing and reading
// back loses nothing.
func TestCanonicalIsIdempotent(t *testing.T) {
	for _, spec := range []any{
		sampleOf(rota.VerbPutType).(*rota.PutType).Spec, sampleOf(rota.VerbPutTemplate).(*rota.PutTemplate).Spec,
		sampleOf(rota.VerbPutThrottle).(*rota.PutThrottle).Spec, samples.Schedule(),
		rota.TypeSpec{},
		rota.TemplateSpec{},
		rota.ThrottleSpec{},
		rota.ScheduleSpec{},
	} {
		v := reflect.ValueOf(spec)
		canonical := v.MethodByName("Canonical").Call(nil)[0]
		again := canonical.MethodByName("Canonical").Call(nil)[0]
		read := reflect.New(v.Type())
		if err := json.Unmarshal(rota.EncodeSpec(canonical.Interface()), read.Interface()); err != nil {
			t.Fatal(err)
		}
		for what, got := range map[string]reflect.Value{"again": again, "read back": read.Elem()} {
			if !reflect.DeepEqual(got.Interface(), canonical.Interface()) {
				t.Errorf("%s, %T is %+v, was %+v", what, spec, got, canonical)
			}
		}
		if equal := v.MethodByName("Equal").Call([]reflect.Value{canonical})[0]; !equal.Bool() {
			t.Errorf("%T is not equal to its canonical form", spec)
		}
	}
}

// Canonical keeps values that cannot be stored, so that validation can name them.
func TestCanonicalKeepsInvalidValues(t *testing.T) {
	s := rota.TemplateSpec{Type: "mail", Params: json.RawMessage(`{`)}
	if got := s.Canonical(); !reflect.DeepEqual(got, s) {
		t.Errorf("got %+v", got)
	}
}

func TestEqualSchedules(t *testing.T) {
	for _, test := range []struct {
		name      string
		change    func(*rota.ScheduleSpec)
		equal     bool
		sameTimes bool
	}{
		{"nothing", func(*rota.ScheduleSpec) {}, true, true},
		{"the order of scopes", func(s *rota.ScheduleSpec) { s.Scopes = []rota.Scope{{"user", "8"}, {"user", "7"}} }, true, true},
		{"a dependency twice", func(s *rota.ScheduleSpec) { s.DependsOn = []string{"import", "backup", "backup"} }, true, true},
		{"blanks in params", func(s *rota.ScheduleSpec) { s.Params = json.RawMessage(`{ "to": "all" }`) }, true, true},
		{"the zone that a time is written in", func(s *rota.ScheduleSpec) { s.StartsAt = s.StartsAt.In(time.FixedZone("east", 3600)) }, true, true},
		{"params", func(s *rota.ScheduleSpec) { s.Params = json.RawMessage(`{}`) }, false, true},
		{"priority", func(s *rota.ScheduleSpec) { s.Priority = nil }, false, true},
		{"a retry", func(s *rota.ScheduleSpec) { s.Policy.MaxRetries = new(6) }, false, true},
		{"catch-up", func(s *rota.ScheduleSpec) { s.CatchUp = rota.CatchUpNone }, false, true},
		{"template", func(s *rota.ScheduleSpec) { s.Template = "other" }, false, true},
		{"cron", func(s *rota.ScheduleSpec) { s.Cron = "31 2 * * *" }, false, false},
		{"every", func(s *rota.ScheduleSpec) { s.Every = time.Hour }, false, false},
		{"at", func(s *rota.ScheduleSpec) { s.At = samples.Time }, false, false},
		{"zone", func(s *rota.ScheduleSpec) { s.Zone = "Europe/Paris" }, false, false},
		{"start", func(s *rota.ScheduleSpec) { s.StartsAt = time.Time{} }, false, false},
		{"end", func(s *rota.ScheduleSpec) { s.EndsAt = s.EndsAt.Add(time.Microsecond) }, false, false},
	} {
		s := samples.Schedule()
		test.change(&s)
		if got := s.Equal(samples.Schedule()); got != test.equal {
			t.Errorf("%s: equal %v", test.name, got)
		}
		if got := s.SameTimes(samples.Schedule()); got != test.sameTimes {
			t.Errorf("%s: same times %v", test.name, got)
		}
	}
	utc, none := rota.ScheduleSpec{Cron: "@daily", Zone: "UTC"}, rota.ScheduleSpec{Cron: "@daily", CatchUp: rota.CatchUpLast, Overlap: rota.OverlapAllow}
	if !utc.Equal(none) || !utc.SameTimes(none) {
		t.Error("what is written out is not what is the default")
	}
}

func TestEqualLimits(t *testing.T) {
	a := rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "b", Concurrency: 1}, {Type: "a", Concurrency: 1}}, Keys: []rota.KeyLimit{{"y", 1}, {"x", 1}}}
	b := rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "a", Concurrency: 1}, {Type: "b", Concurrency: 1}}, Keys: []rota.KeyLimit{{"x", 1}, {"y", 1}}}
	a.EachKey, a.EachKeyOfType = []rota.EachKeyLimit{{"b*", 1}, {"a*", 1}}, []rota.EachKeyOfTypeLimit{{"b", 1}, {"a", 1}}
	b.EachKey, b.EachKeyOfType = []rota.EachKeyLimit{{"a*", 1}, {"b*", 1}}, []rota.EachKeyOfTypeLimit{{"a", 1}, {"b", 1}}
	if !a.Equal(b) || !(rota.ThrottleSpec{Types: []rota.TypeLimit{}}).Equal(rota.ThrottleSpec{}) {
		t.Error("the order of limits matters")
	}
	b.Keys[1].Concurrency = 2
	if a.Equal(b) {
		t.Error("another limit is the same")
	}
	for _, c := range []rota.ThrottleSpec{{EachKey: []rota.EachKeyLimit{{"*", 1}}}, {EachKeyOfType: []rota.EachKeyOfTypeLimit{{"mail", 1}}}} {
		if c.Equal(rota.ThrottleSpec{}) {
			t.Errorf("%+v is the same as no limits", c)
		}
	}
}

func TestEqualDefinitions(t *testing.T) {
	kind := rota.TypeSpec{Schema: json.RawMessage(`{"a":1}`)}
	if !kind.Equal(rota.TypeSpec{Schema: json.RawMessage(`{ "a": 1 }`)}) || kind.Equal(rota.TypeSpec{Schema: json.RawMessage(`{"a":2}`)}) {
		t.Error("schemas are equal if they are written alike but for blanks")
	}
	template := rota.TemplateSpec{Type: "mail", UniqueFor: time.Second}
	if !template.Equal(rota.TemplateSpec{Type: "mail", UniqueFor: time.Second + 999}) || template.Equal(rota.TemplateSpec{Type: "mail"}) {
		t.Error("templates are equal if they are stored alike")
	}
	if zero := new(0); (rota.TemplateSpec{Priority: zero}).Equal(rota.TemplateSpec{}) {
		t.Error("a priority of 0 is none")
	}
}

func TestEachScope(t *testing.T) {
	if got := (rota.ScheduleSpec{}).EachScope(); len(got) != 1 || got[0] != (rota.Scope{}) {
		t.Errorf("no scopes are %+v", got)
	}
	s := rota.ScheduleSpec{Scopes: []rota.Scope{{rota.GlobalScopeKind, rota.GlobalScopeID}, {"global", "7"}, {"user", "global"}}}
	if got := s.EachScope(); !reflect.DeepEqual(got, []rota.Scope{{}, {"global", "7"}, {"user", "global"}}) {
		t.Errorf("got %+v", got)
	}
	if s.Scopes[0].Kind != rota.GlobalScopeKind {
		t.Error("the specification itself has changed")
	}
}

func TestSpecsAreStoredAsReadableJSON(t *testing.T) {
	got := string(rota.EncodeSpec(rota.ScheduleSpec{Template: "mail", Cron: "@daily", Params: json.RawMessage(`{"a":"<"}`)}.Canonical()))
	want := `{"template":"mail","cron":"@daily","params":{"a":"<"},"policy":{},"catch_up":"last","overlap":"allow","on_completion":"preserve"}`
	if got != want || strings.Contains(got, "\n") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
