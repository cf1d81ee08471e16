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

const knownFile = "data/postgres_functions.txt"

// The list of known functions equals the functions of a PostgreSQL server.
func TestKnownFunctionsEqualPostgres(t *testing.T) {
	cluster := pgtest.Shared(t)
	var names []string
	for _, row := range pgtest.Query(t, cluster.URL(cluster.NewDatabase(t, "")),
		`SELECT DISTINCT proname COLLATE "C" FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace ORDER BY 1`) {
		names = append(names, row[0])
	}
	if *update {
		must(t, os.WriteFile(knownFile, []byte(strings.Join(names, "\n")+"\n"), 0o644))
		return
	}
	text, err := os.ReadFile(knownFile)
	must(t, err)
	if ours := strings.Fields(string(text)); !slices.Equal(ours, names) {
		t.Errorf("%s has %d names, PostgreSQL has %d; run go generate ./sql/translate", knownFile, len(ours), len(names))
	}
}

func TestKnownToPostgreSQL(t *testing.T) {
	for name, want := range map[string]bool{"abs": true, "zeroize": false, "width_bucket": true, "nothing": false, "": false} {
		if translate.KnownToPostgreSQL(name) != want {
			t.Errorf("KnownToPostgreSQL(%q) is not %t", name, want)
		}
	}
}
