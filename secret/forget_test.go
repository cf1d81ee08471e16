package secret_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/secret"
)

// halfLost is a store with values of two keys, and a data directory with the earlier key only.
type halfLost struct {
	*testing.T
	store rota.Store
	dir   string
	lost  string
}

// newHalfLost cuts off a rotation after its promotion, sets values with the new key, and brings the earlier file back.
func newHalfLost(t *testing.T) *halfLost {
	ctx := context.Background()
	l := &halfLost{T: t, store: open(t), dir: t.TempDir()}
	ring := load(t, l.dir)
	put(t, l.store, ring, "KEPT", "value")
	text, err := os.ReadFile(filepath.Join(l.dir, secret.FileName))
	l.must(err)
	l.putHooks(ring, "kept")
	state, err := l.store.SecretState(ctx)
	l.must(err)
	rotation := &secret.Rotation{Keyring: ring, Store: l.store}
	l.must(rotation.Add(&state))
	l.must(rotation.Promote(ctx, &state))
	_, l.lost = ring.Keys()
	put(t, l.store, ring, "LOST", "value")
	l.putHooks(ring, "lost")
	spec := rota.ScheduleSpec{Template: "dropped", Every: time.Hour}
	l.putTemplate(ring, "dropped", "lost")
	declared, err := rota.Declare(rota.NewMeta(""), "dropped", spec, time.Now())
	l.must(err)
	_, err = rota.Do[*rota.SchedulePut](ctx, l.store, declared)
	l.must(err)
	_, err = rota.Do[*rota.Dropped](ctx, l.store, &rota.Drop{Meta: rota.NewMeta(""), Name: "dropped"})
	l.must(err)
	l.must(os.WriteFile(filepath.Join(l.dir, secret.FileName), text, 0o600))
	return l
}

func (l *halfLost) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// putHooks adds a global webhook, and one of a template.
func (l *halfLost) putHooks(ring *secret.Keyring, name string) {
	l.Helper()
	stored, err := l.store.Webhooks(context.Background())
	l.must(err)
	putWebhooks(l.T, l.store, append(stored.Spec, l.hook(ring, "", name)))
	l.putTemplate(ring, "hooked-"+name, name)
}

func (l *halfLost) hook(ring *secret.Keyring, template, name string) rota.Webhook {
	l.Helper()
	hooks := []rota.Webhook{{URL: hookURL + "/" + name, Secret: "value"}}
	hooks, err := (&secret.Vault{Keyring: ring, Store: l.store}).SealWebhooks(context.Background(), template, hooks, nil)
	l.must(err)
	return hooks[0]
}

func (l *halfLost) putTemplate(ring *secret.Keyring, template, name string) {
	l.Helper()
	spec := rota.TemplateSpec{Type: "noop", Webhooks: []rota.Webhook{l.hook(ring, template, name)}}
	_, err := rota.Do[*rota.TemplatePut](context.Background(), l.store, &rota.PutTemplate{Meta: rota.NewMeta(""), Name: template, Spec: spec})
	l.must(err)
}

// wantForgotten wants that what needs the kept key is as it was, and that the store needs no other key.
func (l *halfLost) wantForgotten(ring *secret.Keyring) {
	l.Helper()
	ctx := context.Background()
	vault := &secret.Vault{Keyring: ring, Store: l.store}
	wantValues(l.T, l.store, ring, 1)
	if _, err := l.store.Secret(ctx, rota.SecretName{Template: "backup", Key: "KEPT"}); err != nil {
		l.Error(err)
	}
	global, err := l.store.Webhooks(ctx)
	l.must(err)
	lists := map[string][]rota.Webhook{"": global.Spec}
	for _, name := range []string{"hooked-kept", "hooked-lost", "dropped"} {
		t, err := l.store.Template(ctx, name)
		l.must(err)
		lists[name] = t.Spec.Webhooks
		if name == "dropped" && t.Owner != "" {
			l.Errorf("the dropped template is that of %s again", t.Owner)
		}
	}
	for template, hooks := range lists {
		for _, h := range hooks {
			value, err := vault.OpenWebhook(template, &h)
			if kept := strings.HasSuffix(h.URL, "/kept"); err != nil || kept != (value == "value") || len(value) < 5 {
				l.Errorf("%s of %q: %q, %v", h.URL, template, value, err)
			}
		}
	}
	state, err := l.store.SecretState(ctx)
	l.must(err)
	if all, _ := ring.Keys(); len(all) != 1 || state.Primary != all[0] || !slices.Equal(state.Needed, all) {
		l.Errorf("keys %v, state %+v", all, state)
	}
}

// audited returns the subjects of audit entries of an act.
func (l *halfLost) audited(act string) (subjects []string) {
	page, err := l.store.Audit(context.Background(), rota.AuditQuery{Acts: []string{act}})
	l.must(err)
	for _, e := range page.Entries {
		subjects = append(subjects, e.Subject)
	}
	slices.Sort(subjects)
	return subjects
}

// TestSecretsOfLostKeysAreForgotten ends the deletion after each of its commands. Without the key nothing opens before, and the next
// run finishes.
func TestSecretsOfLostKeysAreForgotten(t *testing.T) {
	ctx := context.Background()
	for left, cut := 0, true; cut; left++ {
		l := newHalfLost(t)
		ring := load(t, l.dir)
		named := map[string]bool{}
		forget := &secret.Forget{Keyring: ring, Store: &cutStore{Store: l.store, left: left}, Actor: "system"}
		forget.Deleted = func(what, template, key, fingerprint string) {
			if fingerprint != l.lost {
				t.Errorf("%s %s/%s of the key %s is deleted", what, template, key, fingerprint)
			}
			named[what+" "+template+"/"+key] = true
		}
		lost, err := forget.Run(ctx)
		if cut = errors.Is(err, errCut); err != nil && !cut || !slices.Equal(lost, []string{l.lost}) {
			t.Fatalf("after %d commands: %v, %v", left, lost, err)
		}
		forget.Keyring, forget.Store = load(t, l.dir), l.store
		if _, err := forget.Run(ctx); err != nil {
			t.Fatalf("after %d commands: %v", left, err)
		}
		l.wantForgotten(forget.Keyring)
		if len(named) != 4 {
			t.Errorf("it named %v", named)
		}
		if got := l.audited(rota.AuditSecretDeleted); !slices.Equal(got, []string{"secret backup/LOST"}) {
			t.Errorf("deleted %v", got)
		}
		if got := l.audited(rota.AuditTemplateModified); !slices.Equal(got, []string{"template hooked-lost"}) {
			t.Errorf("modified %v", got)
		}
		if got := l.audited(rota.AuditSecretRotated); len(got) != 2 {
			t.Errorf("rotated %v", got)
		}
		if lost, err := forget.Run(ctx); err != nil || len(lost) > 0 {
			t.Errorf("there is nothing more to forget: %v, %v", lost, err)
		}
		if !cut && left < 5 {
			t.Errorf("it took %d commands only", left)
		}
	}
}

// TestAllSecretsAreForgotten: without any keyset, the store is as if it never had a secret. Nothing creates a keyset.
func TestAllSecretsAreForgotten(t *testing.T) {
	dir, store := t.TempDir(), open(t)
	put(t, store, load(t, dir), "A", "value")
	empty := t.TempDir()
	forget := &secret.Forget{Keyring: load(t, empty), Store: store, Deleted: func(_, _, _, _ string) {}}
	if lost, err := forget.Run(t.Context()); err != nil || len(lost) != 1 {
		t.Fatal(lost, err)
	}
	if files, _ := os.ReadDir(empty); len(files) > 0 {
		t.Errorf("it wrote %v", files)
	}
	vault := &secret.Vault{Keyring: load(t, empty), Store: store}
	sealed, err := vault.SealFor(t.Context(), "backup", "A", []byte("value"))
	if err == nil {
		_, err = rota.Do[*rota.SecretPut](t.Context(), store, &rota.PutSecret{Meta: rota.NewMeta(""), Template: "backup", Key: "A", Sealed: sealed})
	}
	if err != nil {
		t.Fatal(err)
	}
	wantValues(t, store, load(t, empty), 1)
}
