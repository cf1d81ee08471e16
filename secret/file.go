package secret

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"github.com/rotajobs/rota"
)

func pathIn(dir string) string { return filepath.Join(dir, FileName) }

// fileMax bounds the file, so that a wrong one is not read whole.
const fileMax = 1 << 20

// reload takes the keys of the file if there is one with a key; an empty name takes any. Otherwise the keys that were read before stay: a
// process that runs may have the last copy of them. The caller holds the lock.
func (r *Keyring) reload(fingerprint string) error {
	k, err := r.read()
	if k != nil && (fingerprint == "" || k.byKey[fingerprint] != nil) {
		r.keys = k
	}
	return err
}

// read returns the keys of the file, nil if there is no file.
func (r *Keyring) read() (*keys, error) {
	if r.path == "" {
		return nil, nil
	}
	text, err := readFile(r.path)
	if err != nil || text == nil {
		return nil, err
	}
	if r.keys != nil && bytes.Equal(text, r.keys.text) {
		return r.keys, nil
	}
	k, err := parse(text)
	if err != nil {
		return nil, &rota.Error{Code: rota.Invalid, Act: "master key", Reason: r.path + " holds no keyset of Rota: " + err.Error(), Hint: "restore the file from where you keep it apart from backups"}
	}
	return k, nil
}

// checkFile requires that the file has a key before a value is sealed with it: a value must not need a key that is in memory only. If the
// file is gone, it is written from memory. The caller holds the lock.
func (r *Keyring) checkFile(fingerprint string) error {
	if r.path == "" {
		return nil
	}
	k, err := r.read()
	if err != nil {
		return err
	}
	switch known := r.keys != nil && r.keys.byKey[fingerprint] != nil; {
	case k == nil && known:
		return r.change("", func(old *keyset.Handle) (*keyset.Handle, error) { return old, nil })
	case k == nil:
		return nil // there is no such key at all, which the caller reports
	case k.byKey[fingerprint] != nil:
		r.keys = k
	case known:
		return r.lost(fingerprint)
	}
	return nil
}

// lost is the error about a file that was replaced by one without a key that this process has.
func (r *Keyring) lost(fingerprint string) error {
	return &rota.Error{
		Code: rota.Unavailable, Act: "master key", Reason: r.path + " was replaced: it does not have the key " + fingerprint + ", which this process still has in memory",
		Hint: "put the right file back before the server stops; if you have no copy, remove the wrong file: the next rota secret set or rotate writes it from memory",
	}
}

// readFile returns the content of the file, nil if there is none. It refuses a file that others may read.
func readFile(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &rota.Error{Code: rota.Unavailable, Act: "master key", Reason: path + " cannot be read", Err: err}
	case !info.Mode().IsRegular():
		return nil, &rota.Error{Code: rota.Invalid, Act: "master key", Reason: path + " is not a regular file", Hint: "put the file itself there, with mode 0600"}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, &rota.Error{
			Code: rota.Invalid, Act: "master key", Reason: fmt.Sprintf("%s has mode %#o, so that others may read or change it", path, info.Mode().Perm()),
			Hint: "chmod 600 " + path,
		}
	case info.Size() > fileMax:
		return nil, &rota.Error{Code: rota.Invalid, Act: "master key", Reason: path + " is too large for a keyset", Hint: "restore the file from where you keep it apart from backups"}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &rota.Error{Code: rota.Unavailable, Act: "master key", Reason: path + " cannot be read", Err: err}
	}
	return text, nil
}

// create writes a file with one new key. Another process of the same data directory may have created it meanwhile: the
// first one wins, and both use its key.
func (r *Keyring) create() error {
	if r.path == "" {
		return &rota.Error{Code: rota.Internal, Act: "master key", Reason: "there is no keyset"}
	}
	return r.change("", func(old *keyset.Handle) (*keyset.Handle, error) {
		if old != nil {
			return old, nil
		}
		return keyset.NewHandle(aead.AES256GCMKeyTemplate())
	})
}

// change replaces the keyset by what edit returns of the one in the file, under a lock that excludes other processes. If the file is
// gone, edit gets the keys in memory, and the file is written again. The file must have the key of the fingerprint, if that is not empty. After an error the
// keys in memory are those from before. The caller holds the lock of the keyring.
func (r *Keyring) change(fingerprint string, edit func(old *keyset.Handle) (*keyset.Handle, error)) error {
	if r.path == "" {
		return &rota.Error{
			Code: rota.Invalid, Act: "master key", Reason: "the keyset is in " + Env + ", which a process cannot change",
			Hint: "put its content into master.key of the data directory (mode 0600), unset the variable and restart",
		}
	}
	unlock, err := lockFile(filepath.Join(filepath.Dir(r.path), LockName))
	if err != nil {
		return &rota.Error{Code: rota.Unavailable, Act: "master key", Reason: "its lock file cannot be taken", Err: err}
	}
	defer unlock()
	if err := removeLeftovers(r.path); err != nil {
		return &rota.Error{Code: rota.Unavailable, Act: "master key", Reason: "a copy of it cannot be removed", Err: err}
	}
	base, err := r.read()
	if err != nil {
		return err
	}
	gone := base == nil
	if gone {
		base = r.keys
	}
	if base != nil && fingerprint != "" && base.byKey[fingerprint] == nil {
		return r.lost(fingerprint)
	}
	next, err := base.edited(edit)
	if err != nil {
		return err
	}
	if next != base || gone && next != nil {
		if err := replaceFile(r.path, next.text); err != nil {
			return &rota.Error{Code: rota.Unavailable, Act: "master key", Reason: r.path + " cannot be written", Err: err}
		}
		if gone && base != nil && r.Logger != nil {
			r.Logger.Warn("master.key was gone: it was written again from memory; find out who removed it, and stop the server before you remove it", "file", r.path)
		}
	}
	r.keys = next
	return nil
}

// edited returns what edit makes of a keyset, which may be nil.
func (k *keys) edited(edit func(old *keyset.Handle) (*keyset.Handle, error)) (*keys, error) {
	var old *keyset.Handle
	if k != nil {
		var err error
		if old, err = insecurecleartextkeyset.Read(&keyset.MemReaderWriter{Keyset: k.set}); err != nil {
			return nil, &rota.Error{Code: rota.Internal, Act: "master key", Reason: "the keyset cannot be used"}
		}
	}
	next, err := edit(old)
	var refusal *rota.Error
	switch {
	case errors.As(err, &refusal):
		return nil, err
	case err != nil:
		return nil, &rota.Error{Code: rota.Internal, Act: "master key", Reason: "the keyset could not be changed: " + err.Error()}
	case next == old:
		return k, nil
	}
	var text bytes.Buffer
	if err := insecurecleartextkeyset.Write(next, keyset.NewJSONWriter(&text)); err != nil {
		return nil, &rota.Error{Code: rota.Internal, Act: "master key", Reason: "the keyset could not be encoded"}
	}
	return parse(text.Bytes())
}

// tempPattern names the files that replace the keyset.
const tempPattern = ".master.key-*"

// removeLeftovers removes what processes left that were killed before they renamed a file: it holds keys, also those that were
// retired later. The caller holds the lock, so that no other process writes one now.
func removeLeftovers(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		if is, _ := filepath.Match(tempPattern, e.Name()); is { // the pattern is valid
			err = errors.Join(err, os.Remove(filepath.Join(filepath.Dir(path), e.Name())))
		}
	}
	return err
}

// replaceFile writes a file so that a crash leaves the old one or the new one.
func replaceFile(path string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), tempPattern) // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // nothing is left to remove after the rename
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename durable. Windows has no such call and needs none.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
