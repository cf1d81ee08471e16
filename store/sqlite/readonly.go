package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

const sqlHasMeta = `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'rota_meta'`

// checkHoldsStore returns an error if a path holds no store, before the lock file is created beside
// it.
func checkHoldsStore(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &rota.Error{
			Code: rota.NotFound, Act: "sqlite: open", Reason: path + " does not exist", Hint: "check the path",
		}
	case err != nil:
		return &rota.Error{
			Code: rota.Unavailable, Act: "sqlite: open", Reason: path + " cannot be read", Err: err,
			Hint: "give this process read permission on the file and its directory",
		}
	case info.IsDir():
		return isDirectory(path)
	}
	w, err := openReadOnly(path)
	if err != nil {
		return err
	}
	return w.close()
}

// openReadOnly opens a connection that takes the place of the writer. SQLite itself refuses its
// writes.
func openReadOnly(path string) (*writer, error) {
	act := "open " + filepath.Base(path)
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, fault(act, err)
	}
	conn.SetBusyTimeout(busyTimeout)
	err = sqlitex.ExecuteTransient(conn, "PRAGMA query_only = 1", nil)
	if err == nil {
		err = checkSchemaVersion(conn, path)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fault(act, err)
	}
	return &writer{conn: conn, stmts: statements{byText: map[string]*sqlite.Stmt{}}}, nil
}

// checkSchemaVersion returns an error if the file holds no store, or one of another schema version.
func checkSchemaVersion(conn *sqlite.Conn, path string) error {
	tables := int64(0)
	err := query(conn, sqlHasMeta, func(r storekit.Row) error {
		tables = r.Int(0)
		return nil
	})
	if err != nil {
		return err
	}
	if tables == 0 {
		return &rota.Error{
			Code: rota.NotFound, Act: "sqlite: open", Reason: path + " holds no Rota store", Hint: "check the path",
		}
	}
	version, err := schemaVersion(conn)
	if err != nil {
		return err
	}
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	return checkVersion(version, len(steps))
}
