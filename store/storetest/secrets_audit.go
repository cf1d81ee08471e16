package storetest

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

func secretsAudited(y *story) {
	y.declareTemplate("team/backup", rota.TemplateSpec{})
	steps := []struct {
		command rota.Command
		act     string
		detail  string
	}{
		{y.secretCommand("team/backup", "A", "the value"), rota.AuditSecretSet, "secret set"},
		{&rota.DeleteSecret{Meta: y.ids.meta(), Template: "team/backup", Key: "A"}, rota.AuditSecretDeleted, "secret deleted"},
	}
	for _, step := range steps {
		y.advance(time.Second)
		events := y.eventsDuring(func() {
			if r := y.send(step.command)[0]; r.Err != nil {
				y.Fatal(r.Err)
			}
		})
		want(y, "events", len(events), 1)
		want(y, "event", events[0], rota.Event{Kind: rota.EventTemplateChanged, At: y.now, Name: "team/backup", Template: "team/backup", Detail: step.detail})
		y.wantChanges("secret team/backup/A", step.act, "")
	}
	y.putSecret("team/backup", "A")
	y.wantEvents(func() { do[*rota.SecretKeyPromoted](y, y.promoteCommand()) },
		rota.Event{Kind: rota.EventAccessChanged, At: y.now, Detail: "secret key rotated"})
	want(y, "detail", y.audit(rota.AuditQuery{Subject: "secrets"})[0].Detail, "from key "+keyOne+" to key "+keyTwo)
	entries := len(y.wholeAudit())
	y.wantEvents(func() { do[*rota.SecretsRewrapped](y, y.rewrapCommand("again")) })
	want(y, "entries of a new ciphertext", len(y.wholeAudit())-entries, 0)
	y.wantNothingShown("the value", "again")
}

// secretsAuditedWithTemplate drops and recreates definitions that have secrets.
func secretsAuditedWithTemplate(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.putWebhooks(hook("changes", rota.EventTemplateChanged))
	do[*rota.SecretPut](y, y.secretCommand("nightly", "B", "the value"))
	do[*rota.SecretPut](y, y.secretCommand("nightly", "A", "the value"))
	do[*rota.SecretPut](y, y.secretCommand("backup", "A", "the value"))
	y.advance(time.Second)
	drop, recreate := y.dropCommand("nightly"), y.recreateTemplateCommand("backup", rota.TemplateSpec{Description: "again"})
	drop.Actor, recreate.Actor = "ada", "bob"
	y.wantChangeEvents(func() { y.send(drop) },
		"template.changed nightly: secret deleted", "template.changed nightly: secret deleted", "template.changed nightly: archived", "schedule.deleted nightly: ")
	y.wantChangeEvents(func() { y.send(recreate) }, "template.changed backup: secret deleted", "template.changed backup: created")
	for subject, want := range map[string]string{
		"secret nightly/A": "ada with its template", "secret nightly/B": "ada with its template", "secret backup/A": "bob its template was recreated",
	} {
		e := y.audit(rota.AuditQuery{Subject: subject, Acts: []string{rota.AuditSecretDeleted}})
		if len(e) != 1 || e[0].Actor+" "+e[0].Detail != want || !e[0].At.Equal(y.now) || len(e[0].Changes) != 0 {
			y.Errorf("the entries of the removed %s are %+v, want %s", subject, e, want)
		}
	}
	entries := len(y.wholeAudit())
	y.wantEvents(func() { y.send(drop, recreate) })
	want(y, "entries of commands that are sent again", len(y.wholeAudit())-entries, 0)
	y.wantNothingShown("the value")
}

// wholeAudit returns every entry of the audit.
func (y *story) wholeAudit() []rota.AuditEntry {
	y.Helper()
	entries, err := wholeAudit(y.ctx, y.s)
	return must(y, "audit", entries, err)
}

// wantNothingShown wants no ciphertext in the audit and in deliveries, and not that of these values.
func (y *story) wantNothingShown(values ...string) {
	y.Helper()
	shown := func(what, text string) {
		y.Helper()
		want(y, "a ciphertext in "+what, strings.Contains(text, "sealed:"), false)
		for _, value := range values {
			want(y, "a value in "+what, strings.Contains(text, base64.RawURLEncoding.EncodeToString([]byte(value))), false)
		}
	}
	for _, e := range y.wholeAudit() {
		shown(e.Act, fmt.Sprintf("%+v %s", e, e.Changes))
	}
	for _, j := range y.deliveries() {
		shown("a delivery", string(j.Params))
	}
}
