package verify

import "github.com/rotajobs/rota"

// Secret checks a secret, given the fingerprint in its column. Templates come first, and secrets by template.
func (v *Verifier) Secret(s *rota.Secret, fingerprint string) {
	row := "secret " + s.Template + "/" + s.Key
	v.hasSecrets = true
	v.times(row, s.CreatedAt, s.UpdatedAt)
	v.checkAccepted(row, (&rota.PutSecret{Template: s.Template, Key: s.Key, Sealed: s.Sealed}).Validate(), rota.CheckSecretShape)
	if is := s.Fingerprint(); is != "" && is != fingerprint {
		v.violation(rota.CheckSecretShape, []string{row}, "its fingerprint is %q, but that of its ciphertext is %s", fingerprint, is)
	}
	if s.Version.IsZero() {
		v.violation(rota.CheckSecretShape, []string{row}, "its version is zero")
	}
	v.secretTemplate(row, s)
}

// secretTemplate checks the template of a secret.
func (v *Verifier) secretTemplate(row string, s *rota.Secret) {
	template := s.Template
	if v.secretsOf != template {
		v.secretsOf, v.secretCount, v.secretBytes = template, 0, 0
	}
	before := v.secretBytes
	if v.secretBytes += s.Size(); before <= rota.SecretBytesMax && v.secretBytes > rota.SecretBytesMax {
		v.violation(rota.CheckSecretTemplate, []string{row}, "the secrets of template %s have more than %d bytes", template, rota.SecretBytesMax)
	}
	if v.secretCount++; v.secretCount == rota.SecretsMax+1 {
		v.violation(rota.CheckSecretTemplate, []string{row}, "template %s has more than %d secrets", template, rota.SecretsMax)
	}
	if _, is := v.templates[template]; !is {
		v.violation(rota.CheckSecretTemplate, []string{row}, "there is no template %s", template)
	} else if v.dropped[template] {
		v.violation(rota.CheckSecretTemplate, []string{row}, "the definition of template %s was dropped", template)
	}
}

// noteSealed notes webhooks whose secrets are sealed.
func (v *Verifier) noteSealed(hooks []rota.Webhook) {
	for i := range hooks {
		v.hasSecrets = v.hasSecrets || rota.IsSealed(hooks[i].Secret)
	}
}

// SecretKeys checks that the store knows its key if it has secrets. Secrets and webhooks come first.
func (v *Verifier) SecretKeys(state *rota.SecretState) {
	switch {
	case state == nil && v.hasSecrets:
		v.violation(rota.CheckSecretKeys, []string{"secret keys"}, "there are secrets, but the fingerprint of the key that seals new ones is missing")
	case state != nil && !wellFormed(state.Primary):
		v.violation(rota.CheckSecretKeys, []string{"secret keys"}, "its fingerprint is malformed")
	}
}

func wellFormed(fingerprint string) bool {
	_, _, err := rota.ParseSealed(rota.FormatSealed(fingerprint, []byte{1}))
	return err == nil
}
