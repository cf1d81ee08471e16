package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testAudit(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"the end of each run is an entry with its outcome", auditEnds},
		{"a timed-out run is JOB_FAILED", auditTimeout},
		{"a job that a caller enqueued is JOB_CREATED, a retry or a fire is not", auditCreations},
		{"a job without an actor has no creation", auditNoActor},
		{"a cancelled job has one JOB_CANCELLED, of the actor that requested it", auditCancels},
		{"a run that was asked to stop shows who asked, why, and how it ended", auditStops},
		{"a redrive with changed params shows old and new", auditRedrives},
		{"acts of Rota have the actor rota", auditOwnActs},
		{"durations are shown as text", auditDurations},
		{"a run that completed although it was asked to stop shows no reason of the request", auditCompletedAnyway},
		{"jobs of internal types have no entries", auditInternal},
		{"a changed schedule shows old and new", auditScheduleChanges},
		{"a created and a deleted schedule show what they were", auditCreatedDeleted},
		{"each change of state shows old and new", auditStates},
		{"changed limits and types show old and new", auditLimitsAndTypes},
		{"an edited or moved job shows old and new", auditJobChanges},
		{"secrets are left out of changes", auditSecrets},
		{"secrets are left out of errors and reasons", auditSecretDetails},
		{"the entry of a created job has its type and template", auditCreated},
		{"a long value is cut", auditLong},
		{"a changed template modifies each schedule that uses it", auditTemplateUsers},
		{"the entries of a schedule show the definition of its template", auditTemplateOfSchedule},
		{"of many schedules of a template the first have entries", auditManyUsers},
		{"a removed schedule modifies the schedules that depend on it", auditDependents},
		{"pruning changes nothing that a reader sees", auditPruned},
		{"a drop changes no earlier entry", auditDropped},
		{"an execution that is pruned twice leaves its entries once", auditPrunedTwice},
		{"an enqueue sent again after its job was pruned keeps the acts of both jobs", auditCreatedAgain},
		{"pages of any size list the same entries", auditPaging},
		{"a query selects by time, actor, act and subject", auditFilters},
		{"a filter reads a bounded part of a long history", auditBounded},
		{"an invalid query is refused", auditInvalid},
		{"entries past the retention are removed, oldest first", auditRetention},
		{"the retention applies to entries that the same command writes", auditRetentionAtOnce},
	})
}

// audit returns the entries that a query selects, newest first.
func (y *story) audit(q rota.AuditQuery) []rota.AuditEntry {
	y.Helper()
	all, err := auditPages(y.ctx, y.s, q)
	for _, e := range must(y, "audit", all, err) {
		if e.Actor == "" || e.Outcome == "" {
			y.Errorf("an entry has no actor or no outcome: %s", auditText(&e))
		}
	}
	return all
}

// acts returns the acts of entries, newest first, with their outcomes except OK.
func acts(entries []rota.AuditEntry) string {
	return joinNames(entries, func(e rota.AuditEntry) string { return strings.TrimSuffix(e.Act+":"+e.Outcome, ":"+rota.AuditOK) })
}

// actsOf returns the acts about a job, newest first.
func (y *story) actsOf(j *rota.Job) string {
	y.Helper()
	return acts(y.audit(rota.AuditQuery{Subject: rota.JobSubject(j.ID)}))
}

// auditTexts returns everything that a reader sees.
func (y *story) auditTexts() (lines []string) {
	y.Helper()
	for _, e := range y.audit(rota.AuditQuery{}) {
		lines = append(lines, auditText(&e))
	}
	return lines
}

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

func auditEnds(y *story) {
	once := rota.NewJob{MaxRetries: new(0)}
	for _, end := range []struct {
		it   rota.FinishItem
		acts string
	}{
		{rota.FinishItem{Outcome: rota.OutcomeCompleted}, "JOB_EXECUTED:COMPLETED JOB_CREATED"},
		{rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "disk full"}, "JOB_FAILED:FAILED JOB_CREATED"},
		{rota.FinishItem{Outcome: rota.OutcomeSkipped}, "JOB_EXECUTED:SKIPPED JOB_CREATED"},
		{rota.FinishItem{Outcome: rota.OutcomeCancelled}, "JOB_CANCELLED:CANCELLED JOB_CREATED"},
	} {
		j := y.running(once)
		y.advance(time.Second)
		y.mustFinish(j, end.it)
		want(y, "acts", y.actsOf(j), end.acts)
		e := y.audit(rota.AuditQuery{Subject: rota.JobSubject(j.ID), Limit: 1})[0]
		run := y.job(j.ID).Run
		wantTime(y, "at", e.At, y.now)
		want(y, "actor", e.Actor, "ada")
		want(y, "job", e.JobID, j.ID)
		want(y, "execution", e.ExecutionID, j.ID)
		want(y, "run", e.RunID, run.ID)
		want(y, "detail", e.Detail, run.Error)
	}
}

func auditTimeout(y *story) {
	j := y.running(rota.NewJob{MaxRetries: new(0)})
	y.advance(time.Second)
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCancelled, ErrorCode: rota.CodeTimeout, Error: "too slow"})
	want(y, "acts", y.actsOf(j), "JOB_FAILED:FAILED JOB_CREATED")
	want(y, "failures", acts(y.audit(rota.AuditQuery{Acts: []string{rota.AuditJobFailed}})), "JOB_FAILED:FAILED")
	want(y, "cancellations", len(y.audit(rota.AuditQuery{Acts: []string{rota.AuditJobCancelled}})), 0)
}

func auditCompletedAnyway(y *story) {
	j := y.running(rota.NewJob{})
	c := y.cancelCommand(j.ID)
	c.Reason = "not needed"
	do[*rota.CancelledJob](y, c)
	y.advance(time.Second)
	y.complete(j)
	entries := y.audit(rota.AuditQuery{Subject: rota.JobSubject(j.ID)})
	want(y, "acts", acts(entries), "JOB_EXECUTED:COMPLETED JOB_STOPPING JOB_CREATED")
	want(y, "detail of the end", entries[0].Detail, "")
	want(y, "detail of the request", entries[1].Detail, "not needed")
}

func auditCreations(y *story) {
	first := y.running(rota.NewJob{Backoff: new(time.Duration(0))})
	want(y, "acts while it runs", y.actsOf(first), "JOB_CREATED")
	y.fail(first)
	second := y.claimOne()
	want(y, "acts of the retry", y.actsOf(second), "none")
	y.complete(second)
	want(y, "acts of the ended retry", y.actsOf(second), "JOB_EXECUTED:COMPLETED")
	y.declare("nightly", rota.ScheduleSpec{})
	fired := y.fireNext("nightly")
	want(y, "acts of a fire", y.actsOf(fired), "none")
	triggered := y.trigger("nightly")
	want(y, "acts of a trigger", y.actsOf(triggered), "none")
	want(y, "acts of the schedule", acts(y.audit(rota.AuditQuery{Schedule: "nightly"})), "JOB_TRIGGERED JOB_CREATED")
}

func auditSecretDetails(y *story) {
	failed := y.running(rota.NewJob{MaxRetries: new(0)})
	y.mustFinish(failed, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "dial postgres://app:HUSH@db: refused"})
	cancelled := y.enqueue(rota.NewJob{})
	c := y.cancelCommand(cancelled.ID)
	c.Reason = "leaked token=HUSH"
	do[*rota.CancelledJob](y, c)
	y.advance(time.Hour)
	before := y.auditTexts()
	y.prune(failed.ID, cancelled.ID)
	want(y, "the audit after the prune", strings.Join(y.auditTexts(), "\n"), strings.Join(before, "\n"))
	for j, detail := range map[*rota.Job]string{failed: "dial postgres://app:[hidden]@db: refused", cancelled: "leaked token=[hidden]"} {
		want(y, "detail", y.audit(rota.AuditQuery{Subject: rota.JobSubject(j.ID), Limit: 1})[0].Detail, detail)
	}
}

func auditCreated(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	plain, made := y.running(rota.NewJob{Type: "mail"}), y.running(rota.NewJob{Template: "report"})
	for j, changes := range map[*rota.Job]string{
		plain: `{"type":{"old":null,"new":"mail"}}`,
		made:  `{"template":{"old":null,"new":"report"},"type":{"old":null,"new":"mail"}}`,
	} {
		q := rota.AuditQuery{Subject: rota.JobSubject(j.ID), Acts: []string{rota.AuditJobCreated}}
		want(y, "changes", string(y.audit(q)[0].Changes), changes)
		y.complete(j)
		y.advance(time.Hour)
		y.prune(j.ID)
		want(y, "changes after the prune", string(y.audit(q)[0].Changes), changes)
	}
}

func auditNoActor(y *story) {
	c := y.enqueueCommand(rota.NewJob{Type: "mail"})
	c.Actor = ""
	j := do[*rota.Enqueued](y, c).Jobs[0].Job
	want(y, "acts", y.actsOf(j), "none")
	y.complete(y.claimOne())
	want(y, "acts of its end", y.actsOf(j), "JOB_EXECUTED:COMPLETED")
}

func auditCancels(y *story) {
	queued := y.enqueue(rota.NewJob{})
	y.advance(time.Second)
	c := y.cancelCommand(queued.ID)
	c.Actor = "eve"
	do[*rota.CancelledJob](y, c)
	want(y, "acts of a queued job", y.actsOf(queued), "JOB_CANCELLED:CANCELLED JOB_CREATED")
	running := y.running(rota.NewJob{})
	y.advance(time.Second)
	c = y.cancelCommand(running.ID)
	c.Actor = "eve"
	do[*rota.CancelledJob](y, c)
	want(y, "acts of a running job", y.actsOf(running), "JOB_STOPPING JOB_CREATED")
	y.advance(time.Second)
	y.mustFinish(running, rota.FinishItem{Outcome: rota.OutcomeCancelled})
	want(y, "acts after its end", y.actsOf(running), "JOB_CANCELLED:CANCELLED JOB_STOPPING JOB_CREATED")
	for _, e := range y.audit(rota.AuditQuery{Acts: []string{rota.AuditJobCancelled}}) {
		want(y, "actor", e.Actor, "eve")
	}
	group, members := y.groupOfThree(rota.GroupParallel, "")
	y.cancelGroup(group)
	for _, j := range members {
		want(y, "acts of a member", y.actsOf(j), "JOB_CANCELLED:CANCELLED JOB_CREATED")
	}
}

// auditStops ends runs that were asked to stop, and prunes them.
func auditStops(y *story) {
	for _, one := range []struct{ reason, err, detail string }{
		{"not needed", "", "not needed"}, {"not needed", "interrupted", "not needed"}, {"", "interrupted", "interrupted"}, {"token=HUSH", "", "token=[hidden]"}, {"", "", ""},
	} {
		j := y.running(rota.NewJob{})
		y.advance(time.Second)
		c := y.cancelCommand(j.ID)
		c.Actor, c.Reason = "eve", one.reason
		do[*rota.CancelledJob](y, c)
		do[*rota.CancelledJob](y, y.cancelCommand(j.ID)) // a second request changes nothing
		y.advance(time.Second)
		y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCancelled, Error: one.err})
		run := y.job(j.ID).Run.ID
		for range 2 {
			entries := y.audit(rota.AuditQuery{Subject: rota.JobSubject(j.ID)})
			want(y, "acts", acts(entries), "JOB_CANCELLED:CANCELLED JOB_STOPPING JOB_CREATED")
			for _, e := range entries[:2] {
				want(y, "actor", e.Actor, "eve")
				want(y, "run", e.RunID, run)
			}
			want(y, "detail of the end", entries[0].Detail, one.detail)
			want(y, "outcome of the request", entries[1].Outcome, rota.AuditOK)
			y.advance(time.Second)
			y.prune(j.ID)
		}
	}
}

func auditRedrives(y *story) {
	for _, one := range []struct{ params, changes string }{
		{`{"to":"bob"}`, `{"params":{"old":{"copy":true,"to":"ada"},"new":{"copy":true,"to":"bob"}}}`},
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

func auditOwnActs(y *story) {
	c := y.enqueueCommand(rota.NewJob{Type: "mail"})
	c.Actor = ""
	own := do[*rota.Enqueued](y, c).Jobs[0].Job
	y.complete(y.claimOne())
	y.declare("once", rota.ScheduleSpec{At: y.now.Add(time.Hour), OnCompletion: rota.CompletionDrop})
	fired := y.fireNext("once")
	y.advance(time.Second)
	j := y.claimOne()
	finish := y.finishCommand(j, rota.OutcomeCompleted, false)
	finish.Actor = "a worker"
	do[*rota.Finished](y, finish)
	y.declare("often", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
	y.fireNext("often")
	running := y.claimOne()
	y.advanceTo(y.schedule("often").NextFire)
	fire := y.fireCommand("often")
	fire.Actor = ""
	do[*rota.Fired](y, fire)
	y.advance(time.Second)
	y.mustFinish(running, rota.FinishItem{Outcome: rota.OutcomeCancelled})
	for what, q := range map[string]rota.AuditQuery{
		"JOB_EXECUTED:COMPLETED":               {Subject: rota.JobSubject(own.ID)},
		"JOB_DELETED":                          {Subject: "schedule once", Acts: []string{rota.AuditScheduleDeleted}},
		"JOB_CANCELLED:CANCELLED JOB_STOPPING": {Subject: rota.JobSubject(running.ID)},
	} {
		q.Actor = rota.SystemActor
		want(y, "acts of Rota", acts(y.audit(q)), what)
	}
	want(y, "acts of the worker", acts(y.audit(rota.AuditQuery{Actor: "a worker"})), "none")
	want(y, "fired", fired.ID, j.ID)
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

func auditInternal(y *story) {
	_, own := y.jobWithDelivery()
	want(y, "acts", y.actsOf(own), "none")
	for _, e := range y.audit(rota.AuditQuery{}) {
		want(y, "an entry about the delivery", e.JobID == own.ID, false)
	}
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
	y.wantChanges(rota.JobSubject(j.ID), rota.AuditJobModified, `{"params":{"old":{"to":"ada"},"new":{"to":"bob"}}}`)
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

func auditPruned(y *story) {
	completed, skipped, cancelled, dead := y.endInEachWay()
	y.advance(time.Second)
	retried := y.running(rota.NewJob{Backoff: new(time.Duration(0))})
	y.fail(retried)
	y.complete(y.claimOne())
	y.declare("nightly", rota.ScheduleSpec{})
	fired := y.trigger("nightly")
	y.complete(y.claimOne())
	y.advance(time.Hour)
	before := y.auditTexts()
	want(y, "pruned", y.prune(completed.ID, skipped.ID, cancelled.ID, dead.ID, retried.ID, fired.ID).Executions, 6)
	want(y, "jobs left", len(y.allJobs()), 0)
	want(y, "the audit", strings.Join(y.auditTexts(), "\n"), strings.Join(before, "\n"))
	want(y, "acts of the retried execution", acts(y.audit(rota.AuditQuery{ExecutionID: retried.ID})), "JOB_EXECUTED:COMPLETED JOB_FAILED:FAILED JOB_CREATED")
	want(y, "acts of the job", y.actsOf(completed), "JOB_EXECUTED:COMPLETED JOB_CREATED")
	y.wantNoViolations()
}

func auditDropped(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	done := y.trigger("nightly")
	y.complete(y.claimOne())
	failed := y.trigger("nightly")
	y.failPermanently(y.claimOne())
	y.advance(time.Second)
	before := y.auditTexts()
	y.drop("nightly")
	hidden := y.auditTexts()
	want(y, "entries hidden by the drop", strings.Join(hidden[len(hidden)-len(before):], "\n"), strings.Join(before, "\n"))
	y.sweepAll(10)
	y.wantNotFound("the run", errOf(y.s.Execution(y.ctx, done.ID)))
	want(y, "the audit after the sweep", strings.Join(y.auditTexts(), "\n"), strings.Join(hidden, "\n"))
	want(y, "acts", y.actsOf(failed), "JOB_FAILED:FAILED")
	want(y, "newest act about the schedule", y.audit(rota.AuditQuery{Schedule: "nightly"})[0].Act, rota.AuditScheduleDeleted)
}

func auditPrunedTwice(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	c := &rota.Prune{Meta: y.ids.meta(), Executions: []rota.ID{j.ID}}
	do[*rota.Pruned](y, c)
	before := y.auditTexts()
	do[*rota.Pruned](y, c)
	want(y, "the audit", strings.Join(y.auditTexts(), "\n"), strings.Join(before, "\n"))
	want(y, "acts", y.actsOf(j), "JOB_EXECUTED:COMPLETED JOB_CREATED")
}

// auditPaging has many entries of one time from each source.
func auditPaging(y *story) {
	jobs := y.enqueueMany(9)
	y.throttle(rota.ThrottleSpec{Global: 100})
	for _, j := range y.claim(6) {
		y.complete(j)
	}
	y.declare("nightly", rota.ScheduleSpec{})
	y.prune(jobs[0].ID, jobs[3].ID)
	y.advance(time.Second)
	y.cancel(jobs[8].ID)
	for _, q := range []rota.AuditQuery{{}, {Actor: "ada"}, {Acts: []string{rota.AuditJobCreated}}, {Until: y.now}, {Since: y.now}} {
		q.Limit = 1000
		whole := y.audit(q)
		sorted := slices.IsSortedFunc(whole, func(a, b rota.AuditEntry) int { return b.Compare(&a) })
		want(y, "newest first", sorted, true)
		for _, q.Limit = range []int{1, 2, 3, 5, 17, 0} {
			got := y.audit(q)
			text := func(e rota.AuditEntry) string { return auditText(&e) }
			want(y, fmt.Sprintf("pages of %d", q.Limit), joinNames(got, text), joinNames(whole, text))
		}
	}
	want(y, "entries", len(y.audit(rota.AuditQuery{})), 9+6+1+2+1) // creations, ends, limits, template and schedule, cancellation
}

func auditFilters(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	first := y.now
	y.advance(time.Second)
	j := y.trigger("nightly")
	y.complete(y.claimOne())
	second := y.now
	y.advance(time.Second)
	c := y.enqueueCommand(rota.NewJob{Type: "mail"})
	c.Actor = "eve"
	own := do[*rota.Enqueued](y, c).Jobs[0].Job
	for _, one := range []struct {
		q    rota.AuditQuery
		acts string
	}{
		{rota.AuditQuery{Since: second}, "JOB_CREATED JOB_EXECUTED:COMPLETED JOB_TRIGGERED"},
		{rota.AuditQuery{Until: second}, "JOB_CREATED TEMPLATE_CREATED"},
		{rota.AuditQuery{Since: second, Until: second.Add(time.Microsecond), Acts: []string{rota.AuditJobFailed}}, "none"},
		{rota.AuditQuery{Actor: "eve"}, "JOB_CREATED"},
		{rota.AuditQuery{Actor: "bob"}, "none"},
		{rota.AuditQuery{Acts: []string{rota.AuditTemplateCreated}}, "TEMPLATE_CREATED"},
		{rota.AuditQuery{Subject: "schedule nightly", Until: second}, "JOB_CREATED"},
		{rota.AuditQuery{Subject: "job nightly"}, "none"},
		{rota.AuditQuery{Subject: rota.JobSubject(own.ID)}, "JOB_CREATED"},
		{rota.AuditQuery{Subject: rota.JobSubject(own.ID), Actor: "ada"}, "none"},
		{rota.AuditQuery{Schedule: "nightly", Until: second}, "JOB_CREATED"},
		{rota.AuditQuery{ExecutionID: j.ID}, "JOB_EXECUTED:COMPLETED"},
		{rota.AuditQuery{ExecutionID: own.ID, Acts: []string{rota.AuditJobCreated}}, "JOB_CREATED"},
		{rota.AuditQuery{ExecutionID: y.ids.next()}, "none"},
		{rota.AuditQuery{Until: first}, "none"},
	} {
		names := strings.Fields(acts(y.audit(one.q)))
		slices.Sort(names) // entries of one time are sorted by id, which this story does not choose
		wanted := strings.Fields(one.acts)
		slices.Sort(wanted)
		want(y, fmt.Sprintf("%+v", one.q), strings.Join(names, " "), strings.Join(wanted, " "))
	}
}

func auditBounded(y *story) {
	c := y.enqueueCommand(rota.NewJob{Type: "mail"})
	c.Actor = "eve"
	old := do[*rota.Enqueued](y, c).Jobs[0].Job
	y.advance(time.Second)
	y.enqueueMany(rota.PageMax + 200)
	found, pages := []rota.AuditEntry{}, 0
	for q := (rota.AuditQuery{Actor: "eve", Limit: 10}); ; pages++ {
		page, err := y.s.Audit(y.ctx, q)
		page = must(y, "audit", page, err)
		found = append(found, page.Entries...)
		if !page.More {
			break
		}
		q.Before = page.Next
	}
	if len(found) != 1 || found[0].JobID != old.ID || pages > 5 {
		y.Errorf("%d pages have %v", pages, found)
	}
}

func auditInvalid(y *story) {
	for field, q := range map[string]rota.AuditQuery{
		"act": {Acts: []string{"JOB_SWALLOWED"}}, "limit": {Limit: rota.PageMax + 1}, "schedule": {Schedule: "no name"},
		"actor": {Actor: strings.Repeat("x", rota.NameMax+1)}, "subject": {Subject: "\xff"},
	} {
		_, err := y.s.Audit(y.ctx, q)
		refusal := &rota.Error{}
		if !errors.As(err, &refusal) || refusal.Code != rota.Invalid || refusal.Field != field {
			y.Errorf("%s: %v", field, err)
		}
	}
}

func auditRetention(y *story) {
	for range 3 {
		y.throttle(rota.ThrottleSpec{Global: y.now.Second() + 1})
		y.advance(time.Second)
	}
	kept := y.enqueue(rota.NewJob{}) // its creation is derived, and stays as long as it
	all := y.writtenAudit()
	prune := func(before time.Time) *rota.Pruned {
		return do[*rota.Pruned](y, &rota.Prune{Meta: y.ids.meta(), Executions: []rota.ID{y.ids.next()}, AuditBefore: before})
	}
	want(y, "removed before the first", prune(all[0].At).Audit, 0)
	got := prune(all[2].At)
	want(y, "removed", got.Audit, 2)
	want(y, "more", got.MoreAudit, false)
	left := y.writtenAudit()
	want(y, "left", len(left), 1)
	want(y, "the newest", left[0].ID, all[2].ID)
	want(y, "creation", y.actsOf(kept), "JOB_CREATED")
	y.wantNoViolations()
}

func auditRetentionAtOnce(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	y.advance(time.Hour)
	got := do[*rota.Pruned](y, &rota.Prune{Meta: y.ids.meta(), Executions: []rota.ID{j.ID}, AuditBefore: y.now})
	want(y, "executions", got.Executions, 1)
	want(y, "entries", got.Audit, 2)
	want(y, "left", len(y.audit(rota.AuditQuery{})), 0)
}
