package secret

import (
	"context"
	"crypto/rand"
	"slices"

	"github.com/rotajobs/rota"
)

// Forget deletes what only lost keys could open, so that a store can be used again whose keyset is lost. Its steps can be repeated after
// one that was cut off.
type Forget struct {
	Keyring *Keyring
	Store   rota.Store
	Actor   string

	// Deleted is called for each value, before it is deleted. The key of a webhook is its URL; its template is empty if it is a global one.
	Deleted func(what, template, key, fingerprint string)

	lost []string // fingerprints of keys that the store needs and the keyring lacks
	to   string   // the key that seals the random values
}

// Run deletes the secrets that are sealed with lost keys. Those of webhooks, which must have one, get a random value in their place. It
// returns the fingerprints of the lost keys, none if the keyring has all that the store needs; then it changes nothing.
func (f *Forget) Run(ctx context.Context) (lost []string, err error) {
	state, err := f.Store.SecretState(ctx)
	if err != nil {
		return nil, err
	}
	if f.lost, err = f.Keyring.Missing(needs(&state)); err != nil || len(f.lost) == 0 {
		return nil, err
	}
	for _, step := range []func(context.Context) error{f.secrets, f.promote, f.globalWebhooks, f.templates} {
		if err := step(ctx); err != nil {
			return f.lost, err
		}
	}
	return f.lost, nil
}

// needs returns the keys that a node needs for a store. A store without values needs none.
func needs(state *rota.SecretState) []string {
	if len(state.Needed) == 0 || state.Primary == "" || slices.Contains(state.Needed, state.Primary) {
		return state.Needed
	}
	return append(slices.Clone(state.Needed), state.Primary)
}

func (f *Forget) secrets(ctx context.Context) error {
	for after := (rota.SecretName{}); ; {
		page, err := f.Store.Secrets(ctx, rota.SecretQuery{After: after, Limit: rota.PageMax})
		if err != nil {
			return err
		}
		for _, s := range page {
			after = rota.SecretName{Template: s.Template, Key: s.Key}
			if !slices.Contains(f.lost, s.Fingerprint()) {
				continue
			}
			f.Deleted("secret", s.Template, s.Key, s.Fingerprint())
			_, err := rota.Do[*rota.SecretDeleted](ctx, f.Store, &rota.DeleteSecret{Meta: rota.NewMeta(f.Actor), Template: s.Template, Key: s.Key})
			if err != nil && rota.CodeOf(err) != rota.NotFound {
				return err
			}
		}
		if len(page) < rota.PageMax {
			return nil
		}
	}
}

// promote lets the store seal new values with a key of the keyring, if it names a lost one and still has values.
func (f *Forget) promote(ctx context.Context) error {
	state, err := f.Store.SecretState(ctx)
	if err != nil || len(state.Needed) == 0 {
		return err
	}
	if !slices.Contains(f.lost, state.Primary) {
		f.to = state.Primary
		return nil
	}
	if f.to, err = f.Keyring.Primary(""); err != nil {
		return err
	}
	_, err = rota.Do[*rota.SecretKeyPromoted](ctx, f.Store, &rota.PromoteSecretKey{Meta: rota.NewMeta(f.Actor), From: state.Primary, To: f.to})
	return err
}

// replaced returns webhooks with random secrets in place of those that lost keys seal, nil if there are none.
func (f *Forget) replaced(template string, hooks []rota.Webhook) (next []rota.Webhook, err error) {
	for i := range hooks {
		h := &hooks[i]
		if !slices.Contains(f.lost, h.Fingerprint()) {
			continue
		}
		f.Deleted("webhook", template, h.URL, h.Fingerprint())
		if next == nil {
			next = slices.Clone(hooks)
		}
		if next[i].Secret, err = f.Keyring.seal(f.to, []byte(rand.Text()), associated(webhookKind, template, h.URL)); err != nil {
			return nil, err
		}
	}
	return next, nil
}

func (f *Forget) globalWebhooks(ctx context.Context) error {
	stored, err := f.Store.Webhooks(ctx)
	if err != nil {
		return err
	}
	spec, err := f.replaced("", stored.Spec)
	if err != nil || spec == nil {
		return err
	}
	_, err = rota.Do[*rota.WebhooksPut](ctx, f.Store, &rota.PutWebhooks{Meta: rota.NewMeta(f.Actor), Version: &stored.Version, Spec: spec})
	return err
}

func (f *Forget) templates(ctx context.Context) error {
	for after := ""; ; {
		page, err := f.Store.Templates(ctx, rota.NameQuery{After: after, Limit: rota.PageMax})
		if err != nil {
			return err
		}
		for _, t := range page {
			after = t.Name
			if err := f.template(ctx, t); err != nil {
				return err
			}
		}
		if len(page) < rota.PageMax {
			return nil
		}
	}
}

// template replaces the secrets of the webhooks of a template. A put would create a dropped template again, so its webhooks are
// only sealed again.
func (f *Forget) template(ctx context.Context, t *rota.Template) error {
	was, spec := t.Spec.Webhooks, t.Spec
	var err error
	if spec.Webhooks, err = f.replaced(t.Name, was); err != nil || spec.Webhooks == nil {
		return err
	}
	if t.Owner != "" {
		_, err := rota.Do[*rota.TemplatePut](ctx, f.Store, &rota.PutTemplate{Meta: rota.NewMeta(f.Actor), Name: t.Name, Mode: rota.PutReplace, Version: &t.Version, Spec: spec})
		return err
	}
	c := &rota.RewrapSecrets{Meta: rota.NewMeta(f.Actor)}
	for i, h := range spec.Webhooks {
		if h.Secret != was[i].Secret {
			c.Webhooks = append(c.Webhooks, rota.RewrappedWebhook{Template: t.Name, URL: h.URL, Was: was[i].Secret, Sealed: h.Secret})
		}
	}
	_, err = rota.Do[*rota.SecretsRewrapped](ctx, f.Store, c)
	return err
}
