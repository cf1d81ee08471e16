package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rotajobs/rota/api"
)

func TestDeclareType(t *testing.T) {
	s := newServer(t)
	made := read[api.Type](s.send("PUT", "types/mail", `{"description": "sends", "schema": {"type": "object"}, "max_retries": 9, "timeout": "5s", "jitter": 0.1}`).is(201))
	if made.Name != "mail" || *made.MaxRetries != 9 || made.Backoff != nil || string(made.Schema) != `{"type":"object"}` || made.Paused || made.CreatedBy != "admin" {
		t.Errorf("%+v", made)
	}
	again := s.send("PUT", "types/mail", `{"description": "sends", "schema": {"type": "object"}, "max_retries": 9, "timeout": "5s", "jitter": 0.1}`).is(200)
	if read[api.Type](again).Version != made.Version {
		t.Error("a repeated declaration changed it")
	}
	changed := read[api.Type](s.send("PUT", "types/mail", `{}`).is(200))
	if changed.MaxRetries != nil || changed.Schema != nil && string(changed.Schema) != "null" || changed.Description != "" {
		t.Errorf("%+v", changed)
	}
	if job := s.post("jobs", `{"type": "mail"}`).is(201).job(); job.MaxAttempts != 4 {
		t.Errorf("%+v", job)
	}
	if !read[api.Type](s.post("types/mail/pause", nil).is(200)).Paused || read[api.Type](s.post("types/mail/resume", nil).is(200)).Paused {
		t.Error("pause or resume has no effect")
	}
	s.post("types/nobody/pause", nil).problem(404, "not_found")
	s.get("types/nobody").problem(404, "not_found")
	s.get("types/mail").is(200)
	s.declare("a", "b", "c")
	if got := s.all("types", 2); !slices.Equal(got, []string{"a", "b", "c", "mail"}) {
		t.Errorf("the types are %v", got)
	}
	for _, schema := range []string{`{"type": "nonsense"}`, `{"$ref": "https://example.com/schema.json"}`, `{"properties": 7}`, `{"allOf": [{"$ref": "#"}]}`} {
		if p := s.send("PUT", "types/bad", `{"schema": `+schema+`}`).problem(422, "invalid"); !strings.HasPrefix(p.Errors[0].Field, "schema") {
			t.Errorf("%s: %+v", schema, p)
		}
	}
	s.get("types/bad").is(404)
}

func TestNameWithSlashInPath(t *testing.T) {
	s := newServer(t)
	s.send("PUT", "types/mail%2Fnews:a@b%23c", `{}`).is(201)
	if got := read[api.Type](s.get("types/mail%2Fnews:a@b%23c").is(200)); got.Name != "mail/news:a@b#c" {
		t.Errorf("its name is %s", got.Name)
	}
	made := s.post("templates", `{"name": "a/b#c", "type": "mail/news:a@b#c"}`).is(201)
	if got := read[api.Template](s.send("GET", made.header.Get("Location"), nil).is(200)); got.Name != "a/b#c" {
		t.Errorf("its location leads to %+v", got)
	}
}

func TestCreateAndChangeTemplate(t *testing.T) {
	s := newServer(t)
	s.declareMail()
	body := `{"name": "welcome", "type": "mail", "default_params": {"n": 1}, "priority": 4, "max_retries": 5, "backoff": "10s", "backoff_max": "1 HOUR",
		"jitter": 0.25, "timeout": "30s", "unique_for": "2 DAYS", "description": "hello", "concurrency_key": "k"}`
	made := s.post("templates", body).is(201)
	if made.header.Get("Location") != "/api/v1/templates/welcome" {
		t.Error(made.header.Get("Location"))
	}
	for _, want := range []string{
		`"default_params":{"n":1}`, `"priority":4`, `"max_retries":5`, `"backoff":"10s"`, `"backoff_max":"1h"`, `"jitter":0.25`, `"timeout":"30s"`,
		`"unique_for":"48h"`, `"state":"ACTIVE"`, `"description":"hello"`, `"concurrency_key":"k"`,
	} {
		if !strings.Contains(made.text, want) {
			t.Errorf("%s is not in %s", want, made.text)
		}
	}
	if p := s.post("templates", body).problem(409, "conflict"); p.Errors[0].Field != "name" {
		t.Errorf("%+v", p)
	}
	changed := s.send("PATCH", "templates/welcome", `{"priority": null, "timeout": "1m", "default_params": {"to": "all"}, "unique_for": null, "name": "welcome"}`).is(200)
	got := read[api.Template](changed)
	if got.Priority != nil || got.UniqueFor != nil || string(got.DefaultParams) != `{"to":"all"}` || *got.MaxRetries != 5 || got.Description != "hello" {
		t.Errorf("%s", changed.text)
	}
	if s.get("templates/welcome").text != changed.text {
		t.Error("GET differs from the response of PATCH")
	}
	s.send("PATCH", "templates/welcome", `{"name": "other"}`).problem(422, "invalid")
	s.send("PATCH", "templates/welcome", `{"type": null}`).problem(422, "invalid")
	s.send("PATCH", "templates/welcome", `{"type": "nobody"}`).problem(422, "invalid")
	s.send("PATCH", "templates/nobody", `{"priority": 1}`).problem(404, "not_found")
	s.get("templates/nobody").problem(404, "not_found")
	s.post("templates", `{"name": "b", "type": "mail"}`).is(201)
	if got := s.all("templates", 1); !slices.Equal(got, []string{"b", "welcome"}) {
		t.Errorf("the templates are %v", got)
	}
}

// TestTemplateDefaultsAreChecked: a default may be missing, but not wrong.
func TestTemplateDefaultsAreChecked(t *testing.T) {
	s := newServer(t)
	s.declareMail() // to: at least 3 characters, required; n: a whole number; nothing else
	s.post("templates", `{"name": "partial", "type": "mail", "default_params": {"n": 1}}`).is(201)
	for params, field := range map[string]string{
		`{"n": "x"}`: "default_params.n", `{"to": "a"}`: "default_params.to", `{"too": "ada"}`: "default_params.too",
	} {
		s.post("templates", `{"name": "wrong", "type": "mail", "default_params": `+params+`}`).field(422, "invalid", field)
		s.send("PATCH", "templates/partial", `{"default_params": `+params+`}`).field(422, "invalid", field)
		s.send("PUT", "definitions", `{"templates": {"wrong": {"type": "mail", "default_params": `+params+`}}}`).field(422, "invalid", "templates.wrong."+field)
	}
	s.send("PUT", "definitions", `{"types": {"fax": {"schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["to"]}}},
		"templates": {"fax": {"type": "fax", "default_params": {"n": "x"}}}}`).field(422, "invalid", "templates.fax.default_params.n")
	s.send("PUT", "definitions", `{"types": {"fax": {"schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["to"]}}},
		"templates": {"fax": {"type": "fax", "default_params": {"n": 1}}}}`).is(200)
	s.get("templates/wrong").problem(404, "not_found")
	s.post("jobs", `{"template": "partial", "params": {"to": "ada"}}`).is(201)
	s.post("jobs", `{"template": "partial"}`).field(422, "invalid", "params.to")
	s.post("schedules", `{"name": "s", "template": "partial", "every": "1h"}`).field(422, "invalid", "param_overrides.to")
}

func TestArchivedTemplateRefusesJobs(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.post("templates", `{"name": "t", "type": "a"}`).is(201)
	for i := range 3 {
		s.post("schedules", fmt.Sprintf(`{"name": "s%d", "template": "t", "cron": "0 3 * * *"}`, i)).is(201)
	}
	gone := read[api.TemplateArchived](s.post("templates/t/archive", nil).is(200))
	if gone.State != "ARCHIVED" || gone.SchedulesDisabled != 3 {
		t.Errorf("%+v", gone)
	}
	if one := read[api.Schedule](s.get("schedules/s1").is(200)); one.State != "DISABLED" || one.Reason == "" {
		t.Errorf("%+v", one)
	}
	if p := s.post("jobs", `{"template": "t"}`).problem(409, "conflict"); p.Errors[0].Field != "template" {
		t.Errorf("%+v", p)
	}
	s.post("jobs/batch", `{"jobs": [{"type": "a"}, {"template": "t"}]}`).problem(409, "conflict")
	s.post("schedules", `{"name": "new", "template": "t", "cron": "0 3 * * *"}`).problem(409, "conflict")
	s.post("schedules/s1/trigger", nil).problem(409, "conflict")
	s.post("schedules/s1/resume", nil).problem(409, "conflict")
	if back := read[api.TemplateArchived](s.post("templates/t/unarchive", nil).is(200)); back.State != "ACTIVE" {
		t.Errorf("%+v", back)
	}
	s.post("jobs", `{"template": "t"}`).is(201)
	s.post("schedules/s1/resume", nil).is(200)
	s.post("templates/nobody/archive", nil).problem(404, "not_found")
	s.post("templates/nobody/unarchive", nil).problem(404, "not_found")
}

// TestConcurrentTemplateChangesAreAllKept changes different fields of one template concurrently.
func TestConcurrentTemplateChangesAreAllKept(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.post("templates", `{"name": "t", "type": "a"}`).is(201)
	var all sync.WaitGroup
	for _, body := range []string{`{"priority": 3}`, `{"max_retries": 2}`, `{"timeout": "5s"}`, `{"description": "d"}`, `{"jitter": 0.5}`} {
		all.Go(func() { s.send("PATCH", "templates/t", body).is(200) })
	}
	all.Wait()
	got := read[api.Template](s.get("templates/t").is(200))
	if *got.Priority != 3 || *got.MaxRetries != 2 || got.Timeout == nil || got.Description != "d" || *got.Jitter != 0.5 {
		t.Errorf("%+v", got)
	}
}

// TestStrictImportRefusesPassedTimes checks that a strict import writes all definitions or none.
func TestStrictImportRefusesPassedTimes(t *testing.T) {
	s := newServer(t)
	s.declare("mail")
	for times, field := range map[string]string{
		`"at": "2001-01-01T00:00:00Z"`:                     "schedules.old.at",
		`"every": "1h", "ends_at": "2001-01-01T00:00:00Z"`: "schedules.old.ends_at",
	} {
		document := `{"templates": {"old": {"type": "mail"}}, "schedules": {"old": {"template": "old", ` + times + `}}}`
		s.send("PUT", "definitions?strict=true", document).field(422, "invalid", field)
		s.get("templates/old").is(404)
	}
	put := read[api.DefinitionsPut](s.send("PUT", "definitions", `{"templates": {"old": {"type": "mail"}}, "schedules": {"old": {"template": "old", "at": "2001-01-01T00:00:00Z"}}}`).is(200))
	if put.LeftOut != 1 {
		t.Errorf("%+v", put)
	}
}
