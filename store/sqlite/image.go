package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"zombiezen.com/go/sqlite"
)

// image is the file of an empty store. All steps together take a hundred times as
// long as it takes to write it, so whoever opens many stores, as tests do, goes
// through them once.
var image = sync.OnceValues(func() ([]byte, error) {
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

// makeFile makes the file of a store that is not there, for this user alone. If the
// image cannot be had or written the file stays empty, or away, and SQLite goes
// through the steps itself and meets what is wrong.
func makeFile(path string) {
	if nothingAt(path) && nothingAt(path+"-wal") && nothingAt(path+"-journal") && writeImage(path) == nil {
		return
	}
	if file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		_ = file.Close()
	}
}

// nothingAt says that a name is free: not even a link leads elsewhere from it. What
// SQLite left beside a file that was removed belongs to that file, and would be
// written into another.
func nothingAt(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// writeImage puts the image at its place when all of it is on the disk. Until then it
// is in a file of its own, which nobody can have put there before.
func writeImage(path string) error {
	all, err := image()
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-") // mode 0600
	if err != nil {
		return err
	}
	beside := file.Name()
	_, err = file.Write(all)
	if err == nil {
		err = file.Sync()
	}
	if last := file.Close(); err == nil {
		err = last
	}
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		_ = os.Remove(beside)
	}
	return err
}
