package rules

import (
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
)

// SecretSubject is the subject of a secret in the audit.
func SecretSubject(n rota.SecretName) string { return "secret " + n.Template + "/" + n.Key }

// secretKeySubject is that of the key of all secrets.
const secretKeySubject = "secrets"

func decidePutSecret(u *UnitOfWork, c *rota.PutSecret) (rota.Reply, *rota.Error) {
	name := rota.SecretName{Template: c.Template, Key: c.Key}
	u.wantAuditedSubject(c, SecretSubject(name))
	Templates.want(u, c.Template)
	SecretKeys.want(u, one)
	TemplateSecrets.want(u, TemplateSecretsQuery{Template: c.Template})
	others := otherSecrets(u, name)
	s := Secrets.get(u, name)
	if u.auditedSubject(c, SecretSubject(name)) {
		return &rota.SecretPut{Secret: withoutSealed(s)}, nil
	}
	if refusal := mayPutSecret(u, c, s, others); refusal != nil {
		return nil, refusal
	}
	next := &rota.Secret{Template: c.Template, Key: c.Key, CreatedBy: c.Actor, CreatedAt: u.Now}
	if s != nil {
		*next = *s
	}
	next.Sealed, next.Version, next.UpdatedAt = c.Sealed, c.ID, u.Now
	Secrets.set(u, name, next)
	u.auditSubject(c, rota.AuditSecretSet, SecretSubject(name), "", nil)
	return &rota.SecretPut{Secret: withoutSealed(next), Changed: true}, nil
}

// otherSecrets returns the other secrets of the template of a secret.
func otherSecrets(u *UnitOfWork, name rota.SecretName) (others []*rota.Secret) {
	keys := secretsOf(u, name.Template)
	for _, key := range keys {
		Secrets.want(u, rota.SecretName{Template: name.Template, Key: key})
	}
	for _, key := range keys {
		if s := Secrets.get(u, rota.SecretName{Template: name.Template, Key: key}); s != nil && key != name.Key {
			others = append(others, s)
		}
	}
	return others
}

func mayPutSecret(u *UnitOfWork, c *rota.PutSecret, s *rota.Secret, others []*rota.Secret) *rota.Error {
	t := Templates.get(u, c.Template)
	if t == nil || t.Owner == "" { // the template of a dropped definition does not exist
		refusal := noName("template", c.Template)
		refusal.Field = "template"
		return refusal
	}
	if s == nil && len(others) >= rota.SecretsMax {
		return rota.Invalidf("key", "template %s has %d secrets already, and at most %d are allowed; delete one first", c.Template, len(others), rota.SecretsMax)
	}
	if refusal := checkSecretBytes(c, others); refusal != nil {
		return refusal
	}
	fingerprint, _, _ := rota.ParseSealed(c.Sealed) // Validate has parsed it
	return mayUseKey(u, "sealed", fingerprint)
}

// checkSecretBytes refuses a value that makes the secrets of its template too long together.
func checkSecretBytes(c *rota.PutSecret, others []*rota.Secret) *rota.Error {
	size, sum := (&rota.Secret{Sealed: c.Sealed}).Size(), 0
	for _, s := range others {
		sum += s.Size()
	}
	if size+sum <= rota.SecretBytesMax {
		return nil
	}
	return rota.Invalidf("sealed", "is a value of %d bytes, and the other secrets of template %s have %d bytes; together at most %d are allowed: "+
		"shorten the value, or delete a secret first", size, c.Template, sum, rota.SecretBytesMax)
}

// mayUseKey refuses a value that another key seals than the one of the store. The first value decides which that is.
func mayUseKey(u *UnitOfWork, field, fingerprint string) *rota.Error {
	state := SecretKeys.get(u, one)
	switch {
	case state != nil && state.Primary == fingerprint:
		return nil
	case state != nil && anySecret(u):
		return &rota.Error{
			Code: rota.Conflict, Field: field, Reason: "the value is sealed with the key " + fingerprint + ", but the store uses the key " + state.Primary,
			Hint: "seal it again with that key; a node that lacks it needs the file master.key of a node that has it",
		}
	}
	SecretKeys.set(u, one, &rota.SecretState{Primary: fingerprint})
	return nil
}

// withoutSealed returns a copy without the ciphertext.
func withoutSealed(s *rota.Secret) *rota.Secret {
	if s == nil {
		return nil
	}
	shown := *s
	shown.Sealed = ""
	return &shown
}

// secretsOf returns the keys of the secrets of a template as decided, sorted.
func secretsOf(u *UnitOfWork, template string) (keys []string) {
	for _, key := range TemplateSecrets.get(u, TemplateSecretsQuery{Template: template}) {
		if s, known := Secrets.peek(u, rota.SecretName{Template: template, Key: key}); !known || s != nil {
			keys = append(keys, key)
		}
	}
	for r := range Secrets.of(u).changed() {
		if r.key.Template == template && r.is != nil {
			keys = append(keys, r.key.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// anySecret reports whether there is a secret, or a webhook with a sealed one. Rows that were not loaded count as stored.
func anySecret(u *UnitOfWork) bool {
	changed := 0
	for r := range Templates.of(u).changed() {
		if changed++; r.is != nil && anySealed(r.is.Spec.Webhooks) {
			return true
		}
	}
	for r := range Webhooks.of(u).changed() {
		if changed++; r.is != nil && anySealed(r.is.Spec) {
			return true
		}
	}
	for r := range Secrets.of(u).changed() {
		if changed++; r.is != nil {
			return true
		}
	}
	return slices.ContainsFunc(AnySecrets.get(u, AnySecretsQuery{Limit: changed + 1}), func(n rota.SecretName) bool {
		switch {
		case n == (rota.SecretName{}):
			h, known := Webhooks.peek(u, one)
			return !known || h != nil && anySealed(h.Spec)
		case n.Key == "":
			t, known := Templates.peek(u, n.Template)
			return !known || t != nil && anySealed(t.Spec.Webhooks)
		}
		s, known := Secrets.peek(u, n)
		return !known || s != nil
	})
}

// Details of the audit entries about secrets that are removed with the definition of their template.
const (
	detailTemplateDropped   = "with its template"
	detailTemplateRecreated = "its template was recreated"
)

func anySealed(hooks []rota.Webhook) bool {
	return slices.ContainsFunc(hooks, func(h rota.Webhook) bool { return rota.IsSealed(h.Secret) })
}

// wantSealedWebhooks asks for what mayPutWebhooks reads.
func wantSealedWebhooks(u *UnitOfWork, given []rota.Webhook) {
	if anySealed(given) {
		SecretKeys.want(u, one)
	}
}

// mayPutWebhooks checks the key of the sealed secrets that are not stored. They need one key, that of the store.
func mayPutWebhooks(u *UnitOfWork, stored, given []rota.Webhook) *rota.Error {
	field, fingerprint := "", ""
	for i := range given {
		h := &given[i]
		same := func(s rota.Webhook) bool { return s.URL == h.URL && s.Secret == h.Secret }
		if !rota.IsSealed(h.Secret) || slices.ContainsFunc(stored, same) {
			continue
		}
		at := fmt.Sprintf("webhooks[%d].secret", i)
		switch by := h.Fingerprint(); {
		case field == "":
			field, fingerprint = at, by
		case by != fingerprint:
			return &rota.Error{Code: rota.Conflict, Field: at, Reason: "the value is sealed with the key " + by + ", but another one with the key " + fingerprint, Hint: "seal all values with the key of the store"}
		}
	}
	if field == "" {
		return nil
	}
	return mayUseKey(u, field, fingerprint)
}

// dropSecrets removes the secrets of a template that begins again or has no owner any more: they must not reach the
// jobs of another definition of its name.
func dropSecrets(u *UnitOfWork, c rota.Command, template, detail string) {
	keys := secretsOf(u, template)
	for _, key := range keys {
		Secrets.want(u, rota.SecretName{Template: template, Key: key})
	}
	for _, key := range keys {
		name := rota.SecretName{Template: template, Key: key}
		if Secrets.get(u, name) != nil {
			Secrets.set(u, name, nil)
			u.auditSideEffect(c, rota.AuditSecretDeleted, SecretSubject(name), detail, nil)
		}
	}
}

func decideDeleteSecret(u *UnitOfWork, c *rota.DeleteSecret) (rota.Reply, *rota.Error) {
	name := rota.SecretName{Template: c.Template, Key: c.Key}
	u.wantAuditedSubject(c, SecretSubject(name))
	s := Secrets.get(u, name)
	switch {
	case u.auditedSubject(c, SecretSubject(name)):
		return &rota.SecretDeleted{Gone: true}, nil
	case s == nil:
		refusal := noName("secret", c.Template+"/"+c.Key)
		refusal.Field = "key"
		return nil, refusal
	}
	Secrets.set(u, name, nil)
	u.auditSubject(c, rota.AuditSecretDeleted, SecretSubject(name), "", nil)
	return &rota.SecretDeleted{}, nil
}

// decideRewrapSecrets replaces ciphertexts of rows that are as they were read. The version stays, because the value does.
func decideRewrapSecrets(u *UnitOfWork, c *rota.RewrapSecrets) (rota.Reply, *rota.Error) {
	SecretKeys.want(u, one)
	for i := range c.Items {
		Secrets.want(u, rota.SecretName{Template: c.Items[i].Template, Key: c.Items[i].Key})
	}
	for i := range c.Webhooks {
		if c.Webhooks[i].Template == "" {
			Webhooks.want(u, one)
		} else {
			Templates.want(u, c.Webhooks[i].Template)
		}
	}
	state := SecretKeys.get(u, one)
	reply := &rota.SecretsRewrapped{}
	for i := range c.Items {
		it := &c.Items[i]
		name := rota.SecretName{Template: it.Template, Key: it.Key}
		s := Secrets.get(u, name)
		fingerprint, _, _ := rota.ParseSealed(it.Sealed) // Validate has parsed it
		if s == nil || state == nil || s.Version != it.Version || s.Fingerprint() != it.Was || fingerprint == it.Was || fingerprint != state.Primary {
			continue
		}
		next := *s
		next.Sealed = it.Sealed
		Secrets.set(u, name, &next)
		reply.Rewrapped++
	}
	for i := range c.Webhooks {
		if rewrapWebhook(u, &c.Webhooks[i]) {
			reply.Rewrapped++
		}
	}
	return reply, nil
}

// rewrapWebhook seals the secret of a webhook that is as it was read. The version of its list stays, because the value does.
func rewrapWebhook(u *UnitOfWork, it *rota.RewrappedWebhook) (changed bool) {
	fingerprint, _, _ := rota.ParseSealed(it.Sealed) // Validate has parsed it
	state := SecretKeys.get(u, one)
	if state != nil && state.Primary != fingerprint || it.Was == it.Sealed {
		return false
	}
	sealed := func(hooks []rota.Webhook) []rota.Webhook {
		at := slices.IndexFunc(hooks, func(w rota.Webhook) bool { return w.URL == it.URL && w.Secret == it.Was })
		if at < 0 {
			return nil
		}
		hooks = slices.Clone(hooks)
		hooks[at].Secret = it.Sealed
		return hooks
	}
	if it.Template == "" {
		h := Webhooks.get(u, one)
		if h == nil || sealed(h.Spec) == nil {
			return false
		}
		next := *h
		next.Spec = sealed(h.Spec)
		Webhooks.set(u, one, &next)
	} else {
		t := Templates.get(u, it.Template)
		if t == nil || sealed(t.Spec.Webhooks) == nil {
			return false
		}
		next := *t
		next.Spec.Webhooks = sealed(t.Spec.Webhooks)
		Templates.set(u, it.Template, &next)
	}
	if state == nil {
		SecretKeys.set(u, one, &rota.SecretState{Primary: fingerprint})
	}
	return true
}

func decidePromoteSecretKey(u *UnitOfWork, c *rota.PromoteSecretKey) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, secretKeySubject)
	state := SecretKeys.get(u, one)
	switch {
	case u.auditedSubject(c, secretKeySubject), state != nil && state.Primary == c.To:
		return &rota.SecretKeyPromoted{}, nil
	case state == nil:
		return nil, &rota.Error{Code: rota.Conflict, Field: "from", Reason: "the store has no secrets, so there is no key to replace"}
	case state.Primary != c.From:
		return nil, &rota.Error{
			Code: rota.Conflict, Field: "from", Reason: "the store uses the key " + state.Primary + ", not " + c.From,
			Hint: "another node may have rotated the key: copy its master.key, and rotate again if you need to",
		}
	}
	SecretKeys.set(u, one, &rota.SecretState{Primary: c.To})
	u.auditSubject(c, rota.AuditSecretRotated, secretKeySubject, "from key "+c.From+" to key "+c.To, nil)
	return &rota.SecretKeyPromoted{Changed: true}, nil
}
