package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// wantChanges wants the newest entry about a subject to have an act and changes.
func (y *story) wantChanges(subject, act, changes string) {
	y.Helper()
	entries := y.audit(rota.AuditQuery{Subject: subject})
	if len(entries) == 0 {
		y.Fatalf("%s has no entry", subject)
	}
	want(y, "act about "+subject, entries[0].Act, act)
	want(y, "changes of "+subject, string(entries[0].Changes), changes)
	want(y, "actor", entries[0].Actor, "ada")
	wantTime(y, "at", entries[0].At, y.now)
}

func auditRedrives(y *story) {
	for _, one := range []struct{ params, changes string }{
		{`{"to":"bob"}`, `{"params.to":{"old":"ada","new":"bob"}}`},
		{`{"password":"hunter2"}`, `{"params.password":{"old":null,"new":"[hidden]"}}`},
		{`{"headers":{"X-Own":"hunter2"}}`, `{"params.headers":{"old":null,"new":{"X-Own":"[hidden]"}}}`},
		{`{"copy":null}`, `{"params.copy":{"old":true,"new":null}}`},
		{`{"to":"ada"}`, ``},
		{``, ``},
	} {
		for _, again := range []bool{false, true} {
			j := y.running(rota.NewJob{MaxRetries: new(0), Params: []byte(`{"copy":true,"to":"ada"}`)})
			if again {
				y.complete(j)
			} else {
				y.fail(j)
			}
			y.advance(time.Second)
			c := &rota.Redrive{Meta: y.ids.meta(), JobID: j.ID, Again: again}
			if one.params != "" {
				c.Params = []byte(one.params)
			}
			do[*rota.Redriven](y, c)
			y.wantChanges(rota.JobSubject(j.ID), rota.AuditJobRedriven, one.changes)
			redriven := y.audit(rota.AuditQuery{Subject: rota.JobSubject(j.ID), Acts: []string{rota.AuditJobRedriven}})
			want(y, "outcome of the redrive", redriven[0].Outcome, rota.AuditOK)
			y.complete(y.claimOne())
		}
	}
}

func auditDurations(y *story) {
	y.declareType("mail", rota.TypeSpec{Policy: rota.PolicyPatch{Timeout: new(90 * time.Minute)}})
	y.declareTemplate("letter", rota.TemplateSpec{UniqueFor: time.Hour, Policy: rota.PolicyPatch{Backoff: new(1500 * time.Millisecond)}})
	y.declare("often", rota.ScheduleSpec{Template: "letter", Every: time.Hour})
	y.throttle(rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "mail", Rate: rota.Rate{Count: 5, Per: time.Minute}}}})
	for subject, changes := range map[string][]string{
		"type mail":       {`"timeout":"1h30m"`},
		"template letter": {`"unique_for":{"old":null,"new":"1h"}`, `"backoff":"1.5s"`},
		"schedule often":  {`"every":{"old":null,"new":"1h"}`, `"template.unique_for":{"old":null,"new":"1h"}`},
		"limits":          {`"per":"1m"`},
	} {
		got := string(y.audit(rota.AuditQuery{Subject: subject})[0].Changes)
		for _, one := range changes {
			if !strings.Contains(got, one) {
				y.Errorf("the changes of %s have no %s: %s", subject, one, got)
			}
		}
	}
	y.advance(time.Second)
	y.declare("often", rota.ScheduleSpec{Template: "letter", Every: 2 * time.Hour})
	y.wantChanges("schedule often", rota.AuditScheduleModified, `{"every":{"old":"1h","new":"2h"}}`)
}

func auditScheduleChanges(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Cron: "0 2 * * *"})
	y.advance(time.Second)
	y.declare("nightly", rota.ScheduleSpec{Cron: "0 3 * * *", Description: "later"})
	y.wantChanges("schedule nightly", rota.AuditScheduleModified,
		`{"cron":{"old":"0 2 * * *","new":"0 3 * * *"},"description":{"old":null,"new":"later"}}`)
}

func auditCreatedDeleted(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Cron: "0 2 * * *"})
	created := y.audit(rota.AuditQuery{Subject: "schedule nightly"})[0]
	want(y, "act", created.Act, rota.AuditScheduleCreated)
	want(y, "definition", created.Schedule, "nightly")
	want(y, "cron", strings.Contains(string(created.Changes), `"cron":{"old":null,"new":"0 2 * * *"}`), true)
	y.advance(time.Second)
	y.deleteSchedule("nightly")
	deleted := y.audit(rota.AuditQuery{Subject: "schedule nightly"})[0]
	want(y, "act", deleted.Act, rota.AuditScheduleDeleted)
	want(y, "cron", strings.Contains(string(deleted.Changes), `"cron":{"old":"0 2 * * *","new":null}`), true)
	want(y, "state", strings.Contains(string(deleted.Changes), `"state":{"old":"ENABLED","new":null}`), true)
}

func auditStates(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.advance(time.Second)
	y.switchTo("nightly", rota.SchedulePaused)
	y.wantChanges("schedule nightly", rota.AuditScheduleModified, `{"state":{"old":"ENABLED","new":"PAUSED"}}`)
	y.declareType("mail", rota.TypeSpec{})
	y.advance(time.Second)
	y.pause("mail", true)
	y.wantChanges("type mail", rota.AuditTypePaused, `{"paused":{"old":false,"new":true}}`)
	y.advance(time.Second)
	y.archive("report")
	y.wantChanges("template report", rota.AuditTemplateArchived, `{"state":{"old":"ACTIVE","new":"ARCHIVED"}}`)
	y.wantChanges("schedule nightly", rota.AuditScheduleDisabled, `{"state":{"old":"PAUSED","new":"DISABLED"}}`)
	y.advance(time.Second)
	y.unarchive("report")
	y.wantChanges("template report", rota.AuditTemplateUnarchived, `{"state":{"old":"ARCHIVED","new":"ACTIVE"}}`)
}

func auditLimitsAndTypes(y *story) {
	y.throttle(rota.ThrottleSpec{Global: 3})
	y.advance(time.Second)
	y.throttle(rota.ThrottleSpec{Global: 5})
	y.wantChanges("limits", rota.AuditThrottleModified, `{"global":{"old":3,"new":5}}`)
	y.declareType("mail", rota.TypeSpec{Description: "a"})
	y.advance(time.Second)
	y.declareType("mail", rota.TypeSpec{Description: "b"})
	y.wantChanges("type mail", rota.AuditTypeModified, `{"description":{"old":"a","new":"b"}}`)
}

func auditJobChanges(y *story) {
	other, j := y.enqueue(rota.NewJob{}), y.enqueue(rota.NewJob{Params: []byte(`{"to":"ada"}`)})
	y.advance(time.Second)
	y.edit(j.ID, func(c *rota.Edit) { c.Params = []byte(`{"to":"bob"}`) })
	y.wantChanges(rota.JobSubject(j.ID), rota.AuditJobModified, `{"params.to":{"old":"ada","new":"bob"}}`)
	y.advance(time.Second)
	was := y.job(j.ID).Position
	is := y.move(y.job(j.ID), rota.PlaceBefore, other).Position
	y.wantChanges(rota.JobSubject(j.ID), rota.AuditJobModified, fmt.Sprintf(`{"position":{"old":%d,"new":%d}}`, was, is))
}

func auditSecrets(y *story) {
	y.putWebhooks(hook("a"))
	y.advance(time.Second)
	changed := hook("a")
	changed.Secret = "another HUSH"
	y.putWebhooks(changed)
	y.declareTemplate("letter", rota.TemplateSpec{
		Webhooks: []rota.Webhook{hook("t")}, Params: []byte(`{"target":"postgres://ada:HUSH@db/x","headers":{"X-Key":"HUSH"},"password":"HUSH"}`),
	})
	for _, e := range y.audit(rota.AuditQuery{}) {
		text := auditText(&e)
		if strings.Contains(text, "HUSH") || strings.Contains(text, "the secret of") {
			y.Errorf("a secret is shown: %s", text)
		}
	}
	y.wantChanges("webhooks", rota.AuditWebhooksModified,
		`{"webhooks":{"old":[{"url":"https://a.example/hook","secret":"[hidden]"}],"new":[{"url":"https://a.example/hook","secret":"[hidden]"}]}}`)
}

func auditLong(y *story) {
	y.declareTemplate("letter", rota.TemplateSpec{Params: []byte(`{"body":"` + strings.Repeat("x", 50_000) + `"}`)})
	e := y.audit(rota.AuditQuery{Subject: "template letter"})[0]
	if n := len(e.Changes); n > 10_000 || !strings.Contains(string(e.Changes), "cut: the value has 50011 bytes") {
		y.Errorf("the changes have %d bytes: %.100s", n, e.Changes)
	}
}

func auditTemplateUsers(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{Params: []byte(`{"sql":"SELECT 1"}`)})
	y.declare("daily", rota.ScheduleSpec{Template: "report"})
	y.declare("nightly", rota.ScheduleSpec{Template: "report"})
	y.advance(time.Second)
	y.declareTemplate("report", rota.TemplateSpec{Params: []byte(`{"sql":"SELECT 2"}`)})
	changes := `{"old":{"sql":"SELECT 1"},"new":{"sql":"SELECT 2"}}}`
	for _, name := range []string{"daily", "nightly"} {
		y.wantChanges("schedule "+name, rota.AuditScheduleModified, `{"template.params":`+changes)
		e := y.audit(rota.AuditQuery{Schedule: name})[0]
		want(y, "definition", e.Schedule, name)
		want(y, "detail", e.Detail, "template report")
	}
	y.wantChanges("template report", rota.AuditTemplateModified, `{"params":`+changes)
}

// auditTemplateOfSchedule reads the entries of a schedule only, as an auditor of one job does.
func auditTemplateOfSchedule(y *story) {
	newest := func(what, act, changes string) {
		y.Helper()
		e := y.audit(rota.AuditQuery{Schedule: "nightly"})[0]
		want(y, "act of "+what, e.Act, act)
		if !strings.Contains(string(e.Changes), changes) {
			y.Errorf("%s: the changes have no %s: %s", what, changes, e.Changes)
		}
		y.advance(time.Second)
	}
	put := func(statement string) {
		y.Helper()
		y.declareTemplate("nightly", rota.TemplateSpec{Params: []byte(`{"sql":"` + statement + `"}`)})
	}
	declare := func(template string) {
		y.Helper()
		y.declare("nightly", rota.ScheduleSpec{Template: template})
	}
	put("SELECT 1")
	declare("nightly")
	newest("a created schedule", rota.AuditScheduleCreated, `"template.params":{"old":null,"new":{"sql":"SELECT 1"}},"template.type":{"old":null,"new":"mail"}`)
	put("SELECT 2")
	newest("a changed template", rota.AuditScheduleModified, `"template.params":{"old":{"sql":"SELECT 1"},"new":{"sql":"SELECT 2"}}`)
	y.declareTemplate("other", rota.TemplateSpec{Params: []byte(`{"sql":"SELECT 3"}`)})
	declare("other")
	newest("another template", rota.AuditScheduleModified, `{"template":{"old":"nightly","new":"other"},"template.params":{"old":{"sql":"SELECT 2"},"new":{"sql":"SELECT 3"}}}`)
	declare("nightly")
	y.deleteSchedule("nightly")
	deleted := `"template.params":{"old":{"sql":"SELECT 2"},"new":null}`
	newest("a deleted schedule", rota.AuditScheduleDeleted, deleted)
	declare("nightly")
	y.drop("nightly")
	newest("a dropped schedule", rota.AuditScheduleDeleted, deleted)
}

func auditManyUsers(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	for i := range rota.TemplateModifiedMax + 1 {
		y.declare(fmt.Sprintf("s%03d", i), rota.ScheduleSpec{Template: "report"})
	}
	y.advance(time.Second)
	y.declareTemplate("report", rota.TemplateSpec{Description: "other"})
	modified := y.audit(rota.AuditQuery{Since: y.now, Acts: []string{rota.AuditScheduleModified}})
	want(y, "entries", len(modified), rota.TemplateModifiedMax)
	want(y, "detail", strings.Contains(y.audit(rota.AuditQuery{Subject: "template report"})[0].Detail, "more than 100 schedules use it"), true)
}

func auditDependents(y *story) {
	y.declareExtractLoad()
	y.advance(time.Second)
	y.deleteSchedule("extract")
	y.wantChanges("schedule load", rota.AuditScheduleModified, `{"depends_on":{"old":["extract"],"new":null}}`)
}
