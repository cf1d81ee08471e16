package transfer_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/transfer"
)

// TestCopyTakesSecrets copies a store in the middle of a rotation from SQLite to PostgreSQL and back, with and without
// history: the ciphertexts, the versions and both keys stay.
func TestCopyTakesSecrets(t *testing.T) {
	for _, history := range []bool{false, true} {
		first, second, third := newFile(t), newDatabase(t), newFile(t)
		const one, two = "0123456789abcdef", "fedcba9876543210"
		set := func(key string) *rota.PutSecret {
			return &rota.PutSecret{Meta: rota.NewMeta("ada"), Template: "backup", Key: key, Sealed: rota.FormatSealed(one, []byte("of "+key))}
		}
		a, b := set("A"), set("B")
		var log []rota.Batch
		for i, c := range []rota.Command{
			&rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: "backup", Spec: rota.TemplateSpec{Type: "mail"}}, a, b,
			&rota.PromoteSecretKey{Meta: rota.NewMeta("ada"), From: one, To: two},
			&rota.RewrapSecrets{Meta: rota.NewMeta("ada"), Items: []rota.RewrappedSecret{{Template: "backup", Key: "B", Version: b.ID, Was: one, Sealed: rota.FormatSealed(two, []byte("of B"))}}},
		} {
			log = append(log, rota.Batch{Now: time.Date(2026, 11, 15, 2, i, 0, 0, time.UTC), Commands: []rota.Command{c}})
		}
		fill(t, first, log)
		want, state := secretsOf(t, first)
		if len(want) != 2 || want[0].Sealed != a.Sealed || state.Primary != two || !reflect.DeepEqual(state.Needed, []string{one, two}) {
			t.Fatalf("the source has %+v and %+v", want, state)
		}
		for _, pair := range [][2]place{{first, second}, {second, third}} {
			if _, err := copyStore(t, pair[0], pair[1], transfer.Options{History: history}); err != nil {
				t.Fatal(err)
			}
			is, copied := secretsOf(t, pair[1])
			if !reflect.DeepEqual(is, want) || !reflect.DeepEqual(copied, state) {
				t.Errorf("with history %t the copy has %+v and %+v, want %+v and %+v", history, is, copied, want, state)
			}
		}
	}
}

// secretsOf returns the secrets of a store with their ciphertexts, and the keys that it needs.
func secretsOf(t *testing.T, at place) (all []*rota.Secret, state rota.SecretState) {
	t.Helper()
	s := at.read(t)
	defer s.Close()
	all, err := s.Secrets(t.Context(), rota.SecretQuery{})
	must(t, err)
	state, err = s.SecretState(t.Context())
	must(t, err)
	return all, state
}
