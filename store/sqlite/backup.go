package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// backupPages is how much is copied at a time, 4 MiB of usual pages: small
// enough to stop soon, and large enough that asking costs nothing.
const backupPages = 1024

// Backup writes a copy of the store, as it is at one moment, to a file that is
// not there yet; what else stands in the store's file is copied with it. Others
// read and write meanwhile. The copy is a store of its own: whole, synced,
// marked as closed. It has its name when it is complete, and not before; what
// is cut short leaves nothing. Progress, if it is not nil, is told how many
// bytes of how many are done.
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
	err = s.withOwnConn(ctx, "backup", func(conn *sqlite.Conn) error { return s.copyTo(ctx, conn, part, progress) })
	if err != nil {
		return err
	}
	if err := s.finishCopy(part); err != nil {
		return fault("backup", err)
	}
	return moveIntoPlace(part, path)
}

// copyTo copies the file page by page in one snapshot. SQLite's own backup is
// used and not VACUUM INTO: that makes every index anew, at several times the
// cost, says nothing on the way, and holds the snapshot, behind which the log
// cannot be written back, as much longer. Left to itself a backup begins again
// whenever another connection writes; here its reader is inside a transaction,
// which sees no writes, so it goes on to its end.
func (s *Store) copyTo(ctx context.Context, from *sqlite.Conn, part string, progress func(done, total int64)) error {
	size := int64(0)
	if err := query(from, "PRAGMA page_size", nil, func(s *sqlite.Stmt) { size = s.ColumnInt64(0) }); err != nil {
		return err
	}
	if _, err := getMeta(from, metaVersion); err != nil { // the first read of a table takes the snapshot
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
		switch {
		case err != nil:
			return err
		case progress != nil:
			total := int64(b.PageCount()) * size
			progress(total-int64(b.Remaining())*size, total)
		}
		switch {
		case !more:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case s.isClosed():
			return errClosed()
		}
	}
}

// openCopy opens the file to be written. Nothing of it need survive a crash, so
// it keeps no journal.
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

// finishCopy makes the copy one file without a log, as a store that was closed, and
// sees that it is on disk.
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

// createPartFile makes the file that is written, beside where it is to stand, under
// a name that says that it is not complete.
func createPartFile(path string) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return "", notWritable(path, err)
	}
	return file.Name(), file.Close()
}

// moveIntoPlace gives a copy that is complete its name. A link is refused if somebody
// has taken the name meanwhile; where there are no links, the last moment is
// looked at.
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

// removePart removes a copy that was not completed, with what SQLite may have
// left beside it.
func removePart(part string) {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		_ = os.Remove(part + suffix)
	}
}

// syncDir sees that a name is on disk. Windows has no way to ask for that.
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
		Code: rota.Conflict, Act: "sqlite: backup", Reason: path + " is there already",
		Hint: "name a file that does not exist; a backup never replaces one",
	}
}

func notWritable(path string, err error) *rota.Error {
	return &rota.Error{
		Code: rota.Unavailable, Act: "sqlite: backup", Reason: path + " cannot be written", Err: err,
		Hint: "see that its directory exists, that this process may write there, and that there is space",
	}
}
