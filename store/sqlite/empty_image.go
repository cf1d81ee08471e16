package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"zombiezen.com/go/sqlite"
)

// emptyImage is the file of an empty store. All steps together take a hundred times as
// long as it takes to write it, so whoever opens many stores, as tests do, goes
// through them once.
var emptyImage = sync.OnceValues(func() ([]byte, error) {
	conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := migrate(conn); err != nil {
		return nil, err
	}
	return conn.Serialize("main")
})

// createFile makes the file of a store that is not there, for this user alone. If the
// image cannot be had or written the file stays empty, or away, and SQLite goes
// through the steps itself and meets what is wrong.
func createFile(path string) {
	if isAbsent(path) && isAbsent(path+"-wal") && isAbsent(path+"-journal") && writeImage(path) == nil {
		return
	}
	if file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		_ = file.Close()
	}
}

// isAbsent says that a name is free: not even a link leads elsewhere from it. What
// SQLite left beside a file that was removed belongs to that file, and would be
// written into another.
func isAbsent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// writeImage puts the image at its place when all of it is on the disk. Until then it
// is in a file of its own, which nobody can have put there before.
func writeImage(path string) error {
	content, err := emptyImage()
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-") // mode 0600
	if err != nil {
		return err
	}
	temporary := file.Name()
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		_ = os.Remove(temporary)
	}
	return err
}
