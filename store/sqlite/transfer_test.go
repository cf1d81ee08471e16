package sqlite

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

// TestCopyTakesEveryTable compares the tables and columns of a new file with those that a copy
// takes. A migration that adds one has to add it to storekit.RowTables or to the list here.
func TestCopyTakesEveryTable(t *testing.T) {
	leftOut := []string{
		"rota_meta.key", "rota_meta.value", // version and marks of this store
		"rota_params.job_id", "rota_params.params", // read and written with their jobs
		"rota_audit.seq", // numbers the entries of this file
	}
	var want, is []string
	for _, table := range storekit.RowTables {
		for _, name := range table.Names() {
			want = append(want, table.Name+"."+name)
		}
	}
	want = append(want, leftOut...)
	path := filepath.Join(t.TempDir(), "rota.db")
	s, err := Open(path)
	must(t, err)
	must(t, s.Close())
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	must(t, err)
	defer conn.Close()
	must(t, query(conn, `SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`, func(r storekit.Row) error {
		is = append(is, r.Text(0))
		return nil
	}))
	slices.Sort(want)
	slices.Sort(is)
	for _, name := range is {
		if !slices.Contains(want, name) {
			t.Errorf("a copy leaves out %s", name)
		}
	}
	for _, name := range want {
		if !slices.Contains(is, name) {
			t.Errorf("a copy takes %s, which does not exist", name)
		}
	}
}
