package secret

import (
	"context"
	"crypto/subtle"

	"github.com/rotajobs/rota"
)

// Vault seals and opens the secrets of one store. It needs the store itself, not a Guard, which hides ciphertexts.
type Vault struct {
	Keyring *Keyring
	Store   rota.Reader
}

// SealFor seals a value with the key that the store uses. The first secret creates the keyset.
func (v *Vault) SealFor(ctx context.Context, template, key string, value []byte) (string, error) {
	if err := rota.CheckSecretKey("key", key); err != nil {
		return "", err
	}
	fingerprint, err := v.primary(ctx)
	if err != nil {
		return "", err
	}
	return v.Keyring.Seal(fingerprint, template, key, value)
}

// SameSecret opens a ciphertext of a secret, and reports whether the stored one has the same value; stored may be empty.
func (v *Vault) SameSecret(template, key, sealed, stored string) (bool, error) {
	if sealed == stored {
		return true, nil
	}
	value, err := v.Keyring.Open(template, key, sealed)
	if err != nil {
		return false, foreign(err, "secret "+template+"/"+key, sealed, "remove it from the document, and set it afterwards: rota secret set "+template+"/"+key)
	}
	if stored == "" {
		return false, nil
	}
	old, err := v.Keyring.Open(template, key, stored)
	return err == nil && subtle.ConstantTimeCompare(old, value) == 1, nil
}

// foreign names a ciphertext of another installation.
func foreign(err error, what, sealed, hint string) error {
	fingerprint, _, _ := rota.ParseSealed(sealed)
	if rota.CodeOf(err) != rota.Unavailable {
		return err
	}
	return &rota.Error{Code: rota.Unavailable, Act: "open", Reason: what + " is sealed with the key " + fingerprint + ", which this server does not have", Hint: hint}
}

// Reseal returns the ciphertext of a secret, sealed with the key of the store.
func (v *Vault) Reseal(ctx context.Context, template, key, sealed string) (string, error) {
	to, err := v.primary(ctx)
	if err != nil {
		return "", err
	}
	if fingerprint, _, err := rota.ParseSealed(sealed); err != nil || fingerprint == to {
		return sealed, err
	}
	value, err := v.Keyring.Open(template, key, sealed)
	if err != nil {
		return "", err
	}
	defer clear(value)
	return v.Keyring.Seal(to, template, key, value)
}

// primary returns the key that is to seal a value.
func (v *Vault) primary(ctx context.Context) (string, error) {
	state, err := v.Store.SecretState(ctx)
	if err != nil {
		return "", err
	}
	fingerprint := state.Primary
	if len(state.Needed) == 0 { // the key of secrets that are gone may be gone too
		if known, err := v.Keyring.Has(fingerprint); err != nil {
			return "", err
		} else if !known {
			fingerprint = ""
		}
	}
	return v.Keyring.Primary(fingerprint)
}

// Any reports whether the store has secrets of templates.
func (v *Vault) Any(ctx context.Context) (bool, error) {
	found, err := v.Store.Secrets(ctx, rota.SecretQuery{Limit: 1})
	return len(found) > 0, err
}

// Secret returns a secret of the template of a job.
func (v *Vault) Secret(ctx context.Context, job *rota.Job, key string) (string, error) {
	if job.Template == "" {
		return "", noTemplate()
	}
	// The secret is read before the owner of the template: a value that the next owner sets meanwhile is not read.
	s, missing := v.Store.Secret(ctx, rota.SecretName{Template: job.Template, Key: key})
	t, err := v.Store.Template(ctx, job.Template)
	if err != nil {
		return "", err
	}
	if err := v.mayHave(ctx, job, t); err != nil {
		return "", err
	}
	if missing != nil {
		return "", missing
	}
	return v.openRow(ctx, s)
}

// Secrets returns all secrets of the template of a job; nil if there are none.
func (v *Vault) Secrets(ctx context.Context, job *rota.Job) (map[string]string, error) {
	return v.Batch().Secrets(ctx, job)
}

// Values returns all secrets of a template, for any user, so that they can be masked in what its jobs have written. If one cannot be
// opened, locked is the reason, and err is nil.
func (v *Vault) Values(ctx context.Context, template string) (values map[string]string, locked, err error) {
	rows, err := v.Store.Secrets(ctx, rota.SecretQuery{Template: template, Limit: rota.SecretsMax})
	if err != nil || len(rows) == 0 {
		return nil, nil, err
	}
	values, locked = v.openAll(ctx, rows)
	return values, locked, nil
}

// Batch returns what opens the secrets of several jobs at one time.
func (v *Vault) Batch() *Batch { return &Batch{vault: v, templates: map[string]*opened{}} }

// Batch opens the secrets of each template once, for all its jobs. One goroutine may use it.
type Batch struct {
	vault     *Vault
	templates map[string]*opened
}

// opened are the secrets of a template.
type opened struct {
	rows     []*rota.Secret
	template *rota.Template    // nil: there are no secrets
	values   map[string]string // nil: not opened yet
}

// Secrets returns all secrets of the template of a job; nil if there are none. The jobs of a template share the map.
func (b *Batch) Secrets(ctx context.Context, job *rota.Job) (map[string]string, error) {
	if job.Template == "" {
		return nil, nil
	}
	o, err := b.read(ctx, job.Template)
	if err != nil || o.template == nil {
		return nil, err
	}
	if err := b.vault.mayHave(ctx, job, o.template); rota.CodeOf(err) == rota.NotFound {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if o.values == nil {
		o.values, err = b.vault.openAll(ctx, o.rows)
	}
	return o.values, err
}

// read reads a template after its secrets: a value that the next owner sets meanwhile is not read.
func (b *Batch) read(ctx context.Context, template string) (*opened, error) {
	if o := b.templates[template]; o != nil {
		return o, nil
	}
	rows, err := b.vault.Store.Secrets(ctx, rota.SecretQuery{Template: template, Limit: rota.SecretsMax})
	o := &opened{rows: rows}
	if err == nil && len(rows) > 0 {
		o.template, err = b.vault.Store.Template(ctx, template)
	}
	if err != nil {
		return nil, err
	}
	b.templates[template] = o
	return o, nil
}

func (v *Vault) openAll(ctx context.Context, rows []*rota.Secret) (map[string]string, error) {
	values := map[string]string{}
	for _, s := range rows {
		value, err := v.openRow(ctx, s)
		if err != nil {
			return nil, err
		}
		values[s.Key] = value
	}
	return values, nil
}

// openRow opens a secret. A rotation may have sealed the value by another key after the row was read, and removed the earlier key. The
// row is then read once more; only the same value counts, because it may not be one of another owner.
func (v *Vault) openRow(ctx context.Context, s *rota.Secret) (string, error) {
	value, err := v.Keyring.Open(s.Template, s.Key, s.Sealed)
	if rota.CodeOf(err) != rota.Unavailable {
		return string(value), err
	}
	again, failed := v.Store.Secret(ctx, rota.SecretName{Template: s.Template, Key: s.Key})
	if failed != nil || again.Version != s.Version || again.Sealed == s.Sealed {
		return "", err
	}
	value, err = v.Keyring.Open(again.Template, again.Key, again.Sealed)
	return string(value), err
}

// noTemplate is the error about a job without a template.
func noTemplate() error {
	return &rota.Error{Code: rota.NotFound, Reason: "the job has no template, and secrets belong to templates", Hint: "create it from a template: rota job create --template NAME"}
}

// originsMax bounds the redrives of redrives that are followed to their first execution.
const originsMax = 100

// mayHave refuses secrets to a job unless the user that it runs for owns its template and the definition of the template is
// older than the job. Otherwise its params are those of another owner or of another definition, who could send the
// secrets anywhere. The same holds for the first
// attempt of its execution and for the executions that it redrives.
func (v *Vault) mayHave(ctx context.Context, job *rota.Job, t *rota.Template) error {
	origin := job
	for range originsMax {
		if err := receives(origin, t); err != nil {
			return err
		}
		before := origin.RedriveOf
		if origin.ExecutionID != origin.ID {
			before = origin.ExecutionID
		}
		if before.IsZero() {
			return nil
		}
		var err error
		if origin, err = v.Store.Job(ctx, before); rota.CodeOf(err) == rota.NotFound {
			return tooOld(t) // it was pruned
		} else if err != nil {
			return err
		}
	}
	return tooOld(t)
}

func receives(job *rota.Job, t *rota.Template) error {
	switch {
	case t.Owner == "" || job.CreatedAt.Before(t.Since):
		return tooOld(t)
	case job.RunsFor() != t.Owner:
		return rota.Permanent(&rota.Error{
			Code: rota.Denied, Act: "secret", Reason: "the job runs for user " + job.RunsFor() + ", and template " + t.Name + " belongs to user " + t.Owner + " now, so it gets none of its secrets",
			Hint: "create a new job: rota job create --template " + t.Name,
		})
	}
	return nil
}

func tooOld(t *rota.Template) error {
	return &rota.Error{Code: rota.NotFound, Reason: "the job is older than the definition of template " + t.Name + ", so it gets none of its secrets", Hint: "create a new job"}
}
