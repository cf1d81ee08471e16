package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// backupPages is the number of pages that one step copies, 4 MiB with the default page size: few
// enough to stop soon, and enough that the checks between steps cost nothing.
const backupPages = 1024

// Backup writes a snapshot of the store to a file that does not exist yet. It copies the whole
// file, including tables of its user, while other connections read and write. The copy is a
// complete store: synced, and marked as closed cleanly. It has a temporary name until it is
// complete, and a backup that fails leaves nothing. Backup calls progress, if it is not nil, with
// the copied and the total number of bytes.
func (s *Store) Backup(ctx context.Context, path string, progress func(done, total int64)) error {
	if err := checkPath(path); err != nil {
		return err
	}
	if err := checkAbsent(path); err != nil {
		return err
	}
	part, err := createPartFile(path)
	if err != nil {
		return err
	}
	defer removePart(part)
	check := func() error {
		if s.isClosed() {
			return errClosed()
		}
		return ctx.Err()
	}
	err = s.withOwnConn(ctx, "backup", func(conn *sqlite.Conn) error { return copyPages(conn, part, check, progress) })
	if err != nil {
		return err
	}
	if err := s.finishCopy(part); err != nil {
		return fault("backup", err)
	}
	return moveIntoPlace(part, path)
}

// copyPages copies all pages of a database to a file in one snapshot. It uses SQLite's backup interface
// and not VACUUM INTO, which may change row ids and builds every index again: that costs several times as
// much, reports no progress, and holds the snapshot longer, during which SQLite cannot write the log
// back. A backup starts again whenever another connection writes, unless its source connection is in a
// transaction, as here. Between two steps it calls check, whose error ends the copy, and progress.
func copyPages(from *sqlite.Conn, part string, check func() error, progress func(done, total int64)) error {
	size := int64(0)
	err := query(from, "PRAGMA page_size", func(r storekit.Row) error {
		size = r.Int(0)
		return nil
	})
	if err != nil {
		return err
	}
	if err := query(from, "SELECT count(*) FROM sqlite_schema", func(storekit.Row) error { return nil }); err != nil { // the first read takes the snapshot
		return err
	}
	to, err := openCopy(part)
	if err != nil {
		return err
	}
	defer to.Close()
	b, err := sqlite.NewBackup(to, "main", from, "main")
	if err != nil {
		return err
	}
	defer b.Close()
	for {
		more, err := b.Step(backupPages)
		if err != nil {
			return err
		}
		if progress != nil {
			total := int64(b.PageCount()) * size
			progress(total-int64(b.Remaining())*size, total)
		}
		if !more {
			return nil
		}
		if err := check(); err != nil {
			return err
		}
	}
}

// openCopy opens the file of the copy without a journal, because a copy that is not complete is
// discarded.
func openCopy(part string) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(part, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	if err := sqlitex.ExecuteTransient(conn, "PRAGMA journal_mode = OFF", nil); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// finishCopy makes the copy a single file without a log, marks it as closed cleanly, and syncs it.
func (s *Store) finishCopy(part string) error {
	conn, err := sqlite.OpenConn(part, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	err = sqlitex.ExecuteTransient(conn, "PRAGMA journal_mode = DELETE", nil)
	if err == nil {
		err = putMeta(conn, metaClean, "1")
	}
	if e := conn.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return syncPath(part, os.O_RDWR)
}

func checkAbsent(path string) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return fileExists(path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return notWritable(path, err)
	}
}

// createPartFile creates the temporary file of the copy in the directory of its final path.
func createPartFile(path string) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return "", notWritable(path, err)
	}
	return file.Name(), file.Close()
}

// moveIntoPlace gives a complete copy its final name. A hard link fails if the name exists by now.
// On a file system without hard links it checks the name just before the rename.
func moveIntoPlace(part, path string) error {
	err := os.Link(part, path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fileExists(path)
	case err != nil:
		if err := checkAbsent(path); err != nil {
			return err
		}
		if err := os.Rename(part, path); err != nil {
			return notWritable(path, err)
		}
	}
	return syncDir(filepath.Dir(path))
}

// removePart removes a copy that was not completed, with the files that SQLite may have left beside
// it.
func removePart(part string) {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		_ = os.Remove(part + suffix)
	}
}

// syncDir syncs a directory, so that a new name survives a crash. Windows cannot do that.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return syncPath(path, os.O_RDONLY)
}

func syncPath(path string, flag int) error {
	file, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return notWritable(path, err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return notWritable(path, err)
	}
	return nil
}

func fileExists(path string) *rota.Error {
	return &rota.Error{
		Code: rota.Conflict, Act: "sqlite: backup", Reason: path + " already exists",
		Hint: "give the path of a file that does not exist; a backup never replaces a file",
	}
}

func notWritable(path string, err error) *rota.Error {
	return &rota.Error{
		Code: rota.Unavailable, Act: "sqlite: backup", Reason: path + " cannot be written", Err: err,
		Hint: "check that its directory exists, that this process can write to it, and that the disk has free space",
	}
}
