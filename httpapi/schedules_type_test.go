package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rotajobs/rota/api"
)

// TestCreateScheduleOfTypeCreatesBothOrNothing creates schedules with a template of their own, refused ones too.
func TestCreateScheduleOfTypeCreatesBothOrNothing(t *testing.T) {
	s := newServer(t)
	s.declareReport()
	s.declare("noop", "report")
	for body, want := range map[string]string{
		`{"name": "n", "type": "noop", "every": "5m", "depends_on": ["nosuch"]}`:         "nosuch",
		`{"name": "n", "type": "noop", "cron": "61 * * * *"}`:                            "cron",
		`{"name": "n", "type": "noop", "at": "2020-01-01T00:00:00Z"}`:                    "has passed",
		`{"name": "n", "type": "nosuch", "every": "5m"}`:                                 "type nosuch is not declared",
		`{"name": "n", "type": "noop", "template": "report", "every": "5m"}`:             "template",
		`{"name": "n", "default_params": {}, "template": "report", "every": "5m"}`:       "default_params",
		`{"name": "n", "every": "5m"}`:                                                   "template",
		`{"name": "n", "type": "noop", "every": "5m", "default_params": {"n": [1, 2, "}`: "",
		`{"name": "n", "type": "noop", "every": "5m", "state": "SOMETIMES"}`:             "state",
		`{"name": "n", "type": "noop", "every": "5m", "overlap": "maybe"}`:               "overlap",
		`{"name": "n!", "type": "noop", "every": "5m"}`:                                  "name",
		`{"name": "report", "type": "noop", "every": "5m", "depends_on": ["report"]}`:    "cycle",
	} {
		a := s.post("schedules", body)
		if a.status < 400 || a.status >= 500 || !strings.Contains(string(a.text), want) {
			t.Errorf("%s: %d %s", body, a.status, a.text)
		}
		s.get("templates/n").is(http.StatusNotFound)
		s.get("schedules/n").is(http.StatusNotFound)
	}
	const body = `{"name": "n", "type": "noop", "default_params": {"a": 1}, "every": "5m"}`
	first := read[api.Schedule](s.send("POST", "schedules", body, "Idempotency-Key", "k").is(201))
	if again := read[api.Schedule](s.send("POST", "schedules", body, "Idempotency-Key", "k").is(201)); first.Template != "n" || again.Version != first.Version {
		t.Errorf("%+v, sent again %+v", first, again)
	}
	if got := read[api.Template](s.get("templates/n").is(200)); got.Type != "noop" || string(got.DefaultParams) != `{"a":1}` {
		t.Errorf("%+v", got)
	}
	s.post("schedules", body).is(409)

	// After a plain delete the name can be used again, also with another type.
	s.send("DELETE", "schedules/n", nil).is(204)
	s.post("schedules", `{"name": "n", "type": "report", "every": "5m", "default_params": {"b": 2}}`).is(201)
	if got := read[api.Template](s.get("templates/n").is(200)); got.Type != "report" || string(got.DefaultParams) != `{"b":2}` {
		t.Errorf("%+v", got)
	}
	// A template that another schedule uses is not changed.
	s.post("schedules", `{"name": "other", "template": "n", "every": "5m"}`).is(201)
	s.send("DELETE", "schedules/n", nil).is(204)
	if a := s.post("schedules", body).is(409); !strings.Contains(string(a.text), "template n is used by schedule other too") {
		t.Errorf("%s", a.text)
	}
	s.send("PATCH", "schedules/other", `{"type": "noop"}`).is(422)
}

// TestDeleteScheduleWithTemplateArchivesIt also refuses it while another schedule uses the template.
func TestDeleteScheduleWithTemplateArchivesIt(t *testing.T) {
	s := newServer(t)
	s.declare("noop")
	s.post("schedules", `{"name": "n", "type": "noop", "every": "5m"}`).is(201)
	s.post("schedules", `{"name": "other", "template": "n", "every": "5m"}`).is(201)
	s.send("DELETE", "schedules/n?with_template=true", nil).is(409)
	s.get("schedules/n").is(200)
	s.send("DELETE", "schedules/other", nil).is(204)
	s.send("DELETE", "schedules/n?with_template=true", nil, "Idempotency-Key", "d").is(204)
	s.send("DELETE", "schedules/n?with_template=true", nil, "Idempotency-Key", "d").is(204)
	s.send("DELETE", "schedules/n?with_template=true", nil).is(404)
	if got := read[api.Template](s.get("templates/n").is(200)); got.State != "ARCHIVED" {
		t.Errorf("%+v", got)
	}
	s.post("schedules", `{"name": "n", "type": "noop", "every": "5m"}`).is(201)
	if got := read[api.Template](s.get("templates/n").is(200)); got.State != "ACTIVE" {
		t.Errorf("%+v", got)
	}
}
