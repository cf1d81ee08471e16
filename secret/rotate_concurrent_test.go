package secret_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/secret"
)

// overtakenStore promotes another key before the first page of new ciphertexts.
type overtakenStore struct {
	rota.Store
	promote func()
	once    sync.Once
}

func (o *overtakenStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if b.Commands[0].Verb() == rota.VerbRewrapSecrets {
		o.once.Do(o.promote)
	}
	return o.Store.Apply(ctx, b)
}

// TestRotationThatWasOvertakenEnds runs a whole rotation inside another one.
func TestRotationThatWasOvertakenEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir, store := t.TempDir(), open(t)
	put(t, store, load(t, dir), "A", "value")
	overtaken := &overtakenStore{Store: store, promote: func() {
		ring := load(t, dir)
		state, err := store.SecretState(ctx)
		if err != nil {
			t.Fatal(err)
		}
		rotation := &secret.Rotation{Keyring: ring, Store: store}
		if err := rotation.Add(&state); err != nil {
			t.Fatal(err)
		}
		if err := rotation.Promote(ctx, &state); err != nil {
			t.Fatal(err)
		}
		_, to := ring.Keys()
		if _, err := rotation.Rewrap(ctx, to); err != nil {
			t.Fatal(err)
		}
	}}
	_, err := (&secret.Rotation{Keyring: load(t, dir), Store: overtaken}).Run(ctx)
	if rota.CodeOf(err) != rota.Conflict {
		t.Errorf("the overtaken rotation: %v", err)
	}
	wantRotated(ctx, t, dir, store, 1)
}

// wantRotated finishes a rotation, and wants every value and one key.
func wantRotated(ctx context.Context, t *testing.T, dir string, store rota.Store, values int) {
	t.Helper()
	wantValues(t, store, load(t, dir), values)
	if _, err := (&secret.Rotation{Keyring: load(t, dir), Store: store}).Run(ctx); err != nil {
		t.Fatal(err)
	}
	wantValues(t, store, load(t, dir), values)
	all, p := load(t, dir).Keys()
	state, err := store.SecretState(ctx)
	if err != nil || len(all) != 1 || p != state.Primary || len(state.Needed) != 1 || state.Needed[0] != p {
		t.Errorf("keys %v, primary %s, state %+v, %v", all, p, state, err)
	}
}

// TestConcurrentRotationsLoseNothing runs rotations of three processes of a data directory, while values are set.
func TestConcurrentRotationsLoseNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	dir, store := t.TempDir(), open(t)
	ring := load(t, dir)
	for _, key := range []string{"A", "B", "C", "D"} {
		put(t, store, ring, key, "value")
	}
	for range 3 {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				_, err := (&secret.Rotation{Keyring: load(t, dir), Store: store}).Run(ctx)
				if code := rota.CodeOf(err); err != nil && code != rota.Conflict && code != rota.Unavailable {
					t.Errorf("a rotation: %v", err)
				}
			})
		}
		all.Go(func() {
			vault := &secret.Vault{Keyring: load(t, dir), Store: store}
			for range 20 {
				sealed, err := vault.SealFor(ctx, "backup", "A", []byte("value"))
				if err == nil {
					_, err = rota.Do[*rota.SecretPut](ctx, store, &rota.PutSecret{Meta: rota.NewMeta(""), Template: "backup", Key: "A", Sealed: sealed})
				}
				if code := rota.CodeOf(err); err != nil && code != rota.Conflict { // promoted between the two
					t.Errorf("a set: %v", err)
				}
			}
		})
		all.Wait()
		wantValues(t, store, load(t, dir), 4)
	}
	wantRotated(ctx, t, dir, store, 4)
}

// rotatedStore rotates the key after the next read of secrets.
type rotatedStore struct {
	rota.Store
	rotate func()
}

func (s *rotatedStore) Secret(ctx context.Context, n rota.SecretName) (*rota.Secret, error) {
	one, err := s.Store.Secret(ctx, n)
	s.rotateOnce()
	return one, err
}

func (s *rotatedStore) Secrets(ctx context.Context, q rota.SecretQuery) ([]*rota.Secret, error) {
	all, err := s.Store.Secrets(ctx, q)
	s.rotateOnce()
	return all, err
}

func (s *rotatedStore) rotateOnce() {
	if rotate := s.rotate; rotate != nil {
		s.rotate = nil
		rotate()
	}
}

// TestSecretIsOpenedDuringARotation: the rotation removes the key between the read of a secret and its opening. A value that another
// owner may have set meanwhile is not opened.
func TestSecretIsOpenedDuringARotation(t *testing.T) {
	ctx := context.Background()
	ring, base := load(t, t.TempDir()), open(t)
	store := &rotatedStore{Store: base}
	vault := &secret.Vault{Keyring: ring, Store: store}
	put(t, base, ring, "A", "value")
	job := enqueueBackup(t, base)
	rotate := func() {
		if _, err := (&secret.Rotation{Keyring: ring, Store: base}).Run(ctx); err != nil {
			t.Error(err)
		}
	}
	store.rotate = rotate
	if value, err := vault.Secret(ctx, job, "A"); err != nil || value != "value" || store.rotate != nil {
		t.Errorf("one: %q, %v", value, err)
	}
	store.rotate = rotate
	if values, err := vault.Secrets(ctx, job); err != nil || values["A"] != "value" || store.rotate != nil {
		t.Errorf("all: %q, %v", values, err)
	}
	store.rotate = func() {
		rotate()
		put(t, base, ring, "A", "another value")
	}
	if value, err := vault.Secret(ctx, job, "A"); rota.CodeOf(err) != rota.Unavailable || value != "" {
		t.Errorf("a value that was set meanwhile: %q, %v", value, err)
	}
}
