package sqlite

import (
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

// checkMarks refuses a store that was moved to another one, and one whose copy is not complete. It
// reads before the store is migrated, because a moved store stays as it is.
func checkMarks(conn *sqlite.Conn, config Config) error {
	moved, copying, err := readMarks(conn)
	if err != nil || config.transfer {
		return err
	}
	if moved != "" && config.AllowMoved {
		config.Logger.Warn("the store was moved to another one and is used again", "mark", moved)
	}
	return storekit.CheckMarks("sqlite: open", moved, copying, config.AllowMoved)
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
