package action

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rotajobs/rota/action/sandbox"
	"github.com/rotajobs/rota/internal/nofollow"
)

// temporary is a directory for one program. It stays open: the program may exchange what its path names, so files are removed in the
// open directory and not at the path.
type temporary struct {
	path string
	root *os.Root
	lock *os.File // held until the directory is removed or this process ends; nil where directories cannot be locked
}

// temporaryPrefix and a random text are the name of such a directory.
const temporaryPrefix = "rota-exec-"

// newTemporary creates a directory that belongs to the user of a program. Until it is locked it has a name that removeLeftTemporary
// does not look for.
func newTemporary(user *sandbox.User) (*temporary, error) {
	base, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return nil, err
	}
	name := temporaryPrefix + rand.Text()
	t := &temporary{path: filepath.Join(base, "."+name)}
	if err := os.Mkdir(t.path, 0o700); err != nil {
		return nil, err
	}
	if err := t.open(filepath.Join(base, name), user); err != nil {
		t.remove()
		return nil, err
	}
	return t, nil
}

// open opens and locks the directory, renames it and gives it to the user. The path is safe to use before the user owns the directory.
func (t *temporary) open(path string, user *sandbox.User) (err error) {
	if t.root, err = nofollow.OpenDir(t.path); err != nil {
		return err
	}
	if t.lock, err = lockDir(t.root); err == nil && t.lock != nil {
		if err := os.Rename(t.path, path); err != nil {
			return err
		}
		t.path = path
	}
	if user == nil {
		return nil
	}
	return t.root.Chown(".", int(user.UID), int(user.GID))
}

// remove removes the directory. If another file is at its path now, at most a link or an empty directory is removed there.
func (t *temporary) remove() {
	if t.root != nil {
		emptyDir(t.root)
		_ = t.root.Close()
	}
	_ = os.Remove(t.path)
	if t.lock != nil {
		_ = t.lock.Close()
	}
}

// emptyDir also removes directories that the program has made read-only. Root needs no mode for that, and must not change the mode of
// files that other users have linked into the directory.
func emptyDir(root *os.Root) {
	if removeEntries(root) == nil || os.Geteuid() == 0 {
		return
	}
	_ = root.Chmod(".", 0o700)
	_ = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(path, 0o700)
		}
		return nil
	})
	_ = removeEntries(root)
}

func removeEntries(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		err = errors.Join(err, root.RemoveAll(name))
	}
	return err
}

// removeLeftTemporary removes the directories of servers and workers that were killed. Those of running ones are locked.
func removeLeftTemporary() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), temporaryPrefix+"*")) // the pattern is valid
	for _, path := range left {
		if len(filepath.Base(path)) != len(temporaryPrefix)+len(rand.Text()) {
			continue
		}
		root, err := nofollow.OpenDir(path)
		if err != nil {
			continue
		}
		lock, err := lockDir(root)
		if lock == nil || err != nil {
			_ = root.Close()
			continue
		}
		(&temporary{path: path, root: root, lock: lock}).remove()
	}
}
