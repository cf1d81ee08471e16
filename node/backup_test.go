package node

import (
	"os"
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TestBackupCountsTargetsTwice: a target is copied to one point in time and from there into the backup, so
// the check of the free disk space counts it twice.
func TestBackupCountsTargetsTwice(t *testing.T) {
	data := t.TempDir()
	n := start(t, Config{Data: data})
	target := filepath.Join(data, "main.db")
	conn, err := sqlite.OpenConn(target, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	err = sqlitex.ExecuteScript(conn, "CREATE TABLE t (x); INSERT INTO t VALUES (randomblob(1000000))", nil)
	if e := conn.Close(); err == nil {
		err = e
	}
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(target)
	if err != nil {
		t.Fatal(err)
	}
	first, done, total := int64(0), int64(0), int64(0)
	err = n.backup(t.Context(), filepath.Join(t.TempDir(), "backup.db"), func(d, all int64) {
		if first == 0 {
			first = all - d // the store is smaller than one step
		}
		done, total = d, all
	})
	if err != nil {
		t.Fatal(err)
	}
	if first < 2*info.Size() || done != total {
		t.Errorf("%d bytes are to be copied after the store, want twice %d; at the end %d of %d are done", first, info.Size(), done, total)
	}
}
