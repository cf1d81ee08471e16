package translate_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/translate"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

var update = flag.Bool("update", false, "write the data files from a PostgreSQL server")

// The lists of known functions and relations equal those of a PostgreSQL server.
func TestKnownNamesEqualPostgres(t *testing.T) {
	cluster := pgtest.Shared(t)
	url := cluster.URL(cluster.NewDatabase(t, ""))
	for file, query := range map[string]string{
		"data/postgres_functions.txt": `SELECT DISTINCT proname COLLATE "C" FROM pg_proc WHERE pronamespace::regnamespace::text IN ('pg_catalog', 'information_schema') ORDER BY 1`,
		"data/postgres_relations.txt": `SELECT (relnamespace::regnamespace || '.' || relname) COLLATE "C" FROM pg_class
			WHERE relnamespace::regnamespace::text IN ('pg_catalog', 'information_schema') AND relkind IN ('r', 'v') ORDER BY 1`,
	} {
		var names []string
		for _, row := range pgtest.Query(t, url, query) {
			names = append(names, row[0])
		}
		if *update {
			must(t, os.WriteFile(file, []byte(strings.Join(names, "\n")+"\n"), 0o644))
			continue
		}
		text, err := os.ReadFile(file)
		must(t, err)
		if ours := strings.Fields(string(text)); !slices.Equal(ours, names) {
			t.Errorf("%s has %d names, PostgreSQL has %d; run go generate ./sql/translate", file, len(ours), len(names))
		}
	}
}

func TestKnownToPostgreSQL(t *testing.T) {
	for name, want := range map[string]bool{"abs": true, "zeroize": false, "width_bucket": true, "nothing": false, "": false} {
		if translate.KnownToPostgreSQL(name) != want {
			t.Errorf("KnownToPostgreSQL(%q) is not %t", name, want)
		}
	}
}
