package node

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/secret"
)

// overtakenStore calls a function once, before it applies a secret or a list of webhooks that was sealed already.
type overtakenStore struct {
	rota.Store
	rotate func()
}

func (o *overtakenStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	commands := slices.Clone(b.Commands)
	for _, c := range b.Commands {
		if all, is := c.(*rota.All); is && !all.Dry {
			commands = append(commands, all.Members...)
		}
	}
	sealed := func(c rota.Command) bool { return c.Verb() == rota.VerbPutSecret || c.Verb() == rota.VerbPutWebhooks }
	if rotate := o.rotate; rotate != nil && slices.ContainsFunc(commands, sealed) {
		o.rotate = nil
		rotate()
	}
	return o.Store.Apply(ctx, b)
}

// TestSecretSetBesideRotationIsSealedAgain rotates the key after a value was sealed and before the store has it.
func TestSecretSetBesideRotationIsSealedAgain(t *testing.T) {
	overtaken := &overtakenStore{}
	l := start(t, Config{Data: t.TempDir(), Wrap: func(s rota.Store) rota.Store { overtaken.Store = s; return overtaken }})
	l.wantStatus(200, "POST", "/sql", `{"statement":"CREATE JOB nightly SCHEDULE = EVERY 1 HOUR AS CALL noop()"}`)
	l.wantStatus(200, "PUT", "/secrets/nightly/FIRST", `{"value":"swordfish"}`)
	rotated := 0
	rotate := func() {
		rotated++
		if _, err := (&secret.Rotation{Keyring: l.vault.Keyring, Store: overtaken.Store}).Run(context.Background()); err != nil {
			t.Error(err)
		}
	}
	for _, request := range [][3]string{
		{"PUT", "/secrets/nightly/TOKEN", `{"value":"swordfish"}`},
		{"POST", "/sql", `{"statement":"ALTER JOB nightly SET SECRET 'OTHER' = 'swordfish'"}`},
		{"PUT", "/webhooks", `{"webhooks":[{"url":"https://example.org/hook","events":["job.dead"],"secret":"0123456789abcdef"}]}`},
		{"PUT", "/definitions", `{"webhooks":[{"url":"https://example.org/other","events":["job.dead"],"secret":"0123456789abcdef"}]}`},
	} {
		overtaken.rotate = rotate
		l.wantStatus(200, request[0], request[1], request[2])
	}
	overtaken.rotate = rotate
	if text := l.wantStatus(409, "POST", "/sql", `{"statement":"BEGIN; ALTER JOB nightly SET SECRET 'THIRD' = 'swordfish'; COMMIT"}`); !strings.Contains(text, "run the transaction again") {
		t.Error(text)
	}
	if rotated != 5 {
		t.Errorf("%d rotations", rotated)
	}
	for _, key := range []string{"FIRST", "TOKEN", "OTHER"} {
		s, err := l.store.Secret(context.Background(), rota.SecretName{Template: "nightly", Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if value, err := l.vault.Keyring.Open(s.Template, s.Key, s.Sealed); err != nil || string(value) != "swordfish" {
			t.Errorf("%s: %q, %v", key, value, err)
		}
	}
}
