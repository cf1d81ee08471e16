package storetest

import (
	"context"

	"github.com/rotajobs/rota"
)

// Secrets have few names and keys, so that commands collide.

func sealedBy(key string, text string) string { return rota.FormatSealed(key, []byte(text)) }

// Fingerprints of two keys.
const (
	keyOne = "0123456789abcdef"
	keyTwo = "fedcba9876543210"
)

// secretKey is usually the primary key of the model.
func (g *gen) secretKey() string {
	state, _ := g.model.SecretState(context.Background())
	if state.Primary != "" && !g.rarely(4, "other secret key") {
		return state.Primary
	}
	return choose(g, "secret key", keyOne, keyTwo)
}

func (g *gen) secretName() rota.SecretName {
	return rota.SecretName{Template: choose(g, "secret template", "t", "u", "x"), Key: choose(g, "secret name", "A", "B_2")}
}

func (g *gen) putSecret() rota.Command {
	n := g.secretName()
	return &rota.PutSecret{Meta: g.meta(), Template: n.Template, Key: n.Key, Sealed: sealedBy(g.secretKey(), choose(g, "sealed", "one", "two"))}
}

func (g *gen) deleteSecret() rota.Command {
	n := g.secretName()
	return &rota.DeleteSecret{Meta: g.meta(), Template: n.Template, Key: n.Key}
}

// webhookSecret is plain or sealed.
func (g *gen) webhookSecret() string {
	if g.rarely(2, "sealed webhook") {
		return sealedBy(g.secretKey(), choose(g, "sealed secret of a webhook", "s", "z"))
	}
	return choose(g, "secret", "s", "z")
}

// rewrapWebhooks seals the secrets of webhooks again.
func (g *gen) rewrapWebhooks(c *rota.RewrapSecrets) {
	add := func(template string, hooks []rota.Webhook) {
		for _, h := range hooks {
			it := rota.RewrappedWebhook{Template: template, URL: h.URL, Was: h.Secret, Sealed: sealedBy(g.secretKey(), "again")}
			if g.rarely(6, "stale secret of a webhook") {
				it.Was = "stale"
			}
			c.Webhooks = append(c.Webhooks, it)
		}
	}
	all, _ := g.model.Webhooks(context.Background())
	add("", all.Spec)
	templates, _ := g.model.Templates(context.Background(), rota.NameQuery{})
	for _, t := range templates {
		add(t.Name, t.Spec.Webhooks)
	}
}

func (g *gen) rewrapSecrets() rota.Command {
	c := &rota.RewrapSecrets{Meta: g.meta()}
	all, _ := g.model.Secrets(context.Background(), rota.SecretQuery{})
	for _, s := range all {
		it := rota.RewrappedSecret{Template: s.Template, Key: s.Key, Version: s.Version, Was: s.Fingerprint(), Sealed: sealedBy(g.secretKey(), "again")}
		if g.rarely(6, "stale secret") {
			it.Version = g.ids.next()
		}
		c.Items = append(c.Items, it)
	}
	if g.rarely(2, "webhooks") {
		g.rewrapWebhooks(c)
	}
	if len(c.Items)+len(c.Webhooks) == 0 {
		n := g.secretName()
		c.Items = append(c.Items, rota.RewrappedSecret{Template: n.Template, Key: n.Key, Version: g.ids.next(), Was: keyOne, Sealed: sealedBy(keyTwo, "x")})
	}
	return c
}

func (g *gen) promoteSecretKey() rota.Command {
	if g.rarely(2, "promote back") {
		return &rota.PromoteSecretKey{Meta: g.meta(), From: keyTwo, To: keyOne}
	}
	return &rota.PromoteSecretKey{Meta: g.meta(), From: keyOne, To: keyTwo}
}
