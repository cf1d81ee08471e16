package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// A backup is a store with attached files: logs of runs and databases of the data directory, in
// tables of their own. It is still one SQLite file, which rota verify can check.

// Contents describes what a backup has besides the store.
type Contents struct {
	Version  string    `json:"version"` // of the program that wrote it
	At       time.Time `json:"at"`
	Included []Content `json:"included"`
	LeftOut  []LeftOut `json:"left_out"`
}

// Content is a kind of attached files.
type Content struct {
	What  string `json:"what"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// LeftOut is something that a restored data directory does not have.
type LeftOut struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

const (
	sqlContentsTable = `
CREATE TABLE rota_backup (contents TEXT NOT NULL) STRICT`
	sqlFilesTable = `
CREATE TABLE rota_backup_files (
  path    TEXT NOT NULL,
  part    INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (path, part)
) STRICT`
	sqlHasAttached  = `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'rota_backup'`
	sqlContents     = `SELECT contents FROM rota_backup`
	sqlInsertPart   = `INSERT INTO rota_backup_files (path, part, content) VALUES (?, ?, ?)`
	sqlAttached     = `SELECT path, part, content FROM rota_backup_files ORDER BY path, part`
	sqlInsertStatus = `INSERT INTO rota_backup (contents) VALUES (?)`
)

// partSize is the size of the rows that a file is stored in.
const partSize = 1 << 20

// Attachments adds files to a copy of a store that nothing else uses.
type Attachments struct {
	conn   *sqlite.Conn
	buffer []byte // of one part
}

// OpenAttachments begins to add files to a copy of a store. It is one transaction without a journal:
// a copy that is not complete is discarded.
func OpenAttachments(path string) (*Attachments, error) {
	conn, err := openCopy(path)
	if err != nil {
		return nil, fault("backup", err)
	}
	for _, sql := range []string{"BEGIN", sqlContentsTable, sqlFilesTable} {
		if err := sqlitex.ExecuteTransient(conn, sql, nil); err != nil {
			_ = conn.Close()
			return nil, fault("backup", err)
		}
	}
	return &Attachments{conn, make([]byte, partSize)}, nil
}

// Add adds a file under a path with slashes. It calls progress with the bytes of each part.
func (a *Attachments) Add(ctx context.Context, path string, content io.Reader, progress func(bytes int64)) (size int64, err error) {
	for part := 0; ; part++ {
		if err := ctx.Err(); err != nil {
			return size, err
		}
		n, err := io.ReadFull(content, a.buffer)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return size, err
		}
		if n > 0 || part == 0 {
			insertErr := sqlitex.Execute(a.conn, sqlInsertPart, &sqlitex.ExecOptions{Args: []any{path, part, a.buffer[:n]}})
			if insertErr != nil {
				return size, fault("backup", insertErr)
			}
			size += int64(n)
			progress(int64(n))
		}
		if err != nil {
			return size, nil
		}
	}
}

// Close records the contents, unless they are nil, and completes the copy.
func (a *Attachments) Close(contents *Contents) (err error) {
	if contents != nil {
		text, _ := json.Marshal(contents) // texts, numbers and times always marshal
		err = sqlitex.Execute(a.conn, sqlInsertStatus, &sqlitex.ExecOptions{Args: []any{string(text)}})
		if err == nil {
			err = sqlitex.Execute(a.conn, sqlCommit, nil)
		}
	}
	if e := a.conn.Close(); err == nil {
		err = e
	}
	return fault("backup", err)
}

// CopyDatabase copies an SQLite database that other processes may use, at one point in time, to a
// file that does not exist yet. It calls progress with the copied and the total number of bytes.
func CopyDatabase(ctx context.Context, from, to string, progress func(done, total int64)) error {
	source, err := sqlite.OpenConn(from, sqlite.OpenReadWrite)
	if err != nil {
		return fault("copy "+filepath.Base(from), err)
	}
	defer source.Close()
	source.SetInterrupt(ctx.Done())
	source.SetBusyTimeout(busyTimeout)
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return notWritable(to, err)
	}
	_ = file.Close()
	err = inSnapshot(source, func(conn *sqlite.Conn) error { return copyPages(conn, to, ctx.Err, progress) })
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return fault("copy "+filepath.Base(from), err)
}

// ReadContents returns what a backup has besides the store; nil if nothing is attached, as in a backup
// of an earlier version.
func ReadContents(path string) (*Contents, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		return nil, fault("read "+filepath.Base(path), err)
	}
	defer conn.Close()
	contents, err := readContents(conn)
	return contents, fault("read "+filepath.Base(path), err)
}

func readContents(conn *sqlite.Conn) (contents *Contents, err error) {
	attached := false
	err = query(conn, sqlHasAttached, func(r storekit.Row) error {
		attached = r.Int(0) > 0
		return nil
	})
	if err != nil || !attached {
		return nil, err
	}
	contents = &Contents{}
	err = query(conn, sqlContents, func(r storekit.Row) error { return json.Unmarshal(r.JSON(0), contents) })
	return contents, err
}

// Detach writes the files of a copy of a backup into a directory, and removes them from the copy. It
// refuses paths that lead out of the directory.
func Detach(ctx context.Context, path, dir string) (contents *Contents, files []string, err error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, nil, fault("restore", err)
	}
	defer conn.Close()
	conn.SetInterrupt(ctx.Done())
	if contents, err = readContents(conn); err != nil || contents == nil {
		return nil, nil, fault("restore", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	if files, err = extract(ctx, conn, root); err != nil {
		return nil, nil, err
	}
	for _, sql := range []string{"DROP TABLE rota_backup", "DROP TABLE rota_backup_files", "VACUUM"} { // the file would keep the size of the logs
		if err == nil {
			err = sqlitex.ExecuteTransient(conn, sql, nil)
		}
	}
	if err != nil && ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	return contents, files, fault("restore", err)
}

// extract writes the files and returns their paths.
func extract(ctx context.Context, conn *sqlite.Conn, root *os.Root) (files []string, err error) {
	var file *os.File
	closeFile := func() error {
		if file == nil {
			return nil
		}
		return errors.Join(file.Sync(), file.Close())
	}
	err = sqlitex.Execute(conn, sqlAttached, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s.ColumnInt64(1) == 0 {
			path := s.ColumnText(0)
			if err := closeFile(); err != nil {
				return err
			}
			if file, err = createIn(root, path); err != nil {
				return err
			}
			files = append(files, path)
		}
		_, err := io.Copy(file, s.ColumnReader(2))
		return err
	}})
	return files, errors.Join(err, closeFile())
}

// createIn creates a file for this user alone in a directory, with the folders of its path.
func createIn(root *os.Root, path string) (*os.File, error) {
	name := filepath.FromSlash(path)
	if !fs.ValidPath(path) || !filepath.IsLocal(name) {
		return nil, &rota.Error{Code: rota.Invalid, Act: "restore", Reason: "the backup has a file with the path " + path, Hint: "use a backup that rota backup has written"}
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}
