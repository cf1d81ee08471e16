package pgtest

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// dirPrefix is the prefix of the names of cluster directories.
const dirPrefix = "rota-pg-"

// lockName is the file in a cluster directory that its process keeps locked while it runs.
const lockName = "lock"

// parentMax is the maximal length of the parent's path. The path of a socket is limited to about
// 100 characters.
const parentMax = 60

// clusterDir is the directory of a cluster. Its path is short because the path of a unix socket
// must be.
type clusterDir struct {
	path string
	lock *os.File
}

// newClusterDir creates a cluster directory. First it removes those of killed processes.
func newClusterDir() (clusterDir, error) {
	parent := os.TempDir()
	if len(parent) > parentMax {
		parent = "/tmp"
	}
	removeAbandoned(parent)
	dir, err := os.MkdirTemp(parent, dirPrefix)
	if err != nil {
		return clusterDir{}, err
	}
	lock, err := lockDir(dir)
	if err == nil {
		err = chownToServerUser(dir)
	}
	h := clusterDir{dir, lock}
	if err != nil {
		h.remove()
	}
	return h, err
}

// lockDir creates and locks the lock file. The file gets its name after it is locked, so that
// removeAbandoned of another process never finds it unlocked.
func lockDir(dir string) (*os.File, error) {
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

func (h clusterDir) remove() {
	_ = os.RemoveAll(h.path)
	if h.lock != nil {
		_ = h.lock.Close()
	}
}

// removeAbandoned removes the cluster directories that no process has locked. What it cannot remove
// is left for the next call.
func removeAbandoned(parent string) {
	found, _ := filepath.Glob(filepath.Join(parent, dirPrefix+"*")) // its only error is a bad pattern
	for _, dir := range found {
		if isAbandoned(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

func isAbandoned(dir string) bool {
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if os.IsNotExist(err) { // the lock file does not exist yet, or never will
		info, err := os.Stat(dir)
		return err == nil && time.Since(info.ModTime()) > timeout
	}
	if err != nil {
		return false
	}
	defer file.Close()
	return tryLock(file) == nil
}
