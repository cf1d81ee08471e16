package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// TestErrorsNameFieldValueReasonAndRemedy checks whole texts: of errors that named another field, lacked
// the value, or said something twice.
func TestErrorsNameFieldValueReasonAndRemedy(t *testing.T) {
	s := newServer(t, withEngine(t))
	s.declare("mail")
	s.post("templates", `{"name": "t", "type": "mail"}`).is(201)
	queued := s.post("jobs", `{"type": "mail", "delay": "1h"}`).is(201).job().ID.String()
	var many strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&many, `%q: 1,`, fmt.Sprintf("t%d:*", i))
	}
	const neither = "type: is empty, and so is template; set one of them"
	both := func(typ string) string {
		return fmt.Sprintf("type: is %q, and template is %q; set only one of them, since a template has a type", typ, "t")
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		detail             string
	}{
		{"POST", "jobs", `{}`, 422, neither},
		{"POST", "direct", `{}`, 422, neither},
		{"POST", "jobs/batch", `{"jobs": [{}]}`, 422, "jobs[0]." + neither},
		{"POST", "jobs", `{"type": "mail", "template": "t"}`, 422, both("mail")},
		{"POST", "direct", `{"type": "noop", "template": "t"}`, 422, both("noop")},
		{"POST", "groups", `{"name": "g", "mode": "parallel", "jobs": [{"type": "mail", "template": "t"}]}`, 422, "jobs[0]." + both("mail")},
		{
			"POST", "schedules", `{"name": "s", "type": "mail", "template": "t", "every": "1h"}`, 422,
			`template: is "t", and type is "mail"; set only one of them, since type creates a template of the same name`,
		},
		{"PATCH", "jobs/" + queued, `{}`, 422, "no change is given; set at least one of priority, params, merge_params, run_at and delay"},
		{"PUT", "limits", `{"types": {"b d": {"concurrency": 1}}}`, 422, `types: "b d" contains ' '; allowed are letters, digits and . _ - : / @ #`},
		{"PUT", "limits", `{"each_key_of_type": {"b d": 1}}`, 422, `each_key_of_type: "b d" contains ' '; allowed are letters, digits and . _ - : / @ #`},
		{"PUT", "limits", `{"each_key": {"t:*": 0}}`, 422, `each_key.t:*: is 0 for pattern "t:*"; allowed are 1 to 1000; omit the entry to remove the limit`},
		{"PUT", "limits", `{"keys": {"t": 1001}}`, 422, `keys.t: is 1001 for key "t"; allowed are 1 to 1000`},
		{
			"PUT", "limits", `{"types": {"mail": {"concurrency": 1}}, "each_key": {` + strings.TrimSuffix(many.String(), ",") + `}}`, 422,
			"each_key: has 1001 entries, and all limits of types and keys together have 1002; allowed are 1000 together; remove some, or use each_key for keys with the same prefix",
		},
		{"GET", "jobs?limit=5000", "", 400, `limit: is "5000"; it must be a number from 1 to 1000`},
		{"GET", "jobs?limit=many", "", 400, `limit: is "many"; it must be a number from 1 to 1000`},
		{"DELETE", "schedules/s?with_template=yes", "", 400, `with_template: is "yes"; it must be true or false`},
		{"GET", "jobs?state=lost", "", 400, `state: is "lost"; it must be one or more of scheduled, blocked, queued, running, completed, failed, skipped, cancelled`},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			var body any
			if c.body != "" {
				body = c.body
			}
			if p := s.send(c.method, c.path, body).problem(c.status, "invalid"); p.Detail != c.detail {
				t.Errorf("the detail is\n  %s\nwant\n  %s", p.Detail, c.detail)
			}
		})
	}
}

// TestErrorsAboutJobInPathHaveNoField also checks that the hint names the job that waits if the request
// names an earlier attempt.
func TestErrorsAboutJobInPathHaveNoField(t *testing.T) {
	s := newServer(t)
	s.declare("mail")
	first := s.post("jobs", `{"type": "mail", "max_retries": 2, "backoff": "1h"}`).is(201).job().ID.String()
	s.drive([]string{"mail"}, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "lost"})
	retry := s.get("executions/" + first).is(200)
	waiting := read[struct {
		LastJobID string `json:"last_job_id"`
	}](retry).LastJobID
	gone := "job " + first + " is no longer queued: it is failed"
	for _, c := range []struct{ method, path, body, detail, hint string }{
		{"POST", "/move", `{"to": "top"}`, gone, "it is retried as job " + waiting + ": use that id"},
		{"POST", "/run-again", ``, "job " + waiting + " has not ended: it is scheduled", "to run it now: rota job run-now " + waiting},
		{"POST", "/retry", ``, "job " + waiting + " has not ended: it is scheduled", "to run it now: rota job run-now " + waiting},
	} {
		p := s.send(c.method, "jobs/"+first+c.path, c.body).problem(409, "conflict")
		if p.Detail != c.detail || p.Hint != c.hint || len(p.Errors) > 0 {
			t.Errorf("%s %s: got %q, hint %q, %v", c.method, c.path, p.Detail, p.Hint, p.Errors)
		}
	}
}
