package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"zombiezen.com/go/sqlite"
)

// emptyImage is the content of the file of an empty store. To write it takes a hundredth of the
// time of all migrations, so that a process that creates many stores, such as a test, migrates
// once.
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

// createFile creates the file of a new store for this user alone. If the image cannot be created or
// written, the file stays empty or missing; SQLite then runs the migrations itself and reports what
// is wrong.
func createFile(path string) {
	if isAbsent(path) && isAbsent(path+"-wal") && isAbsent(path+"-journal") && writeImage(path) == nil {
		return
	}
	if file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		_ = file.Close()
	}
}

// isAbsent reports whether a name is free, also of a symbolic link. A log beside a removed file
// belongs to that file, and SQLite would apply it to a new one.
func isAbsent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// writeImage writes the image to a temporary file, syncs it, and renames it to path. The temporary
// name is random, so that no other user can have created it as a link.
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
