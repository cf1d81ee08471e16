package sqlite

import (
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// checkMarks refuses a store that was moved to another one, and one whose copy is not complete. With
// AllowMoved it removes the mark of a moved store. It reads before the store is migrated, because a moved store stays as it is.
func checkMarks(conn *sqlite.Conn, config Config) error {
	moved, copying, err := readMarks(conn)
	if err == nil && !config.replica {
		err = checkNoReplica(conn)
	}
	if err != nil || config.transfer {
		return err
	}
	if err := storekit.CheckMarks("sqlite: open", moved, copying, config.AllowMoved); err != nil || moved == "" {
		return err
	}
	config.Logger.Warn("the store was moved to another one and is used again; its mark is removed", "mark", moved)
	return deleteMeta(conn, storekit.MetaMoved)
}

const sqlDeleteMeta = `DELETE FROM rota_meta WHERE key = ?`

func deleteMeta(conn *sqlite.Conn, key string) error {
	return sqlitex.Execute(conn, sqlDeleteMeta, &sqlitex.ExecOptions{Args: []any{key}})
}

// readMarks returns the texts of the marks; empty if there is none, also in a file without tables.
func readMarks(conn *sqlite.Conn) (moved, copying string, err error) {
	exists := false
	err = query(conn, sqlHasMeta, func(r storekit.Row) error {
		exists = r.Int(0) > 0
		return nil
	})
	if err != nil || !exists {
		return "", "", err
	}
	if moved, err = getMeta(conn, storekit.MetaMoved); err != nil {
		return "", "", err
	}
	copying, err = getMeta(conn, storekit.MetaCopy)
	return moved, copying, err
}

// MarkUnfinished marks a file that no process uses as a copy that is not complete, until MarkFinished:
// no store can be opened for writing with it. It refuses a file that has such a mark.
func MarkUnfinished(path, from string, at time.Time) error {
	return changeMarks(path, func(conn *sqlite.Conn) error {
		_, copying, err := readMarks(conn)
		if err == nil {
			err = storekit.CheckMarks("sqlite: copy", "", copying, false)
		}
		if err != nil {
			return err
		}
		return putMeta(conn, storekit.MetaCopy, storekit.EncodeMark(storekit.CopyState{From: from, History: true, Began: at.UTC().Truncate(time.Second)}))
	})
}

// MarkFinished removes the mark of MarkUnfinished.
func MarkFinished(path string) error {
	return changeMarks(path, func(conn *sqlite.Conn) error { return deleteMeta(conn, storekit.MetaCopy) })
}

func changeMarks(path string, change func(*sqlite.Conn) error) error {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return fault("mark "+filepath.Base(path), err)
	}
	err = change(conn)
	if e := conn.Close(); err == nil {
		err = e
	}
	return fault("mark "+filepath.Base(path), err)
}

// UnfinishedFrom returns the source of a copy into a file that is not complete; empty if there is none, or
// if the file is not a store. It changes no file, also not those beside a corrupt store.
func UnfinishedFrom(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	uri := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(full), "/"), RawQuery: "immutable=1"}
	conn, err := sqlite.OpenConn(uri.String(), sqlite.OpenReadOnly|sqlite.OpenURI)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_, copying, err := readMarks(conn)
	if err != nil {
		return ""
	}
	state, err := storekit.DecodeMark[storekit.CopyState](copying)
	if err != nil || state == nil {
		return ""
	}
	return state.From
}
