package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testTypes(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a declared type is kept as it was declared", typeDeclared},
		{"a type declared again without a change is not changed", typeAgain},
		{"a change of a type keeps its creator and creation time", typeChanged},
		{"a mode or version that does not match is refused", typeModes},
		{"the policy of a request overrides template, type and default", policyOfRequest},
		{"the policy of a schedule overrides template and type", policyOfSchedule},
		{"a type declared later does not change queued jobs", policyLater},
		{"a paused type accepts jobs and starts none", pausedWaits},
		{"running jobs of a paused type continue and are retried", pausedRuns},
		{"a paused type stays paused when it is changed", pausedKept},
		{"a pause is audited once", pausedAudit},
		{"types are listed by name, page by page", typesListed},
	})
}

var typeSpec = rota.TypeSpec{
	Description: "sends mail", Schema: json.RawMessage(`{"type":"object"}`),
	Policy: rota.PolicyPatch{MaxRetries: new(7), Jitter: new(0.25)},
}

func typeDeclared(y *story) {
	y.wantNotFound("type", errOf(y.s.Type(y.ctx, "mail")))
	c := y.typeCommand("mail", typeSpec)
	got := do[*rota.TypePut](y, c)
	want(y, "changed", got.Changed, true)
	row := y.typeRow("mail")
	for _, t := range []*rota.Type{got.Type, row} {
		want(y, "name", t.Name, "mail")
		want(y, "spec", string(rota.EncodeSpec(t.Spec)), string(rota.EncodeSpec(typeSpec)))
		want(y, "paused", t.Paused, false)
		want(y, "version", t.Version, c.ID)
		want(y, "created by", t.CreatedBy, "ada")
		wantTime(y, "created at", t.CreatedAt, y.now)
		wantTime(y, "updated at", t.UpdatedAt, y.now)
	}
	y.wantAuditSince(nil, y.auditEntry(c, rota.AuditTypeCreated, "type mail", ""))
}

// errOf returns the error of a read.
func errOf[T any](_ T, err error) error { return err }

func typeAgain(y *story) {
	y.declareType("mail", typeSpec)
	y.advance(time.Second)
	before := y.dump()
	spaced := typeSpec
	spaced.Schema = json.RawMessage(` { "type" : "object" } `)
	want(y, "changed", do[*rota.TypePut](y, y.typeCommand("mail", spaced)).Changed, false)
	y.wantUnchanged(before)
}

func typeChanged(y *story) {
	old := y.declareType("mail", typeSpec)
	y.advance(time.Second)
	c := y.typeCommand("mail", rota.TypeSpec{Description: "other"})
	c.Actor, c.Version = "bob", &old.Version
	written := y.writtenAudit()
	row := do[*rota.TypePut](y, c).Type
	want(y, "description", row.Spec.Description, "other")
	want(y, "retries", row.Spec.Policy.MaxRetries, nil)
	want(y, "version", row.Version, c.ID)
	want(y, "created by", row.CreatedBy, "ada")
	wantTime(y, "created at", row.CreatedAt, startTime)
	wantTime(y, "updated at", row.UpdatedAt, y.now)
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditTypeModified, "type mail", ""))
}

func typeModes(y *story) {
	put := func(name string, mode rota.PutMode, version *rota.ID) *rota.PutType {
		c := y.typeCommand(name, typeSpec)
		c.Mode, c.Version = mode, version
		return c
	}
	y.wantField(rota.NotFound, "name", put("mail", rota.PutReplace, nil))
	y.wantField(rota.NotFound, "name", put("mail", rota.PutAny, new(y.ids.next())))
	row := do[*rota.TypePut](y, put("mail", rota.PutCreate, nil)).Type
	y.wantField(rota.Conflict, "name", put("mail", rota.PutCreate, nil))
	y.wantField(rota.Conflict, "version", put("mail", rota.PutReplace, new(y.ids.next())))
	want(y, "changed by an equal declaration", do[*rota.TypePut](y, put("mail", rota.PutReplace, &row.Version)).Changed, false)
}

func policyOfRequest(y *story) {
	second, minute, hour := time.Second, time.Minute, time.Hour
	y.declareType("mail", rota.TypeSpec{Policy: rota.PolicyPatch{MaxRetries: new(1), Backoff: &second, BackoffMax: &second}})
	y.declareTemplate("letter", rota.TemplateSpec{Policy: rota.PolicyPatch{MaxRetries: new(2), Backoff: &minute}})
	j := y.enqueue(rota.NewJob{Template: "letter", MaxRetries: new(5)})
	want(y, "policy", j.Policy, rota.Policy{MaxAttempts: 6, Backoff: minute, BackoffMax: second, Timeout: rota.DefaultTimeout})
	j = y.enqueue(rota.NewJob{Timeout: &hour, Jitter: new(1.0)})
	want(y, "policy without a template", j.Policy, rota.Policy{MaxAttempts: 2, Backoff: second, BackoffMax: second, Jitter: 1, Timeout: hour})
	j = y.enqueue(rota.NewJob{Type: "undeclared"})
	want(y, "policy of an undeclared type", j.Policy, rota.PolicyPatch{}.Policy())
}

func policyOfSchedule(y *story) {
	second, minute := time.Second, time.Minute
	y.declareType("mail", rota.TypeSpec{Policy: rota.PolicyPatch{MaxRetries: new(1), Backoff: &second, BackoffMax: &second}})
	y.declareTemplate("report", rota.TemplateSpec{Policy: rota.PolicyPatch{MaxRetries: new(2), Backoff: &minute}})
	y.declare("nightly", rota.ScheduleSpec{Policy: rota.PolicyPatch{MaxRetries: new(9)}})
	expected := rota.Policy{MaxAttempts: 10, Backoff: minute, BackoffMax: second, Timeout: rota.DefaultTimeout}
	want(y, "policy when fired", y.fireNext("nightly").Policy, expected)
	want(y, "policy when triggered", y.trigger("nightly").Policy, expected)
	y.advance(time.Hour)
	want(y, "policy when backfilled", y.backfill("nightly", y.now, y.now).Jobs[0].Policy, expected)
}

func policyLater(y *story) {
	j := y.enqueue(rota.NewJob{})
	y.declareType("mail", typeSpec)
	want(y, "attempts of the old one", y.job(j.ID).Policy.MaxAttempts, rota.DefaultMaxRetries+1)
	want(y, "attempts of a new one", y.enqueue(rota.NewJob{}).Policy.MaxAttempts, 8)
	y.declareType("mail", rota.TypeSpec{})
	want(y, "attempts of its retry", y.job(y.fail(y.claim(2)[1]).RetryID).Policy.MaxAttempts, 8)
}

func pausedWaits(y *story) {
	y.declareType("mail", typeSpec)
	waits := y.enqueue(rota.NewJob{Priority: new(9)})
	want(y, "changed", y.pause("mail", true).Changed, true)
	late := y.enqueue(rota.NewJob{})
	other := y.enqueue(rota.NewJob{Type: "other"})
	wantIDs(y, "claimed past it", idsOf(y.claim(5, "mail", "other")), other)
	wantIDs(y, "the queue", y.queue(), waits, late)
	y.pause("mail", false)
	wantIDs(y, "claimed afterwards", idsOf(y.claim(5, "mail", "other")), waits, late)
}

func pausedRuns(y *story) {
	y.declareType("mail", typeSpec)
	done, fails := y.running(rota.NewJob{}), y.running(rota.NewJob{Backoff: new(time.Duration(0))})
	y.pause("mail", true)
	want(y, "heartbeat", y.heartbeat(done).Code, "")
	want(y, "outcome", y.complete(done).Outcome, rota.OutcomeCompleted)
	want(y, "sequel", y.fail(fails).Sequel, rota.SequelRetry)
	want(y, "claimed", len(y.claim(5)), 0)
	y.pause("mail", false)
	want(y, "attempt", y.claimOne().Attempt, 2)
}

func pausedKept(y *story) {
	y.declareType("mail", typeSpec)
	y.pause("mail", true)
	want(y, "paused", y.declareType("mail", rota.TypeSpec{}).Paused, true)
}

func pausedAudit(y *story) {
	y.wantField(rota.NotFound, "name", &rota.SwitchType{Meta: y.ids.meta(), Name: "mail", Paused: true})
	y.declareType("mail", typeSpec)
	y.advance(time.Second)
	written := y.writtenAudit()
	pause := &rota.SwitchType{Meta: y.ids.meta(), Name: "mail", Paused: true}
	row := do[*rota.TypePut](y, pause).Type
	want(y, "paused", row.Paused, true)
	want(y, "version", row.Version, pause.ID)
	wantTime(y, "updated at", row.UpdatedAt, y.now)
	before := y.dump()
	want(y, "changed by a second", y.pause("mail", true).Changed, false)
	y.wantUnchanged(before)
	resume := &rota.SwitchType{Meta: y.ids.meta(), Name: "mail"}
	want(y, "paused", do[*rota.TypePut](y, resume).Type.Paused, false)
	y.wantAuditSince(written, y.auditEntry(pause, rota.AuditTypePaused, "type mail", ""), y.auditEntry(resume, rota.AuditTypeResumed, "type mail", ""))
}

func typesListed(y *story) {
	for _, name := range []string{"c", "a", "d", "b"} {
		y.declareType(name, rota.TypeSpec{})
	}
	list := func(q rota.NameQuery) string {
		types, err := y.s.Types(y.ctx, q)
		return joinNames(must(y, "types", types, err), func(t *rota.Type) string { return t.Name })
	}
	want(y, "all", list(rota.NameQuery{}), "a b c d")
	want(y, "the first page", list(rota.NameQuery{Limit: 3}), "a b c")
	want(y, "the second page", list(rota.NameQuery{Limit: 3, After: "c"}), "d")
	want(y, "after the last", list(rota.NameQuery{After: "d"}), "none")
	want(y, "too many", rota.CodeOf(errOf(y.s.Types(y.ctx, rota.NameQuery{Limit: rota.PageMax + 1}))), rota.Invalid)
}
