package httpapi_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// searchServer returns a server with jobs that differ in everything that filters compare, and their names by id.
func searchServer(t *testing.T) (s *server, names map[string]string) {
	s = newServer(t)
	s.declare("mail")
	s.post("templates", `{"name":"letter","type":"mail"}`).is(201)
	s.post("schedules", `{"name":"nightly","template":"letter","cron":"0 2 * * *","scopes":[{"kind":"tenant","id":"7"}]}`).is(201)
	names = map[string]string{}
	add := func(name, body string) { names[s.enqueue(body)] = name }
	add("dead", `{"type":"mail","unique_key":"order:1","max_retries":0}`)
	s.drive([]string{"mail"}, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "Disk FULL", ErrorCode: "disk"})
	add("retrying", `{"type":"mail","unique_key":"order:2","backoff":"1h"}`)
	s.drive([]string{"mail"}, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "disk busy", ErrorCode: "disk"})
	add("done", `{"type":"mail","scope_kind":"user","scope_id":"7"}`)
	s.drive([]string{"mail"}, rota.FinishItem{Outcome: rota.OutcomeCompleted})
	add("named", `{"template":"letter","name":"welcome"}`)
	add("lettered", `{"template":"letter"}`)
	add("later", `{"type":"mail","delay":"1h"}`)
	fired := read[api.Triggered](s.post("schedules/nightly/trigger", "").is(201))
	names[fired.Items[0].ID.String()] = "fired"
	return s, names
}

// found lists the names of what a path selects, over all pages.
func (s *server) found(path string, names map[string]string) string {
	s.Helper()
	var all []string
	for cursor := ""; ; {
		page := read[api.List[struct {
			ID          string `json:"id"`
			ExecutionID string `json:"execution_id"`
		}]](s.get(path + "&limit=2&cursor=" + cursor).is(200))
		for _, item := range page.Items {
			name := names[item.ID]
			if name == "" {
				name = names[item.ExecutionID] + " again"
			}
			all = append(all, name)
		}
		if cursor = string(page.NextCursor); cursor == "" {
			slices.Sort(all)
			return strings.Join(all, ", ")
		}
	}
}

func TestJobFilters(t *testing.T) {
	s, names := searchServer(t)
	for query, want := range map[string]string{
		"state=FAILED,Completed":                "dead, done, retrying",
		"state=queued, Scheduled":               "fired, later, lettered, named, retrying again",
		"name=nightly":                          "fired",
		"name=letter":                           "lettered",
		"name=welcome&state=queued":             "named",
		"name=mail":                             "dead, done, later, retrying, retrying again",
		"name=mail&type=mail&state=failed":      "dead, retrying",
		"unique_key=order:2":                    "retrying, retrying again",
		"scope_id=7":                            "done, fired",
		"scope_kind=tenant&scope_id=7":          "fired",
		"scope_kind=global&state=queued":        "lettered, named",
		"error_code=disk":                       "dead, retrying",
		"error_code=disk&q=full":                "dead",
		"q=ORDER:":                              "dead, retrying, retrying again",
		"since=1h":                              "dead, done, fired, later, lettered, named, retrying, retrying again",
		"since=1h&until=0s&state=completed":     "done",
		"until=7d":                              "",
		"since=2099-01-01T00:00:00Z":            "",
		"until=2099-01-01&state=completed":      "done",
		"execution=RETRYING":                    "retrying, retrying again",
		"execution=RETRYING&error_code=disk":    "retrying",
		"execution=RETRYING&q=busy":             "retrying",
		"execution=RETRYING&name=mail&since=1h": "retrying, retrying again",
		"execution=RETRYING&name=other":         "",
	} {
		for id, name := range names {
			if name == "retrying" {
				query = strings.ReplaceAll(query, "RETRYING", id)
			}
		}
		if got := s.found("jobs?"+strings.ReplaceAll(query, " ", "%20"), names); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestExecutionFilters(t *testing.T) {
	s, names := searchServer(t)
	for query, want := range map[string]string{
		"state=Dead,failed":            "dead, retrying",
		"state=PENDING,completed":      "done, fired, later, lettered, named",
		"error_code=disk":              "dead, retrying",
		"error_code=disk&state=dead":   "dead",
		"error_code=disk&state=failed": "retrying",
		"q=BUSY":                       "retrying",
		"name=nightly":                 "fired",
		"name=mail&state=pending":      "later",
		"unique_key=order:1":           "dead",
		"since=1h&scope_id=7":          "done, fired",
		"until=1h":                     "",
	} {
		if got := s.found("executions?"+query, names); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := s.found("dead?error_code=disk&q=full&since=1h", names); got != "dead" {
		t.Errorf("dead letters: %s", got)
	}
}

func TestBadFiltersAreRefused(t *testing.T) {
	s := newServer(t)
	for query, reason := range map[string]string{
		"state=failed,broken": "scheduled, blocked, queued, running, completed, failed, skipped, cancelled",
		"state=failed,":       "one or more of",
		"since=yesterday":     "24h or 7d",
		"until=-1h":           "24h or 7d",
		"name=two+words":      "contains ' '",
		"q=":                  "is empty",
		"since=":              "is empty",
		"until=":              "is empty",
		"group=":              "not an id",
		"group=00000000-0000-0000-0000-000000000000":       "not an id",
		"since=1960-01-01T00:00:00Z":                       "year 1960",
		"since=0001-01-01T00:00:00Z":                       "is in the year 1;",
		"until=0001-01-01T00:00:00Z":                       "is in the year 1;",
		"until=0001-01-01":                                 "is in the year 1;",
		"unique_key=" + strings.Repeat("k", rota.KeyMax+1): "at most 512",
	} {
		for _, path := range []string{"jobs", "executions"} {
			p := s.get(path+"?"+query).field(400, "invalid", strings.SplitN(query, "=", 2)[0])
			if path == "jobs" && !strings.Contains(fmt.Sprint(p), reason) {
				t.Errorf("%s: %+v", query, p)
			}
		}
	}
	s.post("jobs/cancel", `{"since":"yesterday"}`).field(422, "invalid", "since")
	if p := s.post("jobs/cancel", `{"state":"queued,completed"}`).field(422, "invalid", "state"); !strings.Contains(fmt.Sprint(p), "scheduled, blocked, queued, running") {
		t.Errorf("%+v", p)
	}
}

func TestAuditRefusesEmptyFilters(t *testing.T) {
	s := newServer(t)
	for _, query := range []string{"since=", "until=0001-01-01T00:00:00Z", "actor=", "subject=", "act=", "state=", "q="} {
		s.get("audit?"+query).field(400, "invalid", strings.SplitN(query, "=", 2)[0])
	}
}

// TestBulkActionsRefuseEmptyFilters sends filters whose empty value could mean that they are not given, so that the
// action would affect other jobs.
func TestBulkActionsRefuseEmptyFilters(t *testing.T) {
	s := newServer(t)
	s.declare("noop")
	s.enqueue(`{"type":"noop"}`)
	const zero = "00000000-0000-0000-0000-000000000000"
	for _, path := range []string{"jobs/cancel", "jobs/retry", "dead/retry"} {
		for _, field := range []string{
			"state", "template", "schedule", "group", "execution", "since", "until", "name", "unique_key", "scope_kind", "scope_id", "error_code", "q",
		} {
			s.post(path, fmt.Sprintf(`{"type":"noop",%q:""}`, field)).field(400, "invalid", field)
		}
		s.post(path, `{"type":"","state":"queued"}`).field(400, "invalid", "type")
		for field, value := range map[string]string{
			"since": "0001-01-01T00:00:00Z", "until": "0001-01-01T00:00:00Z", "group": zero, "execution": zero,
		} {
			s.post(path, fmt.Sprintf(`{"type":"noop",%q:%q}`, field, value)).field(422, "invalid", field)
		}
	}
	if done := read[api.Many](s.post("jobs/cancel", `{"type":"noop","group":null}`).is(200)); done.Cancelled != 1 {
		t.Errorf("null, which counts as omitted: %+v", done)
	}
}

func TestBulkRetryWithBadParamsIsRefusedWithoutMatches(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{"jobs/retry", "dead/retry"} {
		s.post(path, `{"type":"noop","params":{"a":1,"a":2}}`).field(422, "invalid", "params.a")
		s.post(path, `{"type":"noop","params":{"n":1e999}}`).field(422, "invalid", "params.n")
	}
}

func TestBulkActionsTakeTheFiltersOfLists(t *testing.T) {
	s, names := searchServer(t)
	for body, want := range map[string]int{
		`{"name":"welcome"}`:                              1,
		`{"scope_kind":"tenant","scope_id":"7"}`:          1,
		`{"state":"Queued,SCHEDULED","q":"no such text"}`: 0,
		`{"unique_key":"order:2","since":"1h"}`:           1,
		`{"since":"2099-01-01T00:00:00Z"}`:                0,
	} {
		if done := read[api.Many](s.post("jobs/cancel", body).is(200)); done.Cancelled != want || done.Matched != want {
			t.Errorf("%s: %+v, want %d", body, done, want)
		}
	}
	if done := read[api.Many](s.post("jobs/retry", `{"error_code":"disk","state":"DEAD,cancelled"}`).is(200)); done.Retried != 1 {
		t.Errorf("retried %+v", done)
	}
	if got := s.found("jobs?state=cancelled&q="+url.QueryEscape("e"), names); got != "fired, named, retrying again" {
		t.Errorf("cancelled: %s", got)
	}
}
