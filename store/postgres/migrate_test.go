package postgres

import (
	"errors"
	"io/fs"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// expectOpenError sees that a store is not opened, and why.
func expectOpenError(t *testing.T, url string, config Config, code rota.Code, says ...string) {
	t.Helper()
	config.Poll, config.Logger = true, quiet
	s, err := OpenWith(url, config)
	if err == nil {
		_ = s.Close()
		t.Fatal("it was opened")
	}
	var e *rota.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("it is %s: %v", rota.CodeOf(err), err)
	}
	for _, word := range says {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

// createRole is the URL of a role that may log in, and nothing else.
func createRole(t *testing.T, server *pgtest.Cluster, database, role string) string {
	t.Helper()
	pgtest.Query(t, server.URL(database), "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() {
		pgtest.Query(t, server.URL(database), "DROP OWNED BY "+role+"; DROP ROLE "+role)
	})
	u, err := url.Parse(server.URL(database))
	must(t, err)
	u.User = url.User(role)
	return u.String()
}

// TestOpenReadOnlyCreatesNothing: who only looks makes nothing.
func TestOpenReadOnlyCreatesNothing(t *testing.T) {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	expectOpenError(t, url, Config{ReadOnly: true}, rota.NotFound, "no Rota store", "schema")
	pgtest.Query(t, url, "CREATE SCHEMA rota")
	expectOpenError(t, url, Config{ReadOnly: true}, rota.NotFound, "no Rota store", "schema")
	if tables := pgtest.Query(t, url, "SELECT relname FROM pg_class WHERE relnamespace = 'rota'::regnamespace"); len(tables) != 0 {
		t.Errorf("%v were made", tables)
	}
}

// TestOpenSchemaOfOtherVersion: what a newer Rota has written is left alone, and what an
// older one has is brought up to date by who may write.
func TestOpenSchemaOfOtherVersion(t *testing.T) {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	conn, err := pgconn.Connect(t.Context(), url)
	must(t, err)
	m := &migration{t.Context(), conn, &dialect{schema: `"rota"`}}
	for n := range steps[1:] {
		if at, err := m.step(steps[:n+1]); err != nil || at != n+1 {
			t.Fatalf("step %d: %d %v", n+1, at, err)
		}
		expectOpenError(t, url, Config{ReadOnly: true}, rota.Conflict, "older Rota", "up to date")
	}
	must(t, conn.Close(t.Context()))
	s, err := OpenWith(url, Config{Poll: true, Logger: quiet})
	must(t, err)
	must(t, s.Close())
	set := func(version string) { pgtest.Query(t, url, `UPDATE rota.meta SET value = '`+version+`'`) }
	set("99")
	expectOpenError(t, url, Config{}, rota.Conflict, "newer Rota", "schema 99", "upgrade this program")
	expectOpenError(t, url, Config{ReadOnly: true}, rota.Conflict, "newer Rota")
	set("seven")
	expectOpenError(t, url, Config{}, rota.Internal, `"seven"`, "restore a backup")
}

// TestFailedMigrationLeavesSchemaUnchanged: one that fails leaves the schema as it was, and
// the steps before it.
func TestFailedMigrationLeavesSchemaUnchanged(t *testing.T) {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	pgtest.Query(t, url, "CREATE SCHEMA rota; CREATE TABLE rota.requests (mine text)") // near the end of the first step
	expectOpenError(t, url, Config{}, rota.Conflict, `the schema "rota" holds something else`, "alone")
	if tables := pgtest.Query(t, url, "SELECT relname FROM pg_class WHERE relnamespace = 'rota'::regnamespace"); len(tables) != 1 {
		t.Errorf("%v are there", tables)
	}
	pgtest.Query(t, url, "DROP TABLE rota.requests; CREATE TABLE rota.executions (mine text)") // at the end of the second
	expectOpenError(t, url, Config{}, rota.Conflict, "holds something else")
	made := pgtest.Query(t, url, "SELECT (SELECT value FROM rota.meta), to_regclass('rota.jobs') IS NOT NULL, to_regproc('rota.document') IS NULL")
	if strings.Join(made[0], " ") != "1 t t" {
		t.Errorf("the first step is not there, or half of the second is: %v", made)
	}
}

// TestOpenWithoutRightsNamesGrant: who may make no schema is told how to get one, and
// needs no more than to use one that is there.
func TestOpenWithoutRightsNamesGrant(t *testing.T) {
	server := pgtest.Shared(t)
	database := server.NewDatabase(t, "")
	admin := server.URL(database)
	url := createRole(t, server, database, "clerk")
	expectOpenError(t, url, Config{}, rota.Unavailable, "clerk may not make the schema", "GRANT CREATE ON DATABASE "+database+" TO clerk", `CREATE SCHEMA "rota" AUTHORIZATION clerk`)
	pgtest.Query(t, admin, "CREATE SCHEMA rota")
	expectOpenError(t, url, Config{}, rota.Unavailable, "clerk may make nothing in the schema", `GRANT USAGE, CREATE ON SCHEMA "rota" TO clerk`)
	pgtest.Query(t, admin, "DROP SCHEMA rota; CREATE SCHEMA rota AUTHORIZATION clerk")
	done[*rota.Enqueued](t, openAt(t, url, Config{Poll: true, Logger: quiet}), &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "mail"}}})

	reader := createRole(t, server, database, "reader")
	expectOpenError(t, reader, Config{ReadOnly: true}, rota.Unavailable, "may not", "GRANT")
	pgtest.Query(t, admin, "GRANT USAGE ON SCHEMA rota TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA rota TO reader")
	jobs, err := openAt(t, reader, Config{ReadOnly: true, Poll: true, Logger: quiet}).Jobs(t.Context(), rota.JobQuery{})
	if err != nil || len(jobs) != 1 {
		t.Errorf("it reads %d jobs: %v", len(jobs), err)
	}
}

// TestOpenRejectsOtherEncoding: a database that would change text is not made a store of.
func TestOpenRejectsOtherEncoding(t *testing.T) {
	server := pgtest.Shared(t)
	pgtest.Query(t, server.URL("postgres"), "CREATE DATABASE narrow ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	t.Cleanup(func() { must(t, server.Drop("narrow")) })
	expectOpenError(t, server.URL("narrow"), Config{}, rota.Conflict, "LATIN1", "ENCODING 'UTF8'")
}

// TestSchemasInOneDatabaseAreSeparate: two stores in one database know nothing of each other.
func TestSchemasInOneDatabaseAreSeparate(t *testing.T) {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	one := openAt(t, url, Config{Schema: "one", Poll: true, Logger: quiet})
	two := openAt(t, url, Config{Schema: "rota_two", Poll: true, Logger: quiet})
	done[*rota.Enqueued](t, one, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "mail"}}})
	for s, want := range map[*Store]int{one: 1, two: 0} {
		if jobs, err := s.Jobs(t.Context(), rota.JobQuery{}); err != nil || len(jobs) != want {
			t.Errorf("%s holds %d jobs, want %d: %v", s.config.Schema, len(jobs), want, err)
		}
	}
}
