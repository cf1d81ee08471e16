package secret

import (
	"context"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"

	"github.com/rotajobs/rota"
)

// Rotation replaces the primary key of a store and of a keyring. Its steps can be repeated; what a step that was cut off
// has left is enough for the next rotation to continue:
//
//	Add      the file gets a new key behind the primary one
//	Promote  the store seals new values with it, then the file names it as its primary key
//	Rewrap   the values of earlier keys are sealed again, in pages
//	Retire   the file loses the keys before the primary one that no value needs
type Rotation struct {
	Keyring *Keyring
	Store   rota.Store
	Actor   string

	// Others returns the names of the other nodes of the store that live now. They need a new key in their files before values
	// are sealed with it, so a rotation ends after the step Add while there are some, and the next one continues. Nil: none.
	Others func(ctx context.Context) ([]string, error)
	Now    bool // do not wait for the other nodes

	Repeated bool // a request that is sent again: that the file was copied meanwhile must not be concluded from it
}

// Rotated is the result of a rotation.
type Rotated struct {
	From, To  string // fingerprints; From is empty if the rotation continued after the store had promoted the key
	Rewrapped int    // values that were sealed again, with those of webhooks
	Webhooks  int    // of these, secrets of webhooks
	Retired   int    // keys that were removed from the file

	// Pending lists the other nodes of the store if the key To was only added to the file of this one.
	Pending []string
}

// Run performs all steps. It continues a rotation that was cut off and begins no other one then.
func (t *Rotation) Run(ctx context.Context) (done Rotated, err error) {
	state, err := t.Store.SecretState(ctx)
	if err != nil {
		return done, err
	}
	if state.Primary == "" && state.Plain > 0 {
		return t.sealPlain(ctx)
	}
	if state.Primary == "" {
		return done, &rota.Error{Code: rota.Conflict, Act: "rotate", Reason: "the store has no secrets, so there is no key to rotate", Hint: "set a secret first: rota secret set TEMPLATE/KEY"}
	}
	if err := t.Keyring.CheckNeeded(append(slices.Clone(state.Needed), state.Primary)); err != nil {
		return done, err
	}
	if _, err := t.Keyring.Primary(state.Primary); err != nil { // the file must have it too
		return done, err
	}
	done.To = state.Primary
	began := !t.Continues(&state)
	if began {
		if err := t.Add(&state); err != nil {
			return done, err
		}
	}
	if began || t.Repeated && t.pending(&state) != "" {
		if done.Pending, err = t.waitFor(ctx); err != nil {
			return done, err
		}
		if len(done.Pending) > 0 {
			done.From, done.To = state.Primary, t.pending(&state)
			return done, nil
		}
	}
	if next := t.pending(&state); next != "" {
		done.From, done.To = state.Primary, next
	}
	if err := t.Promote(ctx, &state); err != nil {
		return done, err
	}
	if done.Rewrapped, err = t.Rewrap(ctx, done.To); err != nil {
		return done, err
	}
	done.Webhooks, err = t.RewrapWebhooks(ctx, done.To)
	if done.Rewrapped += done.Webhooks; err != nil {
		return done, err
	}
	done.Retired, err = t.Retire(ctx)
	return done, err
}

// waitFor returns the other nodes that need a new key in their files before it is used.
func (t *Rotation) waitFor(ctx context.Context) ([]string, error) {
	if t.Others == nil || t.Now {
		return nil, nil
	}
	return t.Others(ctx)
}

// sealPlain seals the secrets of webhooks that an earlier version has stored as they are, in a store that has never had a key. A key that the
// file already has was created by an earlier run.
func (t *Rotation) sealPlain(ctx context.Context) (done Rotated, err error) {
	all, _ := t.Keyring.Keys()
	if done.To, err = t.Keyring.Primary(""); err != nil {
		return done, err
	}
	if len(all) == 0 || t.Repeated {
		if done.Pending, err = t.waitFor(ctx); err != nil || len(done.Pending) > 0 {
			return done, err
		}
	}
	done.Webhooks, err = t.RewrapWebhooks(ctx, done.To)
	done.Rewrapped = done.Webhooks
	return done, err
}

// pending returns the newest key behind the primary one of the store, "" if there is none.
func (t *Rotation) pending(state *rota.SecretState) string {
	all, _ := t.Keyring.Keys()
	if i := slices.Index(all, state.Primary); i >= 0 && i < len(all)-1 {
		return all[len(all)-1]
	}
	return ""
}

// Continues reports whether an earlier rotation was cut off: a key waits to be promoted, the file names another primary
// key, or there are earlier keys.
func (t *Rotation) Continues(state *rota.SecretState) bool {
	all, primary := t.Keyring.Keys()
	return len(all) > 1 || primary != state.Primary
}

// Add adds a key to the file, which does not seal values yet.
func (t *Rotation) Add(state *rota.SecretState) error {
	return t.Keyring.edit(state.Primary, func(m *keyset.Manager, _ []string, _ *tinkpb.Keyset) error {
		_, err := m.Add(aead.AES256GCMKeyTemplate())
		return err
	})
}

// Promote makes the newest key the primary one, of the store first: until the file names it too, new values are sealed
// with it nevertheless, because the store's primary key counts.
func (t *Rotation) Promote(ctx context.Context, state *rota.SecretState) error {
	to := state.Primary
	if next := t.pending(state); next != "" {
		to = next
		_, err := rota.Do[*rota.SecretKeyPromoted](ctx, t.Store, &rota.PromoteSecretKey{Meta: rota.NewMeta(t.Actor), From: state.Primary, To: to})
		if err != nil {
			return err
		}
	}
	if _, primary := t.Keyring.Keys(); primary == to {
		return nil
	}
	return t.Keyring.edit(to, func(m *keyset.Manager, order []string, set *tinkpb.Keyset) error {
		i := slices.Index(order, to)
		if i < 0 {
			return &rota.Error{Code: rota.Unavailable, Act: "master key", Reason: "the key " + to + " has left the file"}
		}
		return m.SetPrimary(set.Key[i].KeyId)
	})
}

// Rewrap seals the values of other keys with the given one, page by page.
func (t *Rotation) Rewrap(ctx context.Context, to string) (count int, err error) {
	for {
		page, err := t.Store.Secrets(ctx, rota.SecretQuery{Fingerprint: to, Limit: rota.RewrapMax})
		if err != nil || len(page) == 0 {
			return count, err
		}
		c := &rota.RewrapSecrets{Meta: rota.NewMeta(t.Actor)}
		for _, s := range page {
			value, err := t.Keyring.Open(s.Template, s.Key, s.Sealed)
			if err != nil {
				return count, err
			}
			sealed, err := t.Keyring.Seal(to, s.Template, s.Key, value)
			clear(value)
			if err != nil {
				return count, err
			}
			c.Items = append(c.Items, rota.RewrappedSecret{Template: s.Template, Key: s.Key, Version: s.Version, Was: s.Fingerprint(), Sealed: sealed})
		}
		done, err := rota.Do[*rota.SecretsRewrapped](ctx, t.Store, c)
		if err != nil {
			return count, err
		}
		count += done.Rewrapped
		if done.Rewrapped == 0 {
			if err := t.checkPrimary(ctx, to); err != nil {
				return count, err
			}
		}
	}
}

// checkPrimary fails if the store uses another key: then another rotation seals the values again.
func (t *Rotation) checkPrimary(ctx context.Context, fingerprint string) error {
	state, err := t.Store.SecretState(ctx)
	if err != nil || state.Primary == fingerprint {
		return err
	}
	return &rota.Error{
		Code: rota.Conflict, Act: "rotate", Reason: "another rotation has promoted the key " + state.Primary + " meanwhile, so no value is sealed with " + fingerprint + " any more",
		Hint: "wait for that rotation; if it was cut off, run rota secret rotate again",
	}
}

// Retire removes the keys before the primary one that no value needs. No value can come to need them: the store accepts
// only values of its primary key.
func (t *Rotation) Retire(ctx context.Context) (retired int, err error) {
	state, err := t.Store.SecretState(ctx)
	if err != nil {
		return 0, err
	}
	all, _ := t.Keyring.Keys()
	last := slices.Index(all, state.Primary)
	if last <= 0 {
		return 0, nil
	}
	err = t.Keyring.edit(state.Primary, func(m *keyset.Manager, order []string, set *tinkpb.Keyset) error {
		for i, fingerprint := range order[:max(0, slices.Index(order, state.Primary))] {
			if slices.Contains(state.Needed, fingerprint) {
				continue
			}
			if err := m.Delete(set.Key[i].KeyId); err != nil {
				return err
			}
			retired++
		}
		return nil
	})
	return retired, err
}

// edit changes the keyset of the file, which must have the key of the store.
func (r *Keyring) edit(ofStore string, change func(m *keyset.Manager, order []string, set *tinkpb.Keyset) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.change(ofStore, func(old *keyset.Handle) (*keyset.Handle, error) {
		if old == nil {
			return nil, &rota.Error{Code: rota.Unavailable, Act: "master key", Reason: "its file is gone", Hint: "restore the file from where you keep it apart from backups"}
		}
		m := keyset.NewManagerFromHandle(old)
		set := insecurecleartextkeyset.KeysetMaterial(old)
		order := make([]string, len(set.Key))
		for i, key := range set.Key {
			order[i] = fingerprintOf(key)
		}
		if err := change(m, order, set); err != nil {
			return nil, err
		}
		return m.Handle()
	})
}
