package rota

import "fmt"

// PutSecret sets a secret of a template. The caller seals the value; the store never sees it.
type PutSecret struct {
	Meta     `wire:"1"`
	Template string `wire:"2"`
	Key      string `wire:"3"` // letters, digits and _; not a digit first
	Sealed   string `wire:"4"` // sealed by the primary key of the store, see ParseSealed
}

// Verb returns the kind of the command.
func (*PutSecret) Verb() Verb { return VerbPutSecret }

// Validate checks the names and the form of the ciphertext.
func (c *PutSecret) Validate() error {
	if err := first(checkName("template", c.Template, true), checkSecretKey("key", c.Key)); err != nil {
		return err
	}
	_, _, err := ParseSealed(c.Sealed)
	return err
}

func (c *PutSecret) weigh() (entries, bytes int) { return 1, entryBytes + len(c.Sealed) }

// SecretPut answers PutSecret. Changed is false if an earlier sending of the command set the secret. Secret has no
// ciphertext, and is nil if it has been deleted since.
type SecretPut struct {
	Secret  *Secret `wire:"1"`
	Changed bool    `wire:"2"`
}

func (*SecretPut) reply() {}

// DeleteSecret deletes a secret of a template.
type DeleteSecret struct {
	Meta     `wire:"1"`
	Template string `wire:"2"`
	Key      string `wire:"3"`
}

// Verb returns the kind of the command.
func (*DeleteSecret) Verb() Verb { return VerbDeleteSecret }

// Validate checks the names.
func (c *DeleteSecret) Validate() error {
	return asError(first(checkName("template", c.Template, true), checkSecretKey("key", c.Key)))
}

// SecretDeleted answers DeleteSecret. Gone is true if an earlier sending of the command deleted it.
type SecretDeleted struct {
	Gone bool `wire:"1"`
}

func (*SecretDeleted) reply() {}

// RewrappedSecret is the new ciphertext of a value that does not change.
type RewrappedSecret struct {
	Template string `wire:"1"`
	Key      string `wire:"2"`
	Version  ID     `wire:"3"` // of the row that was read: a secret that was set meanwhile is left alone
	Was      string `wire:"4"` // fingerprint of the key of the row that was read
	Sealed   string `wire:"5"` // sealed by the primary key of the store
}

// RewrappedWebhook is the sealed form of the secret of a webhook, which does not change.
type RewrappedWebhook struct {
	Template string `wire:"1"` // empty: a global webhook
	URL      string `wire:"2"`
	Was      string `wire:"3"` // the text that was read, sealed or not: a secret that was set meanwhile is left alone
	Sealed   string `wire:"4"` // sealed by the primary key of the store
}

// RewrapSecrets replaces ciphertexts during the rotation of the master key, and seals secrets of webhooks that are not sealed.
type RewrapSecrets struct {
	Meta     `wire:"1"`
	Items    []RewrappedSecret  `wire:"2"`
	Webhooks []RewrappedWebhook `wire:"3"`
}

// Verb returns the kind of the command.
func (*RewrapSecrets) Verb() Verb { return VerbRewrapSecrets }

// Validate checks the items.
func (c *RewrapSecrets) Validate() error {
	if err := checkCount("items", len(c.Items)+len(c.Webhooks), 1, RewrapMax); err != nil {
		return err
	}
	seen := map[SecretName]bool{}
	for i := range c.Items {
		it := &c.Items[i]
		field := fmt.Sprintf("items[%d]", i)
		err := first(checkName("template", it.Template, true), checkSecretKey("key", it.Key), checkID("version", it.Version), checkFingerprint("was", it.Was))
		if err != nil {
			return within(field, err)
		}
		if _, _, err := ParseSealed(it.Sealed); err != nil {
			return within(field, err)
		}
		if name := (SecretName{it.Template, it.Key}); seen[name] {
			return Invalidf(field+".key", "is there twice; name each secret once")
		}
		seen[SecretName{it.Template, it.Key}] = true
	}
	for i := range c.Webhooks {
		if err := c.Webhooks[i].check(); err != nil {
			return within(fmt.Sprintf("webhooks[%d]", i), err)
		}
	}
	return nil
}

func (w *RewrappedWebhook) check() error {
	if err := first(checkName("template", w.Template, false), checkURL("url", w.URL), (&Webhook{Secret: w.Was}).checkSecret()); err != nil {
		return err
	}
	_, _, err := ParseSealed(w.Sealed)
	return err
}

func (c *RewrapSecrets) weigh() (entries, bytes int) {
	for i := range c.Items {
		bytes += entryBytes + len(c.Items[i].Sealed)
	}
	for i := range c.Webhooks {
		bytes += entryBytes + len(c.Webhooks[i].Was) + len(c.Webhooks[i].Sealed)
	}
	return len(c.Items) + len(c.Webhooks), bytes
}

// SecretsRewrapped answers RewrapSecrets with the number of rows that changed. The others were changed or deleted meanwhile.
type SecretsRewrapped struct {
	Rewrapped int `wire:"1"`
}

func (*SecretsRewrapped) reply() {}

// PromoteSecretKey makes another key the one that seals new values. Values of earlier keys stay until RewrapSecrets.
type PromoteSecretKey struct {
	Meta `wire:"1"`
	From string `wire:"2"` // fingerprint of the primary key of the store
	To   string `wire:"3"` // fingerprint of the next one
}

// Verb returns the kind of the command.
func (*PromoteSecretKey) Verb() Verb { return VerbPromoteSecretKey }

// Validate checks the fingerprints.
func (c *PromoteSecretKey) Validate() error {
	if err := first(checkFingerprint("from", c.From), checkFingerprint("to", c.To)); err != nil {
		return err
	}
	if c.From == c.To {
		return Invalidf("to", "is the key that is to be replaced; name another one")
	}
	return nil
}

// SecretKeyPromoted answers PromoteSecretKey. Changed is false if the key was the primary one already.
type SecretKeyPromoted struct {
	Changed bool `wire:"1"`
}

func (*SecretKeyPromoted) reply() {}
