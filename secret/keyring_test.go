package secret_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/secret"
	"github.com/rotajobs/rota/store/sqlite"
)

func load(t *testing.T, dir string) *secret.Keyring {
	t.Helper()
	r, err := secret.Load(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func primary(t *testing.T, r *secret.Keyring) string {
	t.Helper()
	p, err := r.Primary("")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func seal(t *testing.T, r *secret.Keyring, template, key, value string) string {
	t.Helper()
	sealed, err := r.Seal(primary(t, r), template, key, []byte(value))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestFileIsCreatedWithFirstSecretOnly(t *testing.T) {
	dir := t.TempDir()
	r := load(t, dir)
	if all, _ := r.Keys(); len(all) != 0 || r.Fingerprint() != "" {
		t.Errorf("keys %v", all)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Fatalf("loading created %v", files)
	}
	seal(t, r, "backup", "A", "value")
	info, err := os.Stat(filepath.Join(dir, secret.FileName))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestSealedValueOpensOnlyForItsTemplateAndKey(t *testing.T) {
	r := load(t, t.TempDir())
	sealed := seal(t, r, "a", "bc", "the value")
	value, err := r.Open("a", "bc", sealed)
	if err != nil || string(value) != "the value" {
		t.Fatalf("%q, %v", value, err)
	}
	for _, other := range [][2]string{{"ab", "c"}, {"a", "b"}, {"", "abc"}, {"b", "bc"}} {
		if value, err := r.Open(other[0], other[1], sealed); rota.CodeOf(err) != rota.Invalid || value != nil {
			t.Errorf("%v: %q, %v", other, value, err)
		}
	}
	fingerprint, ciphertext, err := rota.ParseSealed(sealed)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ciphertext {
		changed := bytes.Clone(ciphertext)
		changed[i] ^= 1
		if _, err := r.Open("a", "bc", rota.FormatSealed(fingerprint, changed)); err == nil {
			t.Fatalf("the ciphertext opens with byte %d changed", i)
		}
	}
	if strings.Contains(sealed, "the value") || strings.Contains(sealed, base64.RawURLEncoding.EncodeToString([]byte("the value"))) {
		t.Error("the text contains the value")
	}
}

func TestValueHasALimit(t *testing.T) {
	r := load(t, t.TempDir())
	p := primary(t, r)
	sealed, err := r.Seal(p, "a", "b", bytes.Repeat([]byte{'x'}, rota.SecretMax))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := rota.ParseSealed(sealed); err != nil {
		t.Errorf("the largest value does not fit: %v", err)
	}
	for _, n := range []int{0, rota.SecretMax + 1} {
		if _, err := r.Seal(p, "a", "b", make([]byte, n)); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestFileThatOthersMayReadIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files")
	}
	dir := t.TempDir()
	r := load(t, dir)
	seal(t, r, "a", "b", "value")
	path := filepath.Join(dir, secret.FileName)
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := secret.Load(dir, "")
		if rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), path) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if err := errors.Join(os.Remove(path), os.Symlink("/dev/zero", path)); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.Load(dir, ""); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("a link: %v", err)
	}
}

func TestWrongFileIsNotShown(t *testing.T) {
	for _, text := range []string{"", "swordfish", `{"primaryKeyId":7}`, "{}"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, secret.FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := secret.Load(dir, "")
		if rota.CodeOf(err) != rota.Invalid || strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%q: %v", text, err)
		}
		_, err = secret.Load(dir, "swordfish!")
		if rota.CodeOf(err) != rota.Invalid || strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestVariableHoldsTheSameKeyset(t *testing.T) {
	dir := t.TempDir()
	r := load(t, dir)
	sealed := seal(t, r, "a", "b", "value")
	text, err := os.ReadFile(filepath.Join(dir, secret.FileName))
	if err != nil {
		t.Fatal(err)
	}
	fromEnv, err := secret.Load(t.TempDir(), base64.StdEncoding.EncodeToString(text)+"\n")
	if err != nil {
		t.Fatal(err)
	}
	if value, err := fromEnv.Open("a", "b", sealed); err != nil || string(value) != "value" {
		t.Errorf("%q, %v", value, err)
	}
	if fromEnv.Fingerprint() != r.Fingerprint() {
		t.Error("the fingerprints differ")
	}
	rotation := secret.Rotation{Keyring: fromEnv}
	if err := rotation.Add(&rota.SecretState{}); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("a key was added to a variable: %v", err)
	}
}

func TestFingerprintsShowNothingOfTheKeys(t *testing.T) {
	dir := t.TempDir()
	r := load(t, dir)
	p := primary(t, r)
	text, _ := os.ReadFile(filepath.Join(dir, secret.FileName))
	if len(p) != rota.FingerprintLen || bytes.Contains(text, []byte(p)) {
		t.Errorf("fingerprint %q", p)
	}
	if other := primary(t, load(t, t.TempDir())); other == p {
		t.Error("two keys have the same fingerprint")
	}
	if again := primary(t, load(t, dir)); again != p {
		t.Errorf("%q after %q", again, p)
	}
}

func TestProcessesOfOneDirectoryCreateOneKey(t *testing.T) {
	dir := t.TempDir()
	found := make([]string, 8)
	var group sync.WaitGroup
	for i := range found {
		r := load(t, dir)
		group.Go(func() { found[i], _ = r.Primary("") })
	}
	group.Wait()
	for _, one := range found {
		if one == "" || one != found[0] {
			t.Fatalf("keys %v", found)
		}
	}
}

func TestUnknownKeyIsReadFromTheFileAgain(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	store := open(t)
	one := load(t, dir)
	put(t, store, one, "A", "value")
	other := load(t, dir)
	rotation := secret.Rotation{Keyring: one, Store: store}
	if _, err := rotation.Run(ctx); err != nil {
		t.Fatal(err)
	}
	s, err := store.Secret(ctx, rota.SecretName{Template: "backup", Key: "A"})
	if err != nil {
		t.Fatal(err)
	}
	if value, err := other.Open("backup", "A", s.Sealed); err != nil || string(value) != "value" {
		t.Errorf("%q, %v", value, err)
	}
	stranger := load(t, t.TempDir())
	_, err = stranger.Open("backup", "A", s.Sealed)
	if rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), s.Fingerprint()) {
		t.Errorf("%v", err)
	}
	if err := stranger.CheckNeeded([]string{s.Fingerprint()}); rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("%v", err)
	}
}

func open(t *testing.T) rota.Store {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := &rota.PutTemplate{Meta: rota.NewMeta(""), Name: "backup", Spec: rota.TemplateSpec{Type: "exec"}}
	if _, err := rota.Do[*rota.TemplatePut](context.Background(), store, c); err != nil {
		t.Fatal(err)
	}
	return store
}

func put(t *testing.T, store rota.Store, r *secret.Keyring, key, value string) {
	t.Helper()
	ctx := context.Background()
	state, err := store.SecretState(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Primary(state.Primary)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := r.Seal(p, "backup", key, []byte(value))
	if err != nil {
		t.Fatal(err)
	}
	_, err = rota.Do[*rota.SecretPut](ctx, store, &rota.PutSecret{Meta: rota.NewMeta(""), Template: "backup", Key: key, Sealed: sealed})
	if err != nil {
		t.Fatal(err)
	}
}

// cutStore fails after a number of commands, as a process that is killed there.
type cutStore struct {
	rota.Store
	left int
}

var errCut = errors.New("killed")

func (c *cutStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if c.left == 0 {
		return nil, errCut
	}
	c.left--
	return c.Store.Apply(ctx, b)
}

// TestRotationCutOffAtEachStepContinues ends a rotation after each of its steps. Then a value can be set and all can be
// opened by a process that reads the file again, and a second rotation finishes the first one.
func TestRotationCutOffAtEachStepContinues(t *testing.T) {
	ctx := context.Background()
	for name, cut := range map[string]func(*secret.Rotation, *rota.SecretState) error{
		"after Add": func(r *secret.Rotation, s *rota.SecretState) error { return r.Add(s) },
		"inside Promote, before the store": func(r *secret.Rotation, s *rota.SecretState) error {
			r.Store = &cutStore{Store: r.Store}
			return errors.Join(r.Add(s), onlyCut(r.Promote(ctx, s)))
		},
		"inside Promote, after the store": func(r *secret.Rotation, s *rota.SecretState) error {
			err := r.Add(s)
			all, _ := r.Keyring.Keys()
			_, promoted := rota.Do[*rota.SecretKeyPromoted](ctx, r.Store, &rota.PromoteSecretKey{Meta: rota.NewMeta(""), From: s.Primary, To: all[1]})
			return errors.Join(err, promoted)
		},
		"after Promote": func(r *secret.Rotation, s *rota.SecretState) error {
			return errors.Join(r.Add(s), r.Promote(ctx, s))
		},
		"inside Rewrap, after a page": func(r *secret.Rotation, s *rota.SecretState) error {
			r.Store = &cutStore{Store: r.Store, left: 2} // the promotion and one page
			err := errors.Join(r.Add(s), r.Promote(ctx, s))
			all, _ := r.Keyring.Keys()
			_, cut := r.Rewrap(ctx, all[1])
			return errors.Join(err, onlyCut(cut))
		},
		"after Rewrap": func(r *secret.Rotation, s *rota.SecretState) error {
			err := errors.Join(r.Add(s), r.Promote(ctx, s))
			all, _ := r.Keyring.Keys()
			_, rewrapped := r.Rewrap(ctx, all[1])
			return errors.Join(err, rewrapped)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store := open(t)
			ring := load(t, dir)
			for i := range 100 {
				put(t, store, ring, "KEY_"+string(rune('A'+i/10))+string(rune('0'+i%10)), "value")
			}
			other := &rota.PutTemplate{Meta: rota.NewMeta(""), Name: "other", Spec: rota.TemplateSpec{Type: "exec"}}
			if _, err := rota.Do[*rota.TemplatePut](ctx, store, other); err != nil {
				t.Fatal(err)
			}
			state, err := store.SecretState(ctx)
			if err != nil {
				t.Fatal(err)
			}
			sealed, err := ring.Seal(state.Primary, "other", "A", []byte("value"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := rota.Do[*rota.SecretPut](ctx, store, &rota.PutSecret{Meta: rota.NewMeta(""), Template: "other", Key: "A", Sealed: sealed}); err != nil {
				t.Fatal(err)
			}
			if err := cut(&secret.Rotation{Keyring: ring, Store: store}, &state); err != nil {
				t.Fatal(err)
			}
			after := load(t, dir)
			put(t, store, after, "KEY_A0", "value")
			wantValues(t, store, after, 101)
			if _, err := (&secret.Rotation{Keyring: after, Store: store}).Run(ctx); err != nil {
				t.Fatal(err)
			}
			wantValues(t, store, load(t, dir), 101)
			all, p := load(t, dir).Keys()
			state, _ = store.SecretState(ctx)
			if len(all) != 1 || p != state.Primary || len(state.Needed) != 1 || state.Needed[0] != p {
				t.Errorf("keys %v, primary %s, state %v", all, p, state)
			}
		})
	}
}

func onlyCut(err error) error {
	if errors.Is(err, errCut) {
		return nil
	}
	return errors.Join(errors.New("the rotation was not cut off"), err)
}

func wantValues(t *testing.T, store rota.Store, r *secret.Keyring, count int) {
	t.Helper()
	var after rota.SecretName
	seen := 0
	for {
		all, err := store.Secrets(context.Background(), rota.SecretQuery{After: after, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if value, err := r.Open(s.Template, s.Key, s.Sealed); err != nil || string(value) != "value" {
				t.Fatalf("%s: %q, %v", s.Key, value, err)
			}
			after, seen = rota.SecretName{Template: s.Template, Key: s.Key}, seen+1
		}
		if len(all) == 0 {
			break
		}
	}
	if seen != count {
		t.Errorf("%d values, want %d", seen, count)
	}
}

func TestRotationChangesTheKeyAndRemovesTheOldOne(t *testing.T) {
	ctx := context.Background()
	dir, store := t.TempDir(), open(t)
	ring := load(t, dir)
	rotation := &secret.Rotation{Keyring: ring, Store: store}
	if _, err := rotation.Run(ctx); rota.CodeOf(err) != rota.Conflict {
		t.Errorf("a rotation without secrets: %v", err)
	}
	put(t, store, ring, "A", "value")
	_, before := ring.Keys()
	for range 3 {
		done, err := rotation.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		all, now := ring.Keys()
		if done.From != before || done.To != now || done.Rewrapped != 1 || done.Retired != 1 || len(all) != 1 || now == before {
			t.Errorf("%+v, keys %v", done, all)
		}
		before = now
	}
	wantValues(t, store, load(t, dir), 1)
}
