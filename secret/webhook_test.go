package secret_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/secret"
)

const hookURL = "https://example.org/hook"

func putWebhooks(t *testing.T, store rota.Store, hooks []rota.Webhook) {
	t.Helper()
	if _, err := rota.Do[*rota.WebhooksPut](context.Background(), store, &rota.PutWebhooks{Meta: rota.NewMeta(""), Spec: hooks}); err != nil {
		t.Fatal(err)
	}
}

// TestWebhookSecretOpensForItsTemplateAndAddressOnly copies the sealed secret of a webhook to other places.
func TestWebhookSecretOpensForItsTemplateAndAddressOnly(t *testing.T) {
	ctx, ring := context.Background(), load(t, t.TempDir())
	vault := &secret.Vault{Keyring: ring, Store: open(t)}
	sealed, err := vault.SealWebhooks(ctx, "mail", []rota.Webhook{{URL: hookURL, Secret: "between us"}}, nil)
	if err != nil || !rota.IsSealed(sealed[0].Secret) || strings.Contains(sealed[0].Secret, "between") {
		t.Fatalf("%v, %v", sealed, err)
	}
	if value, err := vault.OpenWebhook("mail", &sealed[0]); err != nil || value != "between us" {
		t.Errorf("%q, %v", value, err)
	}
	for name, place := range map[string]struct{ template, url string }{
		"another template": {"other", hookURL}, "the global list": {"", hookURL}, "another address": {"mail", hookURL + "/2"},
	} {
		moved := []rota.Webhook{{URL: place.url, Secret: sealed[0].Secret}}
		if value, err := vault.OpenWebhook(place.template, &moved[0]); rota.CodeOf(err) != rota.Invalid || value != "" {
			t.Errorf("%s: %q, %v", name, value, err)
		}
		if _, err := vault.SealWebhooks(ctx, place.template, moved, nil); rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "webhooks[0].secret") {
			t.Errorf("%s is accepted: %v", name, err)
		}
	}
	if _, err := ring.Open("mail", hookURL, sealed[0].Secret); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("it opens as a secret of a template: %v", err)
	}
}

// TestUnchangedWebhookSecretKeepsItsCiphertext declares the same webhook again.
func TestUnchangedWebhookSecretKeepsItsCiphertext(t *testing.T) {
	ctx, ring := context.Background(), load(t, t.TempDir())
	vault := &secret.Vault{Keyring: ring, Store: open(t)}
	given := []rota.Webhook{{URL: hookURL, Secret: "one"}, {URL: hookURL + "/2", Secret: "two"}}
	first, err := vault.SealWebhooks(ctx, "", given, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := vault.SealWebhooks(ctx, "", given, first)
	if err != nil || !rota.EqualWebhooks(first, second) {
		t.Errorf("%v, %v", second, err)
	}
	given[1].Secret = "other"
	third, err := vault.SealWebhooks(ctx, "", given, first)
	if err != nil || third[0].Secret != first[0].Secret || third[1].Secret == first[1].Secret || third[1].Secret == "other" {
		t.Errorf("%v, %v", third, err)
	}
	if given[1].Secret != "other" {
		t.Error("the webhooks of the caller changed")
	}
	var none *secret.Vault
	if plain, err := none.SealWebhooks(ctx, "", given, nil); err != nil || plain[0].Secret != "one" {
		t.Errorf("without a vault: %v, %v", plain, err)
	}
	if _, err := none.OpenWebhook("", &first[0]); rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("without a vault: %v", err)
	}
}

// TestRotationSealsWebhooks: a rotation seals the secrets of an earlier version, and those of an earlier key.
func TestRotationSealsWebhooks(t *testing.T) {
	ctx, dir, store := context.Background(), t.TempDir(), open(t)
	ring := load(t, dir)
	putWebhooks(t, store, []rota.Webhook{{URL: hookURL, Secret: "one"}})
	c := &rota.PutTemplate{Meta: rota.NewMeta(""), Name: "mail", Spec: rota.TemplateSpec{Type: "mail", Webhooks: []rota.Webhook{{URL: hookURL, Secret: "two"}}}}
	if _, err := rota.Do[*rota.TemplatePut](ctx, store, c); err != nil {
		t.Fatal(err)
	}
	if state, err := store.SecretState(ctx); err != nil || state.Plain != 2 || len(state.Needed) > 0 {
		t.Fatalf("%+v, %v", state, err)
	}
	rotation := &secret.Rotation{Keyring: ring, Store: store}
	vault := &secret.Vault{Keyring: ring, Store: store}
	last := ""
	for range 3 {
		done, err := rotation.Run(ctx)
		if err != nil || done.Rewrapped != 2 || done.To == last {
			t.Fatalf("%+v, %v", done, err)
		}
		last = done.To
		state, err := store.SecretState(ctx)
		if err != nil || state.Plain != 0 || len(state.Needed) != 1 || state.Needed[0] != done.To || state.Primary != done.To {
			t.Errorf("%+v, %v", state, err)
		}
		hooks, err := store.Webhooks(ctx)
		if err != nil {
			t.Fatal(err)
		}
		template, err := store.Template(ctx, "mail")
		if err != nil {
			t.Fatal(err)
		}
		one, err := vault.OpenWebhook("", &hooks.Spec[0])
		two, err2 := vault.OpenWebhook("mail", &template.Spec.Webhooks[0])
		if one != "one" || two != "two" || err != nil || err2 != nil {
			t.Errorf("%q, %v; %q, %v", one, err, two, err2)
		}
		if keys, _ := ring.Keys(); len(keys) != 1 {
			t.Errorf("keys %v", keys)
		}
	}
	// A node without the key is refused, though only webhooks need it.
	state, _ := store.SecretState(ctx)
	if err := load(t, t.TempDir()).CheckNeeded(state.Needed); rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, secret.FileName)); err != nil || len(text) == 0 {
		t.Error(err)
	}
}

// TestRotationCutOffBetweenWebhooksContinues: the secrets of webhooks are sealed again after the process was killed.
func TestRotationCutOffBetweenWebhooksContinues(t *testing.T) {
	ctx, store, ring := context.Background(), open(t), load(t, t.TempDir())
	vault := &secret.Vault{Keyring: ring, Store: store}
	sealed, err := vault.SealWebhooks(ctx, "", []rota.Webhook{{URL: hookURL, Secret: "one"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	putWebhooks(t, store, sealed)
	if _, err := (&secret.Rotation{Keyring: ring, Store: &cutStore{Store: store, left: 1}}).Run(ctx); onlyCut(err) != nil {
		t.Fatal(err)
	}
	state, _ := store.SecretState(ctx)
	if len(state.Needed) != 1 || state.Needed[0] == state.Primary {
		t.Fatalf("%+v", state)
	}
	if done, err := (&secret.Rotation{Keyring: ring, Store: store}).Run(ctx); err != nil || done.Rewrapped != 1 || done.Retired != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	hooks, err := store.Webhooks(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if value, err := vault.OpenWebhook("", &hooks.Spec[0]); err != nil || value != "one" {
		t.Errorf("%q, %v", value, err)
	}
}

// TestFirstKeyOfPlainWebhooksWaitsForOtherNodes: the other nodes could not sign deliveries if secrets were sealed before they have the key.
func TestFirstKeyOfPlainWebhooksWaitsForOtherNodes(t *testing.T) {
	ctx, store, dir := context.Background(), open(t), t.TempDir()
	putWebhooks(t, store, []rota.Webhook{{URL: hookURL, Secret: "between us"}})
	rotation := &secret.Rotation{Keyring: load(t, dir), Store: store, Others: func(context.Context) ([]string, error) { return []string{"b"}, nil }}
	for _, repeated := range []bool{false, true} { // the same request again does not mean that the file was copied
		rotation.Repeated = repeated
		done, err := rotation.Run(ctx)
		if all, _ := rotation.Keyring.Keys(); err != nil || len(done.Pending) != 1 || len(all) != 1 || done.To != all[0] {
			t.Fatalf("%+v, %v", done, err)
		}
		if state, err := store.SecretState(ctx); err != nil || state.Plain != 1 {
			t.Fatalf("%+v, %v", state, err)
		}
	}
	rotation.Repeated = false
	if done, err := rotation.Run(ctx); err != nil || done.Webhooks != 1 || done.Rewrapped != 1 || len(done.Pending) > 0 {
		t.Errorf("%+v, %v", done, err)
	}
	again := open(t)
	putWebhooks(t, again, []rota.Webhook{{URL: hookURL, Secret: "between us"}})
	now := &secret.Rotation{Keyring: load(t, t.TempDir()), Store: again, Others: rotation.Others, Now: true}
	if done, err := now.Run(ctx); err != nil || done.Webhooks != 1 || len(done.Pending) > 0 {
		t.Errorf("with now: %+v, %v", done, err)
	}
}

// TestRepeatedRotationDoesNotPromote: a request that the network delivers twice adds a key, and does not use it.
func TestRepeatedRotationDoesNotPromote(t *testing.T) {
	ctx, store, ring := context.Background(), open(t), load(t, t.TempDir())
	put(t, store, ring, "A", "value")
	first := primary(t, ring)
	rotation := &secret.Rotation{Keyring: ring, Store: store, Others: func(context.Context) ([]string, error) { return []string{"b"}, nil }}
	for _, repeated := range []bool{false, true} {
		rotation.Repeated = repeated
		if done, err := rotation.Run(ctx); err != nil || len(done.Pending) != 1 || done.From != first {
			t.Errorf("%+v, %v", done, err)
		}
	}
	if state, err := store.SecretState(ctx); err != nil || state.Primary != first {
		t.Errorf("%+v, %v", state, err)
	}
}
