package secret_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/secret"
)

// lostFile is a server with a value, whose file is changed while it runs.
type lostFile struct {
	t      *testing.T
	dir    string
	path   string
	text   []byte // of the file before
	ring   *secret.Keyring
	store  rota.Store
	rotate func() error
}

func newLostFile(t *testing.T) *lostFile {
	l := &lostFile{t: t, dir: t.TempDir(), store: open(t)}
	l.path, l.ring = filepath.Join(l.dir, secret.FileName), load(t, l.dir)
	put(t, l.store, l.ring, "A", "value")
	text, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	l.text = text
	l.rotate = func() error {
		_, err := (&secret.Rotation{Keyring: l.ring, Store: l.store}).Run(context.Background())
		return err
	}
	return l
}

// seal seals a value with the key of the store, as a set does.
func (l *lostFile) seal() error {
	state, err := l.store.SecretState(context.Background())
	if err != nil {
		l.t.Fatal(err)
	}
	_, err = l.ring.Seal(state.Primary, "backup", "B", []byte("value"))
	return err
}

// wantRefused wants that no value is sealed, that rotations fail, and that the stored value still opens.
func (l *lostFile) wantRefused(part string) {
	l.t.Helper()
	for range 2 {
		for what, err := range map[string]error{"a rotation": l.rotate(), "a set": l.seal()} {
			if err == nil || !strings.Contains(err.Error()+errorHint(err), part) {
				l.t.Errorf("%s: %v (%s), want %q", what, err, errorHint(err), part)
			}
		}
		wantValues(l.t, l.store, l.ring, 1)
	}
}

func errorHint(err error) string {
	if refusal, is := err.(*rota.Error); is {
		return refusal.Hint
	}
	return ""
}

// wantWritten wants that the file is there again, private, and opens the values of the store.
func (l *lostFile) wantWritten() {
	l.t.Helper()
	info, err := os.Stat(l.path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		l.t.Fatalf("%v, %v", info, err)
	}
	wantValues(l.t, l.store, load(l.t, l.dir), 1)
}

func (l *lostFile) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// TestRemovedFileIsWrittenAgain: a server that runs has the last copy of the keys. Neither a set nor a rotation may seal values with a
// key that is in no file.
func TestRemovedFileIsWrittenAgain(t *testing.T) {
	l := newLostFile(t)
	l.must(os.Remove(l.path))
	wantValues(t, l.store, l.ring, 1)
	l.must(l.seal())
	if text, err := os.ReadFile(l.path); err != nil || string(text) != string(l.text) {
		t.Errorf("the file changed, %v", err)
	}
	l.wantWritten()
	l.must(os.Remove(l.path))
	l.must(l.rotate())
	l.wantWritten()
	l.must(os.Remove(l.path))
	if _, err := l.ring.Primary(""); err != nil { // of a store without secrets
		t.Fatal(err)
	}
	l.wantWritten()
}

// TestUnusableFileDisablesNothingThatIsLoaded: values are not sealed until the file is right again, and open meanwhile.
func TestUnusableFileDisablesNothingThatIsLoaded(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(path string) error
		part  string
	}{
		"mode":  {func(path string) error { return os.Chmod(path, 0o640) }, "chmod 600 "},
		"empty": {func(path string) error { return os.WriteFile(path, nil, 0o600) }, "holds no keyset"},
		"directory": {func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		}, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && name == "mode" {
				t.Skip("Windows has no modes of files")
			}
			l := newLostFile(t)
			l.must(c.spoil(l.path))
			l.wantRefused(c.part)
			l.must(os.RemoveAll(l.path))
			l.must(os.WriteFile(l.path, l.text, 0o600))
			l.must(l.seal())
			l.must(l.rotate())
			l.wantWritten()
		})
	}
}

// TestReplacedFileIsNotUsed: another keyset than that of the store is refused, and the keys in memory stay. Without the wrong file they
// are written again.
func TestReplacedFileIsNotUsed(t *testing.T) {
	l := newLostFile(t)
	other := t.TempDir()
	primary(t, load(t, other))
	wrong, err := os.ReadFile(filepath.Join(other, secret.FileName))
	l.must(err)
	l.must(os.WriteFile(l.path, wrong, 0o600))
	l.wantRefused("was replaced")
	l.must(os.Remove(l.path))
	l.must(l.seal())
	l.wantWritten()
}
