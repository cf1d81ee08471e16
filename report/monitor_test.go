package report

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func daily() *rota.Schedule {
	return &rota.Schedule{
		Name: "daily", State: rota.ScheduleEnabled, LastFire: noon, NextFire: noon.Add(24 * time.Hour),
		Spec: rota.ScheduleSpec{Template: "letters", Cron: "0 12 * * MON-FRI", Zone: "Europe/Berlin", CatchUp: rota.CatchUpLast},
	}
}

func TestCheckInsReportExecutions(t *testing.T) {
	r := newReceiver(t)
	s := reporter(t, r, Config{Environment: "staging", Release: "rota@1"})
	job := failed("", "")
	for _, status := range []engine.CheckInStatus{engine.CheckInStarted, engine.CheckInCompleted, engine.CheckInFailed} {
		s.CheckIn(t.Context(), engine.CheckIn{Schedule: daily(), Job: job, Status: status})
	}
	once := daily()
	once.Spec = rota.ScheduleSpec{Template: "letters", At: noon}
	s.CheckIn(t.Context(), engine.CheckIn{Schedule: once, Job: job, Status: engine.CheckInStarted})
	s.CheckIn(t.Context(), engine.CheckIn{Schedule: nil, Job: job, Status: engine.CheckInStarted}) // the schedule was deleted
	s.CheckIn(t.Context(), engine.CheckIn{Schedule: daily(), Status: engine.CheckInStarted})
	flush(t, s)
	checkIns := r.all("check_in")
	if len(checkIns) != 3 {
		t.Fatalf("%d check-ins arrived", len(checkIns))
	}
	for i, want := range []map[string]any{
		{"status": "in_progress", "duration": nil},
		{"status": "ok", "duration": 1.5},
		{"status": "error", "duration": 1.5},
	} {
		checkIns[i].check(t, want)
		checkIns[i].check(t, map[string]any{
			"check_in_id": strings.ReplaceAll(job.ExecutionID.String(), "-", ""), "monitor_slug": "daily", "environment": "staging", "release": "rota@1",
			"monitor_config.schedule.type": "crontab", "monitor_config.schedule.value": "0 12 * * 1,2,3,4,5",
			"monitor_config.timezone": "Europe/Berlin", "monitor_config.checkin_margin": 5,
			"monitor_config.max_runtime":             3 + 1 + 2 + 5, // three attempts, two delays and the margin
			"monitor_config.failure_issue_threshold": 1,
		})
	}
}

func TestMissedTimesAreReportedAsEvent(t *testing.T) {
	r := newReceiver(t)
	s := reporter(t, r, Config{})
	for range 2 {
		s.CheckIn(t.Context(), engine.CheckIn{Schedule: daily(), Status: engine.CheckInMissed, Missed: "12 times between token=hunter2 and noon"})
	}
	s.CheckIn(t.Context(), engine.CheckIn{Schedule: daily(), Status: engine.CheckInMissed, Missed: "others"})
	s.CheckIn(t.Context(), engine.CheckIn{Status: engine.CheckInMissed})
	flush(t, s)
	events := r.all("event")
	if len(events) != 3 || len(r.all("check_in")) != 0 {
		t.Fatalf("%d events and %d check-ins arrived", len(events), len(r.all("check_in")))
	}
	events[0].check(t, map[string]any{
		"level": "warning", "message": "the schedule daily missed times: 12 times between token=[hidden] and noon", "transaction": "daily",
		"tags.schedule": "daily", "tags.template": "letters", "contexts.schedule.cron": "0 12 * * MON-FRI", "contexts.schedule.timezone": "Europe/Berlin",
		"contexts.schedule.last_fire": "2026-11-15T12:00:00Z", "contexts.schedule.catch_up": "last",
		"fingerprint": []any{"rota.schedule.missed", "daily"},
	})
	if events[0].get("event_id") != events[1].get("event_id") || events[0].get("event_id") == events[2].get("event_id") {
		t.Errorf("the ids are %v %v %v", events[0].get("event_id"), events[1].get("event_id"), events[2].get("event_id"))
	}
}

func TestMonitorTimetableFormats(t *testing.T) {
	for _, test := range []struct {
		spec  rota.ScheduleSpec
		value any
		unit  any
	}{
		{rota.ScheduleSpec{Cron: "*/30 * * * *"}, "0,30 * * * *", nil},
		{rota.ScheduleSpec{Cron: "@midnight"}, "0 0 * * *", nil},
		{rota.ScheduleSpec{Cron: "H 3 * * *"}, "9 3 * * *", nil},
		{rota.ScheduleSpec{Every: time.Second}, 1, "minute"},
		{rota.ScheduleSpec{Every: 90 * time.Second}, 2, "minute"},
		{rota.ScheduleSpec{Every: 45 * time.Minute}, 45, "minute"},
		{rota.ScheduleSpec{Every: 6 * time.Hour}, 6, "hour"},
		{rota.ScheduleSpec{Every: 48 * time.Hour}, 2, "day"},
	} {
		r := newReceiver(t)
		s := reporter(t, r, Config{})
		s.CheckIn(t.Context(), engine.CheckIn{Schedule: &rota.Schedule{Name: "nightly", Spec: test.spec}, Job: failed("", ""), Status: engine.CheckInStarted})
		flush(t, s)
		r.all("check_in")[0].check(t, map[string]any{
			"monitor_config.schedule.value": test.value, "monitor_config.schedule.unit": test.unit, "monitor_config.timezone": "UTC",
		})
	}
}

func TestMonitorMaxRuntime(t *testing.T) {
	for _, test := range []struct {
		policy rota.Policy
		want   time.Duration
	}{
		{rota.Policy{MaxAttempts: 1, Timeout: time.Minute}, 6 * time.Minute},
		{rota.Policy{MaxAttempts: 4, Timeout: time.Hour, Backoff: time.Minute}, 4*time.Hour + 7*time.Minute + 5*time.Minute},
		{rota.Policy{MaxAttempts: 4, Timeout: time.Minute, Backoff: time.Minute, BackoffMax: 2 * time.Minute}, 4*time.Minute + 5*time.Minute + 5*time.Minute},
		{rota.Policy{MaxAttempts: 4}, runtimeMax},
		{rota.Policy{MaxAttempts: 1_001, Timeout: 1 << 62, Backoff: 1 << 62}, runtimeMax},
		{rota.Policy{MaxAttempts: 1_001, Timeout: time.Second, Backoff: time.Second}, runtimeMax},
		{rota.Policy{}, runtimeMax},
	} {
		if got := maxRuntime(test.policy); got != test.want {
			t.Errorf("%+v: %v, want %v", test.policy, got, test.want)
		}
	}
}

func TestSlugIsValidAndUnique(t *testing.T) {
	allowed := regexp.MustCompile(`^[a-z0-9_-]{1,50}$`).MatchString
	seen := map[string]string{}
	for _, name := range []string{
		"daily", "daily-report_2", "Daily", "daily report", "daily/report", "daily.report", "ÄÖÜ", "äöü", "123", "456", "-", "--",
		strings.Repeat("a", 50), strings.Repeat("a", 51), strings.Repeat("a", 52), strings.Repeat("é", 60),
	} {
		got := slug(name)
		if !allowed(got) || strings.Trim(got, "0123456789") == "" || got[0] == '-' && name[0] != '-' {
			t.Errorf("%q is %q", name, got)
		}
		if seen[got] != "" {
			t.Errorf("%q and %q are both %q", name, seen[got], got)
		}
		seen[got] = name
	}
	if slug("daily-report_2") != "daily-report_2" {
		t.Error("a name that needs no change was changed")
	}
}
