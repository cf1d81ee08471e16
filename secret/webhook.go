package secret

import (
	"context"
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
)

// The secret of a webhook is sealed where it stands: in the list of webhooks of a template, or in the global one. It is bound
// to the template and the address, so that it cannot be copied to another webhook.

const webhookKind = "rota webhook"

// OpenWebhook returns the secret that signs deliveries to a webhook. The template is empty for a global webhook. A secret that
// is not sealed is returned as it is: an earlier version has stored it, or a program without a master key.
func (v *Vault) OpenWebhook(template string, h *rota.Webhook) (string, error) {
	if !rota.IsSealed(h.Secret) {
		return h.Secret, nil
	}
	if v == nil {
		return "", noKeyring()
	}
	value, err := v.Keyring.open(h.Secret, associated(webhookKind, template, h.URL))
	return string(value), describe(err, "the secret of the webhook "+h.URL, "set it again: rota webhook add "+h.URL+" --secret SECRET")
}

func noKeyring() error {
	return &rota.Error{Code: rota.Unavailable, Act: "master key", Reason: "this process has no master key", Hint: "use a server that was started with rota serve"}
}

// MatchWebhooks returns webhooks with the stored ciphertext in place of a secret that did not change: sealed twice, a value
// has two ciphertexts, and the list would seem to change. It refuses ciphertexts of other webhooks. It creates no keyset.
func (v *Vault) MatchWebhooks(template string, given, stored []rota.Webhook) ([]rota.Webhook, error) {
	matched := slices.Clone(given)
	for i := range matched {
		h := &matched[i]
		at := slices.IndexFunc(stored, func(s rota.Webhook) bool { return s.URL == h.URL })
		if at >= 0 && stored[at].Secret == h.Secret {
			continue
		}
		if rota.IsSealed(h.Secret) {
			if _, err := v.OpenWebhook(template, h); err != nil {
				return nil, inField(foreign(err, "the secret of the webhook "+h.URL, h.Secret, "send the secret itself, or leave the webhook out"), i)
			}
			continue
		}
		if at < 0 || !rota.IsSealed(stored[at].Secret) {
			continue
		}
		if value, err := v.OpenWebhook(template, &stored[at]); err == nil && value == h.Secret {
			h.Secret = stored[at].Secret
		}
	}
	return matched, nil
}

// SealWebhooks returns webhooks with sealed secrets; stored are those that they replace. The first one creates the keyset.
// Without a vault the secrets stay as they are.
func (v *Vault) SealWebhooks(ctx context.Context, template string, given, stored []rota.Webhook) ([]rota.Webhook, error) {
	matched, err := v.MatchWebhooks(template, given, stored)
	if err != nil || v == nil {
		return matched, err
	}
	to := ""
	for i := range matched {
		h := &matched[i]
		kept := slices.ContainsFunc(stored, func(s rota.Webhook) bool { return s.URL == h.URL && s.Secret == h.Secret })
		if h.Secret == "" || kept && rota.IsSealed(h.Secret) {
			continue
		}
		if to == "" {
			if to, err = v.primary(ctx); err != nil {
				return nil, err
			}
		}
		if h.Fingerprint() == to {
			continue
		}
		if h.Secret, err = v.Keyring.rewrapWebhook(to, template, h); err != nil {
			return nil, inField(err, i)
		}
	}
	return matched, nil
}

// rewrapWebhook seals the secret of a webhook, sealed or not, with a key.
func (r *Keyring) rewrapWebhook(to, template string, h *rota.Webhook) (string, error) {
	value, err := (&Vault{Keyring: r}).OpenWebhook(template, h)
	if err != nil {
		return "", err
	}
	return r.seal(to, []byte(value), associated(webhookKind, template, h.URL))
}

// inField names the webhook whose secret is refused.
func inField(err error, i int) error {
	refusal, is := err.(*rota.Error)
	if !is {
		return err
	}
	named := *refusal
	named.Field = fmt.Sprintf("webhooks[%d].secret", i)
	return &named
}

// RewrapWebhooks seals the secrets of webhooks that another key seals, or none.
func (t *Rotation) RewrapWebhooks(ctx context.Context, to string) (count int, err error) {
	all, err := t.Store.Webhooks(ctx)
	if err != nil {
		return 0, err
	}
	c := &rota.RewrapSecrets{}
	add := func(template string, hooks []rota.Webhook) error {
		for i := range hooks {
			if hooks[i].Fingerprint() == to {
				continue
			}
			sealed, err := t.Keyring.rewrapWebhook(to, template, &hooks[i])
			if err != nil {
				return err
			}
			c.Webhooks = append(c.Webhooks, rota.RewrappedWebhook{Template: template, URL: hooks[i].URL, Was: hooks[i].Secret, Sealed: sealed})
			if len(c.Webhooks) < rota.RewrapMax {
				continue
			}
			if err := t.sendWebhooks(ctx, c, &count); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add("", all.Spec); err != nil {
		return count, err
	}
	for after := ""; ; {
		page, err := t.Store.Templates(ctx, rota.NameQuery{After: after, Limit: rota.PageMax})
		if err != nil {
			return count, err
		}
		for _, one := range page {
			after = one.Name
			if err := add(one.Name, one.Spec.Webhooks); err != nil {
				return count, err
			}
		}
		if len(page) < rota.PageMax {
			return count, t.sendWebhooks(ctx, c, &count)
		}
	}
}

// sendWebhooks sends what was collected.
func (t *Rotation) sendWebhooks(ctx context.Context, c *rota.RewrapSecrets, count *int) error {
	if len(c.Webhooks) == 0 {
		return nil
	}
	c.Meta = rota.NewMeta(t.Actor)
	done, err := rota.Do[*rota.SecretsRewrapped](ctx, t.Store, c)
	if err != nil {
		return err
	}
	*count += done.Rewrapped
	*c = rota.RewrapSecrets{}
	return nil
}
