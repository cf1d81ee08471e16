package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testWebhooks(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"webhooks are kept as they were put, and a new store has none", webhooksPut},
		{"a put of webhooks with an old version is a conflict", webhooksVersion},
		{"a put of the same webhooks changes nothing", webhooksUnchanged},
		{"a put replaces all webhooks, also with an empty list", webhooksReplaced},
		{"a put of webhooks is audited without secrets", webhooksAudit},
		{"later changes of an answer do not change the stored webhooks", webhooksCopies},
		{"webhooks of a template are kept with it", webhooksOfTemplate},
	})
}

// hook returns a webhook for some events, or for all.
func hook(name string, events ...rota.EventKind) rota.Webhook {
	return rota.Webhook{URL: "https://" + name + ".example/hook", Secret: "the secret of " + name, Events: events}
}

func (y *story) webhooksCommand(hooks ...rota.Webhook) *rota.PutWebhooks {
	return &rota.PutWebhooks{Meta: y.ids.meta(), Spec: hooks}
}

func (y *story) putWebhooks(hooks ...rota.Webhook) *rota.Webhooks {
	y.Helper()
	return do[*rota.WebhooksPut](y, y.webhooksCommand(hooks...)).Webhooks
}

func (y *story) webhooks() *rota.Webhooks {
	y.Helper()
	hooks, err := y.s.Webhooks(y.ctx)
	return must(y, "webhooks", hooks, err)
}

func webhooksPut(y *story) {
	none := y.webhooks()
	want(y, "at first", len(none.Spec), 0)
	want(y, "version of none", none.Version, rota.ID{})
	spec := []rota.Webhook{hook("a"), hook("b", rota.EventJobDead, rota.EventScheduleMissed, rota.EventGroupFinished)}
	c := y.webhooksCommand(spec...)
	put := do[*rota.WebhooksPut](y, c)
	want(y, "changed", put.Changed, true)
	for _, got := range []*rota.Webhooks{put.Webhooks, y.webhooks()} {
		want(y, "spec", string(rota.EncodeSpec(got.Spec)), string(rota.EncodeSpec(spec)))
		want(y, "version", got.Version, c.ID)
		want(y, "by", got.UpdatedBy, "ada")
		wantTime(y, "at", got.UpdatedAt, y.now)
	}
}

func webhooksVersion(y *story) {
	put := func(version *rota.ID, name string) *rota.PutWebhooks {
		c := y.webhooksCommand(hook(name))
		c.Version = version
		return c
	}
	y.wantField(rota.Conflict, "version", put(new(y.ids.next()), "a"))
	first := do[*rota.WebhooksPut](y, put(&rota.ID{}, "a")).Webhooks
	y.wantField(rota.Conflict, "version", put(&rota.ID{}, "b"))
	want(y, "changed", do[*rota.WebhooksPut](y, put(&first.Version, "b")).Changed, true)
}

func webhooksUnchanged(y *story) {
	y.putWebhooks(hook("a"))
	y.advance(time.Second)
	before := y.dump()
	want(y, "changed", do[*rota.WebhooksPut](y, y.webhooksCommand(hook("a"))).Changed, false)
	again := hook("a")
	again.Events = []rota.EventKind{}
	want(y, "changed by an empty list of events", do[*rota.WebhooksPut](y, y.webhooksCommand(again)).Changed, false)
	y.wantUnchanged(before)
	other := hook("a")
	other.Secret = "another"
	want(y, "changed by another secret", do[*rota.WebhooksPut](y, y.webhooksCommand(other)).Changed, true)
}

func webhooksReplaced(y *story) {
	y.putWebhooks(hook("a"), hook("b"))
	y.putWebhooks(hook("c"))
	want(y, "address", y.webhooks().Spec[0].URL, hook("c").URL)
	last := y.putWebhooks()
	want(y, "left", len(y.webhooks().Spec), 0)
	want(y, "version", y.webhooks().Version, last.Version)
	y.enqueue(rota.NewJob{})
	want(y, "deliveries", len(y.deliveries()), 0)
	want(y, "changed by none", do[*rota.WebhooksPut](y, y.webhooksCommand()).Changed, false)
}

func webhooksAudit(y *story) {
	c := y.webhooksCommand(hook("a"))
	do[*rota.WebhooksPut](y, c)
	y.wantAuditSince(nil, y.auditEntry(c, rota.AuditWebhooksModified, "webhooks", ""))
	y.declareTemplate("letter", rota.TemplateSpec{Webhooks: []rota.Webhook{hook("t")}})
	entries, err := wholeAudit(y.ctx, y.s)
	for _, e := range must(y, "audit", entries, err) {
		want(y, "a secret in "+e.Act, strings.Contains(e.Subject+e.Detail+string(e.Changes), "the secret of"), false)
	}
}

func webhooksCopies(y *story) {
	spec := []rota.Webhook{hook("a", rota.EventJobFailed)}
	answered := y.putWebhooks(spec...)
	spec[0].URL, spec[0].Events[0] = "http://changed/", rota.EventJobDead
	answered.Spec[0].URL, answered.Spec[0].Events[0] = "http://changed/", rota.EventJobDead
	read := y.webhooks()
	read.Spec[0].URL, read.Spec[0].Events[0] = "http://changed/", rota.EventJobDead
	want(y, "stored", string(rota.EncodeSpec(y.webhooks().Spec)), string(rota.EncodeSpec([]rota.Webhook{hook("a", rota.EventJobFailed)})))
	y.failPermanently(y.running(rota.NewJob{}))
	y.wantDeliveries("a job.failed")
}

func webhooksOfTemplate(y *story) {
	spec := rota.TemplateSpec{Type: "mail", Webhooks: []rota.Webhook{hook("t", rota.EventJobDead)}}
	y.declareTemplate("letter", spec)
	read, err := y.s.Template(y.ctx, "letter")
	want(y, "spec", string(rota.EncodeSpec(must(y, "template", read, err).Spec)), string(rota.EncodeSpec(spec)))
	again := do[*rota.TemplatePut](y, y.templateCommand("letter", spec))
	want(y, "changed by an equal declaration", again.Changed, false)
	spec.Webhooks = nil
	want(y, "changed", do[*rota.TemplatePut](y, y.templateCommand("letter", spec)).Changed, true)
}
