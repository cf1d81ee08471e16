package postgres

import (
	"slices"
	"testing"

	"github.com/rotajobs/rota/internal/storekit"
)

// TestCopyTakesEveryTable compares the tables and columns of a new store with those that a copy
// takes. A migration that adds one has to add it to storekit.RowTables or to the list here.
func TestCopyTakesEveryTable(t *testing.T) {
	t.Parallel()
	leftOutTables := []string{
		"meta",            // version and marks of this store
		"nodes", "leader", // processes of this store
		"log_chunks", // SQLite stores have logs in files; rota copy says that it leaves out logs
	}
	leftOutColumns := []string{
		"rota_jobs.claim_id", // finds the claim of a worker that sends it again; after a move its leases expire
	}
	want := slices.Clone(leftOutColumns)
	for _, table := range storekit.RowTables {
		for _, name := range table.Names() {
			want = append(want, table.Name+"."+name)
		}
	}
	s := openTest(t, Config{Logger: quiet})
	var is []string
	for _, r := range rows(t, s, `
SELECT c.relname, a.attname
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'rota'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped`) {
		if !slices.Contains(leftOutTables, r[0]) {
			is = append(is, "rota"+"_"+r[0]+"."+r[1])
		}
	}
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
