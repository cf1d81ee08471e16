package httpapi_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// audit returns the entries that a query selects, read in pages of a size.
func (s *server) audit(query string, size int) (entries []api.AuditEntry) {
	s.Helper()
	for cursor := ""; ; {
		page := read[api.List[api.AuditEntry]](s.get(fmt.Sprintf("audit?limit=%d&%s&cursor=%s", size, query, cursor)).is(200))
		entries = append(entries, page.Items...)
		if cursor = string(page.NextCursor); cursor == "" {
			return entries
		}
	}
}

func subjects(entries []api.AuditEntry) (all []string) {
	for _, e := range entries {
		all = append(all, e.Act+" "+string(e.Subject))
	}
	return all
}

// TestAuditPagesListNewestFirst lists the audit repeatedly while it grows, with various page sizes.
func TestAuditPagesListNewestFirst(t *testing.T) {
	s := newServer(t)
	if got := s.get("audit").is(200).text; got != `{"items":[],"next_cursor":null}`+"\n" {
		t.Errorf("an empty audit: %s", got)
	}
	for n := range 12 {
		s.declare(fmt.Sprint("type", n))
		whole := s.audit("", 1000)
		if len(whole) != n+1 || !slices.IsSortedFunc(whole, func(a, b api.AuditEntry) int { return b.At.Compare(a.At.Time) }) {
			t.Errorf("of %d: %v", n+1, subjects(whole))
		}
		if got := s.audit("", n/2+1); !slices.Equal(subjects(got), subjects(whole)) {
			t.Errorf("pages of %d: %v, want %v", n/2+1, subjects(got), subjects(whole))
		}
	}
	page := read[api.List[api.AuditEntry]](s.get("audit?limit=1").is(200))
	if p := s.get("jobs?cursor="+string(page.NextCursor)).problem(400, "invalid"); !strings.Contains(p.Detail, "another list") {
		t.Errorf("%+v", p)
	}
}

// TestAuditFilters selects entries by time, actor, act, subject, schedule and execution.
func TestAuditFilters(t *testing.T) {
	s := newServer(t)
	s.declare("mail")
	s.post("templates", `{"name":"letter","type":"mail"}`).is(201)
	s.post("schedules", `{"name":"nightly","template":"letter","cron":"0 2 * * *"}`).is(201)
	job := s.enqueue(`{"type":"mail","unique_key":"order:7","scope_kind":"user","scope_id":"7"}`)
	s.post("jobs/"+job+"/cancel", `{"reason":"not needed"}`).is(200)
	for query, want := range map[string]string{
		"actor=admin&act=JOB_CANCELLED":                    "JOB_CANCELLED job " + job,
		"actor=eve":                                        "",
		"act=type_created,Template_created":                "TEMPLATE_CREATED template letter, TYPE_CREATED type mail",
		"act=TYPE_CREATED,TEMPLATE_CREATED":                "TEMPLATE_CREATED template letter, TYPE_CREATED type mail",
		"subject=" + url.QueryEscape("template letter"):    "TEMPLATE_CREATED template letter",
		"schedule=nightly":                                 "JOB_CREATED schedule nightly",
		"execution=" + job + "&act=JOB_CREATED":            "JOB_CREATED job " + job,
		"since=" + url.QueryEscape("2099-01-01T00:00:00Z"): "",
		"until=" + url.QueryEscape("1999-01-01T00:00:00Z"): "",
		"since=1h&act=TYPE_CREATED":                        "TYPE_CREATED type mail",
		"until=1h":                                         "",
		"state=Cancelled":                                  "JOB_CANCELLED job " + job,
		"state=cancelled,OK&name=mail":                     "JOB_CANCELLED job " + job + ", JOB_CREATED job " + job + ", TYPE_CREATED type mail",
		"name=nightly":                                     "JOB_CREATED schedule nightly",
		"unique_key=order:7":                               "JOB_CANCELLED job " + job + ", JOB_CREATED job " + job,
		"scope_kind=user&scope_id=7&act=JOB_CREATED":       "JOB_CREATED job " + job,
		"scope_kind=tenant":                                "",
		"error_code=disk":                                  "",
		"q=NOT+needed":                                     "JOB_CANCELLED job " + job,
		"q=Order:7&state=ok":                               "JOB_CREATED job " + job,
		"since=1999-01-01T00:00:00Z&until=2099-01-01T00:00:00Z&act=TYPE_CREATED": "TYPE_CREATED type mail",
	} {
		got := subjects(s.audit(query, 1))
		slices.Sort(got)
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	for query, field := range map[string]string{
		"since=soon": `since: \"soon\" is not a time`, "until=2026-13-01": `until: \"2026-13-01\" is not a time`, "act=JOB_SWALLOWED": "JOB_SWALLOWED", "execution=7": "execution", "schedule=no+name": "schedule", "limit=0": "limit",
	} {
		if r := s.get("audit?" + query); r.status != 400 || !strings.Contains(r.text, field) {
			t.Errorf("%s: %d %s", query, r.status, r.text)
		}
	}
}

// TestAuditShowsWhatChanged changes the SQL text of a template, deletes its schedule and reads the entries of the schedule.
func TestAuditShowsWhatChanged(t *testing.T) {
	s := newServer(t)
	s.declare("sql")
	s.post("templates", `{"name":"report","type":"sql","default_params":{"sql":"SELECT 1"}}`).is(201)
	s.post("schedules", `{"name":"nightly","template":"report","cron":"0 2 * * *"}`).is(201)
	s.send("PATCH", "templates/report", `{"default_params":{"sql":"SELECT 2"}}`).is(200)
	s.send("DELETE", "schedules/nightly", nil).is(204)
	entries := s.audit("schedule=nightly", 10)
	if len(entries) != 3 {
		t.Fatalf("%v", subjects(entries))
	}
	e := entries[1]
	if string(e.Changes) != `{"template.params":{"old":{"sql":"SELECT 1"},"new":{"sql":"SELECT 2"}}}` || e.Schedule != "nightly" || e.Actor != "admin" {
		t.Errorf("%+v %s", e, e.Changes)
	}
	for i, want := range map[int]string{
		2: `"template.params":{"old":null,"new":{"sql":"SELECT 1"}}`, // created
		0: `"template.params":{"old":{"sql":"SELECT 2"},"new":null}`, // deleted
	} {
		if !strings.Contains(string(entries[i].Changes), want) {
			t.Errorf("%s: %s", entries[i].Act, entries[i].Changes)
		}
	}
	for _, e := range entries {
		if e.DefinitionID.ID != rota.DefinitionID("nightly") || e.Outcome != "OK" {
			t.Errorf("%s: definition %s, outcome %s", e.Act, e.DefinitionID.ID, e.Outcome)
		}
	}
	if e := s.audit("act=TEMPLATE_CREATED", 10)[0]; !e.DefinitionID.IsZero() {
		t.Errorf("a template has the definition %s", e.DefinitionID.ID)
	}
	if since := time.Since(e.At.Time); since > time.Hour || since < -time.Hour {
		t.Errorf("at %s", e.At)
	}
}
