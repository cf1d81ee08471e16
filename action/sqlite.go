package action

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
)

// sqliteDB is a target in a file.
type sqliteDB struct {
	login
	data  string // base directory of relative paths
	store string // file of the store; empty: the store is not a file
}

// lockTimeout is how long a run waits for another writer of the file.
const lockTimeout = time.Minute

// do executes a work on its own connection, so that no setting outlives it.
func (d *sqliteDB) do(ctx context.Context, w *work) (*workResult, error) {
	if w.call != nil {
		return nil, permanentFailure(codeStatement, "SQLite has no procedures to call; write a job of type sql, or leave the target out to call a handler of this server")
	}
	if err := refuse(dialectSQLite, w.script, split(dialectSQLite, w.script)); err != nil {
		return nil, err
	}
	path := d.path()
	if err := d.createFile(path); err != nil {
		return nil, err
	}
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, sqliteFailure("", 0, err)
	}
	defer conn.Close()
	return (&sqliteRun{conn: conn, w: w, wait: lockTimeout}).do(ctx)
}

func (d *sqliteDB) path() string {
	path := strings.TrimPrefix(d.url, "sqlite:")
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(d.data, path)
}

// createFileMu serializes the creation of files. A file that a SQLite connection of this
// process has open must not be opened and closed by other code: closing it would
// release the locks of all connections (POSIX locks).
var createFileMu sync.Mutex

// createFile creates a missing file, readable by its owner only, and refuses the files of
// the store.
func (d *sqliteDB) createFile(path string) error {
	createFileMu.Lock()
	defer createFileMu.Unlock()
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return permanentFailure(codeTarget, "its path is a directory; name a file")
	case err == nil:
		return d.refuseStoreFile(info)
	case !errors.Is(err, fs.ErrNotExist):
		return failed(codeConnect, "its file cannot be reached: %w", bareError(err))
	case d.isStoreName(path): // not created yet
		return storeFileError()
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return failed(codeConnect, "its file cannot be created: %w; create its directory, or name another", bareError(err))
	}
	return file.Close()
}

// storeSuffixes are the files that a store consists of.
var storeSuffixes = []string{"", "-wal", "-shm", "-journal", ".lock"}

// refuseStoreFile refuses the files of the store under any name: a job that could write to
// them would have every permission.
func (d *sqliteDB) refuseStoreFile(info fs.FileInfo) error {
	if d.store == "" {
		return nil
	}
	for _, suffix := range storeSuffixes {
		if own, err := os.Stat(d.store + suffix); err == nil && os.SameFile(own, info) {
			return storeFileError()
		}
	}
	return nil
}

func (d *sqliteDB) isStoreName(path string) bool {
	if d.store == "" {
		return false
	}
	own, err := os.Stat(filepath.Dir(d.store))
	if err != nil {
		return false
	}
	dir, err := os.Stat(filepath.Dir(path))
	return err == nil && os.SameFile(own, dir) && strings.HasPrefix(filepath.Base(path), filepath.Base(d.store))
}

func storeFileError() error {
	return permanentFailure(codeTarget, "the file is the store of this server; use another file")
}

// bareError removes the path from an error of a file, because only the operator may see it.
func bareError(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
