package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
)

// declareReport declares a type and a template for schedules.
func (s *server) declareReport() {
	s.Helper()
	s.declareMail()
	s.post("templates", `{"name": "report", "type": "mail", "default_params": {"to": "ada"}}`).is(201)
}

func TestCreateSchedule(t *testing.T) {
	s := newServer(t)
	s.declareReport()
	s.post("schedules", `{"name": "base", "template": "report", "every": "5 MINUTES"}`).is(201)
	made := s.post("schedules", `{"name": "nightly", "template": "report", "cron": "0 3 * * *", "timezone": "Europe/Berlin",
		"scopes": [{"kind": "user", "id": "7"}, {"kind": "user", "ids": ["8", "9"]}], "starts_at": "2026-01-01T00:00:00Z", "ends_at": "2099-01-01T00:00:00Z",
		"state": "paused", "param_overrides": {"n": 3}, "priority": 2, "catch_up": "ALL", "overlap": "Skip", "on_completion": "preserve",
		"depends_on": ["base"], "max_retries": 1, "description": "at night"}`).is(201)
	if made.header.Get("Location") != "/api/v1/schedules/nightly" {
		t.Error(made.header.Get("Location"))
	}
	got := read[api.Schedule](made)
	if got.State != "PAUSED" || got.Timezone != "Europe/Berlin" || len(got.Scopes) != 3 || got.Scopes[2].ID != "9" || got.CatchUp != "all" || got.Overlap != "skip" ||
		got.OnCompletion != "preserve" || got.DependsOn[0] != "base" || *got.Priority != 2 || *got.MaxRetries != 1 || got.Describe == "" || got.NextFireAt.IsZero() {
		t.Errorf("%s", made.text)
	}
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
	once := read[api.Schedule](s.post("schedules", fmt.Sprintf(`{"name": "once", "template": "report", "at": %q}`, at)).is(201))
	if once.NextFireAt.Format(time.RFC3339) != at || once.State != "ENABLED" || once.CatchUp != "last" || once.Overlap != "allow" || once.Cron != "" || once.Timezone != "UTC" {
		t.Errorf("%+v", once)
	}
	s.post("schedules", `{"name": "once", "template": "report", "every": "1h"}`).problem(409, "conflict")
	if got := s.all("schedules", 2); !slices.Equal(got, []string{"base", "nightly", "once"}) {
		t.Errorf("the schedules are %v", got)
	}
	if got := s.all("schedules?state=paused", 2); !slices.Equal(got, []string{"nightly"}) {
		t.Errorf("those that are paused are %v", got)
	}
	if got := s.all("schedules?template=nobody", 2); len(got) != 0 {
		t.Errorf("%v", got)
	}
	s.get("schedules/nobody").problem(404, "not_found")
}

func TestChangeSchedule(t *testing.T) {
	s := newServer(t)
	s.declareReport()
	s.post("schedules", `{"name": "s", "template": "report", "cron": "0 3 * * *", "timezone": "Europe/Berlin", "priority": 4, "overlap": "skip", "param_overrides": {"n": 1}}`).is(201)
	first := read[api.Schedule](s.get("schedules/s").is(200))
	got := read[api.Schedule](s.send("PATCH", "schedules/s", `{"priority": null, "overlap": null, "description": "d"}`).is(200))
	if got.Priority != nil || got.Overlap != "allow" || got.Description != "d" || got.Cron != "0 3 * * *" || !got.NextFireAt.Equal(first.NextFireAt.Time) {
		t.Errorf("%+v", got)
	}
	if got := read[api.Schedule](s.send("PATCH", "schedules/s", `{"every": "10m"}`).is(200)); got.Cron != "" || got.Every == nil || got.Timezone != "Europe/Berlin" {
		t.Errorf("%+v", got)
	}
	if got := read[api.Schedule](s.send("PATCH", "schedules/s", `{"cron": "5 4 * * *", "timezone": "Asia/Tokyo"}`).is(200)); got.Every != nil || got.Timezone != "Asia/Tokyo" {
		t.Errorf("%+v", got)
	}
	if got := read[api.Schedule](s.send("PATCH", "schedules/s", `{"timezone": null}`).is(200)); got.Timezone != "UTC" || got.Cron != "5 4 * * *" {
		t.Errorf("%+v", got)
	}
	if got := read[api.Schedule](s.send("PATCH", "schedules/s", `{"state": "disabled"}`).is(200)); got.State != "DISABLED" || !got.NextFireAt.IsZero() {
		t.Errorf("%+v", got)
	}
	if got := read[api.Schedule](s.send("PATCH", "schedules/s", `{"state": "ENABLED"}`).is(200)); got.State != "ENABLED" || got.NextFireAt.IsZero() {
		t.Errorf("%+v", got)
	}
	for body, field := range map[string]string{
		`{"cron": null}`: "cron", `{"cron": "x"}`: "cron", `{"timezone": "Mars/Base"}`: "timezone", `{"name": "other"}`: "name", `{"state": "asleep"}`: "state",
		`{"template": "nobody"}`: "template", `{"param_overrides": {"n": "x"}}`: "param_overrides.n", `{"depends_on": ["s"]}`: "depends_on[0]",
		`{"cron": "0 1 * * *", "every": "1h"}`: "cron", `{"scopes": [{"kind": "user"}]}`: "scopes[0]", `{"catch_up": "some"}`: "catch_up",
	} {
		before := s.dump()
		if p := s.send("PATCH", "schedules/s", body).problem(422, "invalid"); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
		if s.dump() != before {
			t.Errorf("%s changed something", body)
		}
	}
	s.send("PATCH", "schedules/nobody", `{"priority": 1}`).problem(404, "not_found")
}

func TestPauseAndResumeSchedule(t *testing.T) {
	s := newServer(t)
	s.declareReport()
	s.post("schedules", `{"name": "s", "template": "report", "every": "1h"}`).is(201)
	if got := read[api.Schedule](s.post("schedules/s/pause", nil).is(200)); got.State != "PAUSED" {
		t.Errorf("%+v", got)
	}
	if got := read[api.Schedule](s.post("schedules/s/resume", nil).is(200)); got.State != "ENABLED" || got.NextFireAt.IsZero() {
		t.Errorf("%+v", got)
	}
	s.post("schedules/nobody/pause", nil).problem(404, "not_found")
	s.post("schedules/nobody/resume", nil).problem(404, "not_found")
}

func TestTriggerSchedule(t *testing.T) {
	s := newServer(t)
	s.declareReport()
	s.post("schedules", `{"name": "s", "template": "report", "cron": "0 3 * * *", "scopes": [{"kind": "user", "ids": ["7", "8"]}], "overlap": "skip", "param_overrides": {"n": 1}}`).is(201)
	made := read[api.Triggered](s.post("schedules/s/trigger", `{"params": {"n": 2}, "priority": 8}`).is(201))
	if len(made.Items) != 2 || made.Items[0].ScopeID != "7" || string(made.Items[1].Params) != `{"n":2,"to":"ada"}` || made.Items[1].Priority != 8 || made.Items[0].Schedule != "s" || !made.Items[0].PlanTime.IsZero() {
		t.Errorf("%+v", made)
	}
	if got := read[api.Schedule](s.get("schedules/s").is(200)); !got.LastTriggeredAt.Equal(made.Items[0].CreatedAt.Time) || !got.LastFireAt.IsZero() {
		t.Errorf("last triggered at %s, last fire at %s, created at %s", got.LastTriggeredAt, got.LastFireAt, made.Items[0].CreatedAt)
	}
	again := read[api.Triggered](s.post("schedules/s/trigger", nil).is(201))
	if len(again.Items) != 2 || again.Items[0].State != "skipped" || again.Items[0].Run.ErrorCode != "overlap" {
		t.Errorf("%+v", again)
	}
	if p := s.post("schedules/s/trigger", `{"params": {"n": "x"}}`).problem(422, "invalid"); p.Errors[0].Field != "params.n" {
		t.Errorf("%+v", p)
	}
	s.post("schedules/nobody/trigger", nil).problem(404, "not_found")
}

func TestBackfillSchedule(t *testing.T) {
	s := newServer(t)
	s.declareReport()
	s.post("schedules", `{"name": "s", "template": "report", "cron": "0 3 * * *"}`).is(201)
	made := read[api.Backfilled](s.post("schedules/s/backfill", `{"from": "2026-01-01T00:00:00Z", "to": "2026-01-03T23:00:00Z"}`).is(201))
	if len(made.Items) != 3 || made.Items[0].PlanTime.Format(time.RFC3339) != "2026-01-01T03:00:00Z" || made.Known != 0 {
		t.Errorf("%+v", made)
	}
	made = read[api.Backfilled](s.post("schedules/s/backfill", `{"from": "2026-01-03T00:00:00Z", "to": "2026-01-04T23:00:00Z"}`).is(201))
	if len(made.Items) != 1 || made.Known != 1 {
		t.Errorf("%+v", made)
	}
	for body, field := range map[string]string{
		`{}`: "", `{"from": "2026-01-01T00:00:00Z"}`: "to", `{"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}`: "to",
		`{"from": "2026-01-01T00:00:00Z", "to": "2099-01-01T00:00:00Z"}`: "to", `{"from": "2026-01-01T04:00:00Z", "to": "2026-01-01T05:00:00Z"}`: "from",
		`{"from": "1999-01-01T00:00:00Z", "to": "2026-01-01T05:00:00Z"}`: "to",
	} {
		if p := s.post("schedules/s/backfill", body).problem(422, "invalid"); field != "" && p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	s.post("schedules/nobody/backfill", `{"from": "2026-01-01T00:00:00Z", "to": "2026-01-03T23:00:00Z"}`).problem(404, "not_found")
}

func TestDeleteSchedule(t *testing.T) {
	s := newServer(t)
	s.declareReport()
	s.post("schedules", `{"name": "s", "template": "report", "every": "1h"}`).is(201)
	s.post("schedules", `{"name": "next", "template": "report", "every": "1h", "depends_on": ["s"]}`).is(201)
	if a := s.send("DELETE", "schedules/next", nil).is(204); a.text != "" {
		t.Error(a.text)
	}
	s.send("DELETE", "schedules/s", nil).is(204)
	s.send("DELETE", "schedules/s", nil).problem(404, "not_found")
	s.get("schedules/s").problem(404, "not_found")
}

func TestUpcomingTimesAcrossDaylightSaving(t *testing.T) {
	s := newServer(t)
	s.declareReport()
	s.post("schedules", `{"name": "s", "template": "report", "cron": "30 2 * * *", "timezone": "Europe/Berlin"}`).is(201)
	got := read[api.Upcoming](s.get("schedules/s/upcoming?n=3&from=2026-03-28T00:00:00Z").is(200))
	if len(got.Items) != 3 || got.Items[0].At != "2026-03-28T02:30:00+01:00" || got.Items[1].At != "2026-03-30T02:30:00+02:00" {
		t.Fatalf("%+v", got)
	}
	if !strings.Contains(got.Items[1].Note, "clocks go forward") || got.Items[0].Note != "" || got.Items[1].UTC.Format(time.RFC3339) != "2026-03-30T00:30:00Z" || got.Describe == "" {
		t.Errorf("%+v", got)
	}
	if got := read[api.Upcoming](s.get("schedules/s/upcoming").is(200)); len(got.Items) != 10 {
		t.Errorf("%d times", len(got.Items))
	}
	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	s.post("schedules", fmt.Sprintf(`{"name": "once", "template": "report", "at": %q}`, at)).is(201)
	if got := read[api.Upcoming](s.get("schedules/once/upcoming").is(200)); len(got.Items) != 1 {
		t.Errorf("%+v", got)
	}
	for _, query := range []string{"n=0", "n=1001", "n=x", "from=yesterday", "from=", "limit=3"} {
		s.get("schedules/s/upcoming?"+query).problem(400, "invalid")
	}
	s.get("schedules/nobody/upcoming").problem(404, "not_found")
}

// TestSchedulesUseStoreClock uses servers whose clock is ahead or behind.
func TestSchedulesUseStoreClock(t *testing.T) {
	for _, ahead := range []time.Duration{2 * time.Hour, -2 * time.Hour} {
		s := newServer(t, func(c *httpapi.Config) { c.Clock = func() time.Time { return time.Now().Add(ahead) } })
		s.declareReport()
		next := func(what string, a answer) {
			t.Helper()
			in := time.Until(read[api.Schedule](a).NextFireAt.Time)
			if a.status >= 300 || in < 59*time.Minute || in > time.Hour {
				t.Errorf("ahead by %s, %s: every hour, and next in %s: %s", ahead, what, in, a.text)
			}
		}
		next("declared", s.post("schedules", `{"name": "s", "template": "report", "every": "1h"}`))
		s.send("PATCH", "schedules/s", `{"state": "DISABLED"}`).is(200)
		next("resumed", s.post("schedules/s/resume", nil))
		s.send("PUT", "definitions", `{"schedules": {"d": {"template": "report", "every": "1h"}}}`).is(200)
		next("defined", s.get("schedules/d"))
		if at := read[api.Upcoming](s.get("schedules/s/upcoming?n=1").is(200)).Items[0].UTC; time.Until(at.Time) > time.Hour {
			t.Errorf("ahead by %s, the next is at %s", ahead, at)
		}
		times := func(from, to time.Duration) string {
			at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
			return fmt.Sprintf(`{"from": %q, "to": %q}`, at(from), at(to))
		}
		s.post("schedules", `{"name": "old", "template": "report", "every": "1m", "starts_at": "2026-01-01T00:00:00Z"}`).is(201)
		s.post("schedules/old/backfill", times(-90*time.Second, -10*time.Second)).is(201)
		s.post("schedules/old/backfill", times(-90*time.Second, time.Hour)).problem(422, "invalid")
	}
}

func TestExecutionStates(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	types := []string{"a"}
	pending := s.enqueue(`{"type": "a", "priority": -9}`)
	s.enqueue(`{"type": "a", "max_retries": 1, "backoff": "0s"}`)
	dead := s.drive(types, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "one"})
	s.drive(types, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "two", ErrorCode: "E2"})
	s.enqueue(`{"type": "a", "max_retries": 0}`)
	late := s.drive(types, rota.FinishItem{Outcome: rota.OutcomeCancelled, ErrorCode: rota.CodeTimeout})
	s.enqueue(`{"type": "a"}`)
	failed := s.drive(types, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "soon"})
	s.enqueue(`{"type": "a"}`)
	completed := s.drive(types, rota.FinishItem{Outcome: rota.OutcomeCompleted, Result: []byte(`{"ok":true}`)})
	s.enqueue(`{"type": "a"}`)
	runs := s.drive(types, rota.FinishItem{})
	cancelled := s.enqueue(`{"type": "a"}`)
	s.post("jobs/"+cancelled+"/cancel", nil).is(200)
	s.enqueue(`{"type": "a"}`)
	skipped := s.drive(types, rota.FinishItem{Outcome: rota.OutcomeSkipped})
	for state, want := range map[string][]string{
		"pending": {pending}, "dead": {late.ID.String(), dead.ID.String()}, "failed": {failed.ID.String()}, "completed": {completed.ID.String()},
		"running": {runs.ID.String()}, "cancelled": {cancelled}, "skipped": {skipped.ID.String()},
	} {
		for _, limit := range []int{1, 100} {
			var got []string
			for _, id := range s.all("executions?type=a&state="+state, limit) {
				got = append(got, id[:36])
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s are %v, not %v", state, got, want)
			}
		}
		for _, id := range want {
			if one := read[api.ExecutionDetail](s.get("executions/" + id).is(200)); one.State != state {
				t.Errorf("%s is %s, not %s", id, one.State, state)
			}
			if got := s.all("executions?execution="+id+"&state="+state, 10); len(got) != 1 {
				t.Errorf("%s is not found by its id", state)
			}
		}
	}
	if got := s.all("executions", 3); len(got) != 8 {
		t.Errorf("there are %d", len(got))
	}
	one := read[api.ExecutionDetail](s.get("executions/" + dead.ID.String()).is(200))
	if len(one.Attempts) != 2 || one.RetryCount != 1 || one.Attempts[1].RetryOf != one.Attempts[0].ID || one.Error != "two" || one.ErrorCode != "E2" ||
		!one.StartedAt.Equal(one.Attempts[0].StartedAt.Time) || !one.FinishedAt.Equal(one.Attempts[1].FinishedAt.Time) || one.Name != "a" || one.ScopeKind != "global" {
		t.Errorf("%+v", one)
	}
	if same := s.get("executions/" + one.Attempts[1].ID.String()).is(200); read[api.ExecutionDetail](same).ID != one.ID {
		t.Error("the id of another attempt finds another execution")
	}
	list := read[api.List[api.Execution]](s.get("executions?state=failed").is(200)).Items
	if list[0].AttemptCount != 2 || list[0].NextRetryAt.IsZero() || list[0].Error != "soon" || list[0].StartedAt.IsZero() || !list[0].FinishedAt.IsZero() {
		t.Errorf("%+v", list[0])
	}
	if run := s.get("jobs/" + completed.ID.String()).is(200).job().Run; string(run.Result) != `{"ok":true}` || run.Status != "COMPLETED" || string(run.ParamsSnapshot) != "{}" || run.Runner != "w" {
		t.Errorf("%+v", run)
	}
	if strings.Contains(s.get("jobs/"+runs.ID.String()).text, runs.Run.Token.Reveal()) {
		t.Error("the token of a lease is shown")
	}
	s.get("executions/"+rota.NewID().String()).problem(404, "not_found")
	s.get("executions/x").problem(404, "not_found")
}

func TestSchedulePartition(t *testing.T) {
	const low, high = "018f2c4e-0000-7000-8000-00000000000a", "018f2c4e-0000-7000-8000-00000000000b"
	s := newServer(t)
	s.declareReport()
	made := read[api.Schedule](s.post("schedules", `{"name": "s", "template": "report", "every": "1h", "class": "leader_only",
		"partition": {"strategy": "shard_set", "shards": ["`+strings.ToUpper(high)+`", "`+low+`"]}}`).is(201))
	if made.Class != "LEADER_ONLY" || made.Partition == nil || made.Partition.Strategy != "SHARD_SET" || !slices.Equal(made.Partition.Shards, []string{low, high}) {
		t.Errorf("%+v, partition %+v", made, made.Partition)
	}
	got := read[api.Schedule](s.send("PATCH", "schedules/s", `{"partition": {"strategy": "DYNAMIC", "expression": "true"}}`).is(200))
	if got.Class != "LEADER_ONLY" || got.Partition == nil || got.Partition.Expression != "true" || len(got.Partition.Shards) != 0 {
		t.Errorf("%+v, partition %+v", got, got.Partition)
	}
	if got := read[api.Schedule](s.send("PATCH", "schedules/s", `{"class": null, "partition": null}`).is(200)); got.Class != "" || got.Partition != nil {
		t.Errorf("%+v, partition %+v", got, got.Partition)
	}
}

// TestOnCompletionDropNeedsAt: a schedule that fires again never completes.
func TestOnCompletionDropNeedsAt(t *testing.T) {
	s := newServer(t)
	s.declareReport()
	for _, when := range []string{`"cron": "0 3 * * *"`, `"every": "5m"`, `"cron": "0 3 * * *", "ends_at": "2099-01-01T00:00:00Z"`} {
		p := s.post("schedules", `{"name": "x", "template": "report", `+when+`, "on_completion": "drop"}`).field(422, "invalid", "on_completion")
		if !strings.Contains(p.Detail, "only a schedule with at completes") {
			t.Error(p.Detail)
		}
	}
	s.post("schedules", `{"name": "x", "template": "report", "cron": "0 3 * * *"}`).is(201)
	s.send("PATCH", "schedules/x", `{"on_completion": "drop"}`).field(422, "invalid", "on_completion")
	s.post("schedules", `{"name": "once", "template": "report", "at": "2099-01-01T00:00:00Z", "on_completion": "drop"}`).is(201)
	s.send("PATCH", "schedules/once", `{"at": null, "every": "1h"}`).field(422, "invalid", "on_completion")
	s.send("PUT", "definitions", `{"schedules": {"y": {"template": "report", "every": "1h", "on_completion": "drop"}}}`).field(422, "invalid", "schedules.y.on_completion")
}
