package pgtest

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// homePrefix begins the names of the directories that clusters live in.
const homePrefix = "rota-pg-"

// lockName is the file in a home that its process holds a lock on, as long as it
// lives.
const lockName = "lock"

// parentMax leaves room for the rest of the path of a socket, of about 100
// characters in all.
const parentMax = 60

// home is the directory of a cluster. Its path is short, since that of a unix
// socket has to be.
type home struct {
	dir  string
	lock *os.File
}

// newHome makes a home, and first removes those whose processes are gone: of
// tests that were killed.
func newHome() (home, error) {
	parent := os.TempDir()
	if len(parent) > parentMax {
		parent = "/tmp"
	}
	sweep(parent)
	dir, err := os.MkdirTemp(parent, homePrefix)
	if err != nil {
		return home{}, err
	}
	lock, err := takeLock(dir)
	if err == nil {
		err = giveAway(dir)
	}
	h := home{dir, lock}
	if err != nil {
		h.remove()
	}
	return h, err
}

// takeLock makes the lock of a home. It has its name only when it is held, or a
// sweep might come between.
func takeLock(dir string) (*os.File, error) {
	name := filepath.Join(dir, lockName)
	file, err := os.Create(name + ".new")
	if err != nil {
		return nil, err
	}
	if err := tryLock(file); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		_ = file.Close()
		return nil, err
	}
	return file, os.Rename(name+".new", name)
}

func (h home) remove() {
	_ = os.RemoveAll(h.dir)
	if h.lock != nil {
		_ = h.lock.Close()
	}
}

// sweep removes homes that nobody holds. What it cannot remove is left for the
// next one.
func sweep(parent string) {
	found, _ := filepath.Glob(filepath.Join(parent, homePrefix+"*")) // its only error is a bad pattern
	for _, dir := range found {
		if abandoned(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

func abandoned(dir string) bool {
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if os.IsNotExist(err) { // it was not made yet, or never will be
		info, err := os.Stat(dir)
		return err == nil && time.Since(info.ModTime()) > patience
	}
	if err != nil {
		return false
	}
	defer file.Close()
	return tryLock(file) == nil
}
