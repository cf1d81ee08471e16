package storetest

import "github.com/rotajobs/rota"

func sealedHook(url, key, text string) rota.Webhook {
	return rota.Webhook{URL: url, Secret: sealedBy(key, text)}
}

func (y *story) hooksCommand(hooks ...rota.Webhook) *rota.PutWebhooks {
	return &rota.PutWebhooks{Meta: y.ids.meta(), Spec: hooks}
}

// webhookKeys: sealed secrets of webhooks count as secrets of the store, in the global list and in templates.
func webhookKeys(y *story) {
	const url = "https://example.org/hook"
	do[*rota.WebhooksPut](y, y.hooksCommand(rota.Webhook{URL: url, Secret: "plain"}))
	want(y, "state with a plain secret", y.secretState(), " []")
	do[*rota.WebhooksPut](y, y.hooksCommand(sealedHook(url, keyOne, "a")))
	want(y, "state with a sealed secret", y.secretState(), keyOne+" ["+keyOne+"]")
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.wantField(rota.Conflict, "sealed", &rota.PutSecret{Meta: y.ids.meta(), Template: "backup", Key: "A", Sealed: sealedBy(keyTwo, "a")})
	y.wantField(rota.Conflict, "webhooks[0].secret", y.hooksCommand(sealedHook(url, keyTwo, "a")))
	do[*rota.WebhooksPut](y, y.hooksCommand())
	y.wantField(rota.Conflict, "webhooks[1].secret", y.hooksCommand(sealedHook(url, keyTwo, "a"), sealedHook(url+"/2", keyOne, "a")))
	want(y, "state after a list with two keys", y.secretState(), keyOne+" []")
	// No value is sealed any more, so another key is accepted.
	y.declareTemplate("mail", rota.TemplateSpec{Webhooks: []rota.Webhook{sealedHook(url, keyTwo, "b")}})
	want(y, "state with another key", y.secretState(), keyTwo+" ["+keyTwo+"]")
	y.wantField(rota.Conflict, "sealed", &rota.PutSecret{Meta: y.ids.meta(), Template: "backup", Key: "A", Sealed: sealedBy(keyOne, "a")})
}

// webhooksRewrapped: the secrets of webhooks are sealed again, unless they were set meanwhile, and no version changes.
func webhooksRewrapped(y *story) {
	const url = "https://example.org/hook"
	put := do[*rota.WebhooksPut](y, y.hooksCommand(rota.Webhook{URL: url, Secret: "plain"}))
	template := y.declareTemplate("mail", rota.TemplateSpec{Webhooks: []rota.Webhook{sealedHook(url, keyOne, "a")}})
	done := do[*rota.SecretKeyPromoted](y, y.promoteCommand())
	want(y, "promoted", done.Changed, true)
	c := &rota.RewrapSecrets{Meta: y.ids.meta(), Webhooks: []rota.RewrappedWebhook{
		{URL: url, Was: "plain", Sealed: sealedBy(keyTwo, "p")},
		{Template: "mail", URL: url, Was: sealedBy(keyOne, "a"), Sealed: sealedBy(keyTwo, "a")},
		{Template: "mail", URL: url, Was: sealedBy(keyOne, "earlier"), Sealed: sealedBy(keyTwo, "earlier")},
		{Template: "none", URL: url, Was: "x", Sealed: sealedBy(keyTwo, "x")},
		{Template: "mail", URL: url, Was: sealedBy(keyTwo, "a"), Sealed: sealedBy(keyOne, "a")}, // not the primary key
	}}
	want(y, "sealed again", do[*rota.SecretsRewrapped](y, c).Rewrapped, 2)
	want(y, "state", y.secretState(), keyTwo+" ["+keyTwo+"]")
	hooks, err := y.s.Webhooks(y.ctx)
	want(y, "global secret", must(y, "webhooks", hooks, err).Spec[0].Secret, sealedBy(keyTwo, "p"))
	want(y, "version of the list", hooks.Version, put.Webhooks.Version)
	t, err := y.s.Template(y.ctx, "mail")
	want(y, "secret of the template", must(y, "template", t, err).Spec.Webhooks[0].Secret, sealedBy(keyTwo, "a"))
	want(y, "version of the template", t.Version, template.Version)
}
