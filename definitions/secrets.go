package definitions

import (
	"context"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// A document has the secrets of templates and webhooks sealed. A server that has their key restores them where they belong;
// another one refuses the document before it writes anything.

// addSecrets adds the sealed secrets of templates to a document.
func (s *Sync) addSecrets(ctx context.Context, v *api.Definitions) error {
	if s.Vault == nil {
		return nil
	}
	for q := (rota.SecretQuery{Limit: rota.PageMax}); ; {
		page, err := s.Vault.Store.Secrets(ctx, q)
		if err != nil {
			return err
		}
		for _, one := range page {
			q.After = rota.SecretName{Template: one.Template, Key: one.Key}
			d, has := v.Templates[one.Template]
			if !has {
				continue // it was dropped meanwhile
			}
			if d.Secrets == nil {
				d.Secrets = map[string]string{}
			}
			d.Secrets[one.Key] = one.Sealed
			v.Templates[one.Template] = d
		}
		if len(page) < rota.PageMax {
			return nil
		}
	}
}

// planSecrets returns the commands that set the secrets of a template, and its secrets as they are and as they will be. It
// refuses what this server cannot open, and what jobs of the type cannot use.
func (p *plan) planSecrets(name, typ string, sealed map[string]string, current *rota.Template) (commands []rota.Command, before, after map[string]string, err error) {
	if len(sealed) == 0 {
		return nil, nil, nil, nil
	}
	if p.Vault == nil {
		return nil, nil, nil, &rota.Error{Code: rota.Invalid, Field: "secrets", Reason: "cannot be opened, since this server has no master key", Hint: "remove them from the document"}
	}
	before, after = map[string]string{}, map[string]string{}
	if current != nil {
		stored, err := p.Vault.Store.Secrets(p.ctx, rota.SecretQuery{Template: name, Limit: rota.SecretsMax})
		if err != nil {
			return nil, nil, nil, err
		}
		for _, one := range stored {
			before[one.Key] = one.Sealed
		}
	}
	maps.Copy(after, before)
	for _, key := range slices.Sorted(maps.Keys(sealed)) {
		if err := rota.CheckSecretKey("key", key); err != nil {
			return nil, nil, nil, inSecret(err, key)
		}
		same, err := p.Vault.SameSecret(name, key, sealed[key], before[key])
		if err != nil {
			return nil, nil, nil, inSecret(err, key)
		}
		if !same || current == nil || current.Spec.Type != typ { // an unchanged one is accepted, so that a server accepts its own export
			if err := p.checkSecret(name, typ, key, sealed[key]); err != nil {
				return nil, nil, nil, inSecret(err, key)
			}
		}
		if !same {
			after[key] = sealed[key]
			commands = append(commands, &rota.PutSecret{Meta: p.meta("secret " + name + "/" + key), Template: name, Key: key, Sealed: sealed[key]})
		}
	}
	return commands, before, after, nil
}

// checkSecret refuses a secret that no job of a type can use. A request that was accepted before is not checked again.
func (p *plan) checkSecret(template, typ, key, sealed string) error {
	if p.CheckSecret == nil || p.request.Replay {
		return nil
	}
	value, err := p.Vault.Keyring.Open(template, key, sealed)
	if err != nil {
		return err
	}
	defer clear(value)
	err = p.CheckSecret(typ, key, value)
	if refusal, is := err.(*rota.Error); is { // the ciphertext is bound to the key, so that it cannot be renamed in the document
		named := *refusal
		named.Hint = "remove it from the document, and set it afterwards with rota secret set " + template + "/KEY: " + refusal.Hint
		return &named
	}
	return err
}

// inSecret names the secret of a document that is refused, and what to do without it.
func inSecret(err error, key string) error {
	refusal, is := err.(*rota.Error)
	if !is {
		return err
	}
	named := *refusal
	named.Field = "secrets." + key
	return asInvalid(&named)
}

// asInvalid turns the lack of a key into an error of the document: a retry would not help.
func asInvalid(e *rota.Error) *rota.Error {
	if e.Code == rota.Unavailable {
		e.Code = rota.Invalid
	}
	return e
}

// matchWebhooks replaces secrets that did not change by their ciphertexts, and refuses ciphertexts that this server cannot open.
func (p *plan) matchWebhooks(template string, hooks, stored []rota.Webhook) ([]rota.Webhook, error) {
	matched, err := p.Vault.MatchWebhooks(template, hooks, stored)
	if refusal, is := err.(*rota.Error); is {
		return nil, asInvalid(refusal)
	}
	return matched, err
}

// seal seals what the commands of the plan would store. The first secret creates the keyset.
func (p *plan) seal() error {
	if p.Vault == nil {
		return nil
	}
	vault := p.Vault.Once()
	for _, m := range p.commands {
		var err error
		switch c := m.Command.(type) {
		case *rota.PutTemplate:
			c.Spec.Webhooks, err = vault.SealWebhooks(p.ctx, c.Name, c.Spec.Webhooks, nil)
		case *rota.PutWebhooks:
			c.Spec, err = vault.SealWebhooks(p.ctx, "", c.Spec, nil)
		case *rota.PutSecret:
			c.Sealed, err = vault.Reseal(p.ctx, c.Template, c.Key, c.Sealed)
		}
		if err != nil {
			return atPath(m.path, err)
		}
	}
	return nil
}
