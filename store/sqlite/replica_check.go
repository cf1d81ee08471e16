package sqlite

import (
	"context"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// CheckReplica reads the pages of the file of a replica, and returns its position. It returns an error with the
// code Internal if the file is damaged. Another connection may use the file. SQLite has no checksums, so
// a long text may have changed without notice.
func CheckReplica(ctx context.Context, path string) (rota.LogPosition, error) {
	act := "check " + filepath.Base(path)
	w, err := openCopyOfReplica(ctx, path)
	if err != nil {
		return rota.LogPosition{}, fault(act, err)
	}
	position := w.replica.LogPosition
	err = checkLastPage(w.conn, path)
	if closeErr := w.close(); err == nil {
		err = closeErr
	}
	return position, fault(act, err)
}

// checkLastPage refuses a file that ends within a page, which SQLite fills with zeros.
func checkLastPage(conn *sqlite.Conn, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return query(conn, "PRAGMA page_size", func(row storekit.Row) error {
		if info.Size()%row.Int(0) == 0 {
			return nil
		}
		damaged := faults[sqlite.ResultCorrupt]
		return &rota.Error{
			Code: damaged.code, Act: "sqlite: check", Reason: damaged.reason + ": it is cut within its last page", Hint: damaged.hint,
		}
	})
}
