package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
)

func (s *state) secret(template, key string) *rota.Secret {
	return pickOne(s.secrets, func(one *rota.Secret) bool { return one.Template == template && one.Key == key })
}

func (s *state) removeSecrets(match func(*rota.Secret) bool) {
	s.secrets = slices.DeleteFunc(s.secrets, match)
}

// dropSecrets removes the secrets of a template whose definition ends.
func (s *step) dropSecrets(template, detail string) {
	var keys []string
	for _, one := range s.secrets {
		if one.Template == template {
			keys = append(keys, one.Key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		s.auditEffect("SECRET_DELETED", secretSubject(template, key), detail, nil)
	}
	s.removeSecrets(func(one *rota.Secret) bool { return one.Template == template })
}

func secretSubject(template, key string) string { return fmt.Sprintf("secret %s/%s", template, key) }

func hideSealed(s *rota.Secret) *rota.Secret {
	c := copyOf(s)
	if c != nil {
		c.Sealed = ""
	}
	return c
}

func (s *step) putSecret(c *rota.PutSecret) (rota.Reply, *rota.Error) {
	row, subject := s.secret(c.Template, c.Key), secretSubject(c.Template, c.Key)
	if s.auditedSubject(subject) {
		return &rota.SecretPut{Secret: hideSealed(row)}, nil
	}
	if t := s.template(c.Template); t == nil || t.Owner == "" {
		return nil, s.refuse(rota.NotFound, "template", "there is no template %s", c.Template)
	}
	count, size := 0, valueSize(c.Sealed)
	for _, one := range s.secrets {
		if one.Template == c.Template {
			count++
		}
		if one.Template == c.Template && one != row {
			size += valueSize(one.Sealed)
		}
	}
	fingerprint := c.Sealed[len("sealed:v1:"):][:16]
	switch {
	case row == nil && count >= 100:
		return nil, s.refuse(rota.Invalid, "key", "template %s has 100 secrets", c.Template)
	case size > 262_144:
		return nil, s.refuse(rota.Invalid, "sealed", "the secrets of template %s would have %d bytes", c.Template, size)
	case s.anySealed() && s.secretKey != fingerprint:
		return nil, s.refuse(rota.Conflict, "sealed", "the store uses the key %s", s.secretKey)
	}
	s.secretKey = fingerprint
	if row == nil {
		row = &rota.Secret{Template: c.Template, Key: c.Key, CreatedBy: c.Actor, CreatedAt: s.now}
		s.secrets = append(s.secrets, row)
	}
	row.Sealed, row.Version, row.UpdatedAt = c.Sealed, c.ID, s.now
	s.auditSubject("SECRET_SET", subject, "", nil)
	return &rota.SecretPut{Secret: hideSealed(row), Changed: true}, nil
}

// valueSize is the length of the value of a ciphertext, which is 33 bytes longer.
func valueSize(sealed string) int {
	return max(0, (len(sealed)-len("sealed:v1:0123456789abcdef:"))*3/4-33)
}

// sealedBy returns the fingerprint of the key that seals the secret of a webhook; "" if none does.
func sealedBy(h rota.Webhook) string { return (&rota.Secret{Sealed: h.Secret}).Fingerprint() }

// eachWebhook calls a function with every list of webhooks.
func (s *state) eachWebhook(visit func(h rota.Webhook)) {
	for _, h := range s.webhooks.Spec {
		visit(h)
	}
	for _, t := range s.templates {
		for _, h := range t.Spec.Webhooks {
			visit(h)
		}
	}
}

func (s *state) anySealed() bool {
	found := len(s.secrets) > 0
	s.eachWebhook(func(h rota.Webhook) { found = found || sealedBy(h) != "" })
	return found
}

// useKeys refuses webhooks that another key seals than the one of the store, or that several keys seal.
func (s *step) useKeys(stored, given []rota.Webhook) *rota.Error {
	field, key := "", ""
	for i, h := range given {
		same := func(old rota.Webhook) bool { return old.URL == h.URL && old.Secret == h.Secret }
		by, at := sealedBy(h), fmt.Sprintf("webhooks[%d].secret", i)
		switch {
		case by == "" || slices.ContainsFunc(stored, same):
		case key == "":
			field, key = at, by
		case by != key:
			return s.refuse(rota.Conflict, at, "another value is sealed with the key %s", key)
		}
	}
	switch {
	case key == "":
		return nil
	case s.secretKey != key && s.anySealed():
		return s.refuse(rota.Conflict, field, "the store uses the key %s", s.secretKey)
	}
	s.secretKey = key
	return nil
}

// rewrap seals the secret of a webhook of a list again.
func (s *step) rewrap(hooks []rota.Webhook, it rota.RewrappedWebhook) (next []rota.Webhook, changed bool) {
	next = slices.Clone(hooks)
	by := sealedBy(rota.Webhook{Secret: it.Sealed})
	for i, h := range next {
		if h.URL == it.URL && h.Secret == it.Was && it.Was != it.Sealed && (s.secretKey == "" || s.secretKey == by) {
			next[i].Secret, s.secretKey = it.Sealed, by
			return next, true
		}
	}
	return next, false
}

func (s *step) deleteSecret(c *rota.DeleteSecret) (rota.Reply, *rota.Error) {
	row, subject := s.secret(c.Template, c.Key), secretSubject(c.Template, c.Key)
	switch {
	case s.auditedSubject(subject):
		return &rota.SecretDeleted{Gone: true}, nil
	case row == nil:
		return nil, s.refuse(rota.NotFound, "key", "there is no secret %s/%s", c.Template, c.Key)
	}
	s.removeSecrets(func(one *rota.Secret) bool { return one == row })
	s.auditSubject("SECRET_DELETED", subject, "", nil)
	return &rota.SecretDeleted{}, nil
}

func (s *step) rewrapSecrets(c *rota.RewrapSecrets) (rota.Reply, *rota.Error) {
	reply := &rota.SecretsRewrapped{}
	for _, it := range c.Items {
		row := s.secret(it.Template, it.Key)
		if row == nil || row.Version != it.Version || row.Fingerprint() != it.Was {
			continue
		}
		if next := (&rota.Secret{Sealed: it.Sealed}).Fingerprint(); next == s.secretKey && next != it.Was {
			row.Sealed = it.Sealed
			reply.Rewrapped++
		}
	}
	for _, it := range c.Webhooks {
		changed := false
		if t := s.template(it.Template); it.Template == "" {
			s.webhooks.Spec, changed = s.rewrap(s.webhooks.Spec, it)
		} else if t != nil {
			t.Spec.Webhooks, changed = s.rewrap(t.Spec.Webhooks, it)
		}
		if changed {
			reply.Rewrapped++
		}
	}
	return reply, nil
}

func (s *step) promoteSecretKey(c *rota.PromoteSecretKey) (rota.Reply, *rota.Error) {
	switch {
	case s.auditedSubject("secrets") || s.secretKey == c.To:
		return &rota.SecretKeyPromoted{}, nil
	case s.secretKey != c.From:
		return nil, s.refuse(rota.Conflict, "from", "the store uses the key %s", s.secretKey)
	}
	s.secretKey = c.To
	s.auditSubject("SECRET_ROTATED", "secrets", fmt.Sprintf("from key %s to key %s", c.From, c.To), nil)
	return &rota.SecretKeyPromoted{Changed: true}, nil
}

// Secret returns a secret with its ciphertext.
func (m *Model) Secret(_ context.Context, name rota.SecretName) (*rota.Secret, error) {
	return read(m, func(s *state) (*rota.Secret, error) {
		row, err := found(s.secret(name.Template, name.Key), "secret", name.Template+"/"+name.Key)
		return copyOf(row), err
	})
}

// Secrets lists secrets by template and key.
func (m *Model) Secrets(_ context.Context, q rota.SecretQuery) ([]*rota.Secret, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return read(m, func(s *state) ([]*rota.Secret, error) {
		rows := slices.DeleteFunc(slices.Clone(s.secrets), func(one *rota.Secret) bool {
			after := cmp.Or(cmp.Compare(one.Template, q.After.Template), cmp.Compare(one.Key, q.After.Key)) > 0
			return !after || q.Template != "" && one.Template != q.Template || q.Fingerprint != "" && one.Fingerprint() == q.Fingerprint
		})
		slices.SortFunc(rows, func(a, b *rota.Secret) int {
			return cmp.Or(cmp.Compare(a.Template, b.Template), cmp.Compare(a.Key, b.Key))
		})
		return copyPage(rows, q.Limit, copyOf), nil
	})
}

// SecretState returns which keys open the secrets.
func (m *Model) SecretState(context.Context) (rota.SecretState, error) {
	return read(m, func(s *state) (rota.SecretState, error) {
		state := rota.SecretState{Primary: s.secretKey}
		for _, one := range s.secrets {
			state.Needed = append(state.Needed, one.Fingerprint())
		}
		s.eachWebhook(func(h rota.Webhook) {
			if by := sealedBy(h); by != "" {
				state.Needed = append(state.Needed, by)
			} else {
				state.Plain++
			}
		})
		slices.Sort(state.Needed)
		state.Needed = slices.Compact(state.Needed)
		return state, nil
	})
}
