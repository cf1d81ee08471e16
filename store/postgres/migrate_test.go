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

// expectOpenError checks that a store does not open, and that the error has a code and contains
// texts.
func expectOpenError(t *testing.T, url string, config Config, code rota.Code, says ...string) {
	t.Helper()
	config.Poll, config.Logger = true, quiet
	s, err := OpenWith(url, config)
	if err == nil {
		_ = s.Close()
		t.Fatal("the store opened")
	}
	var e *rota.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("the code is %s: %v", rota.CodeOf(err), err)
	}
	for _, word := range says {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not contain %q", err, word)
		}
	}
}

// createRole returns the URL of a new role that may only log in.
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

// TestOpenReadOnlyCreatesNothing checks that a read-only open creates neither schema nor tables.
func TestOpenReadOnlyCreatesNothing(t *testing.T) {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	expectOpenError(t, url, Config{ReadOnly: true}, rota.NotFound, "no Rota store", "schema")
	pgtest.Query(t, url, "CREATE SCHEMA rota")
	expectOpenError(t, url, Config{ReadOnly: true}, rota.NotFound, "no Rota store", "schema")
	if tables := pgtest.Query(t, url, "SELECT relname FROM pg_class WHERE relnamespace = 'rota'::regnamespace"); len(tables) != 0 {
		t.Errorf("tables were created: %v", tables)
	}
}

// TestOpenSchemaOfOtherVersion checks that a schema of a newer version is refused, and that one of
// an older version is refused read-only and migrated otherwise.
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
		expectOpenError(t, url, Config{ReadOnly: true}, rota.Conflict, "older version of Rota", "migrates it")
	}
	must(t, conn.Close(t.Context()))
	s, err := OpenWith(url, Config{Poll: true, Logger: quiet})
	must(t, err)
	must(t, s.Close())
	set := func(version string) { pgtest.Query(t, url, `UPDATE rota.meta SET value = '`+version+`'`) }
	set("99")
	expectOpenError(t, url, Config{}, rota.Conflict, "newer version of Rota", "schema version 99", "upgrade this program")
	expectOpenError(t, url, Config{ReadOnly: true}, rota.Conflict, "newer version of Rota")
	set("seven")
	expectOpenError(t, url, Config{}, rota.Internal, `"seven"`, "restore a backup")
}

// TestFailedMigrationLeavesSchemaUnchanged checks that a failed migration changes nothing, and that
// the migrations before it stay.
func TestFailedMigrationLeavesSchemaUnchanged(t *testing.T) {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	pgtest.Query(t, url, "CREATE SCHEMA rota; CREATE TABLE rota.requests (mine text)") // conflicts near the end of the first migration
	expectOpenError(t, url, Config{}, rota.Conflict, `the schema "rota" contains objects that are not Rota's`, "only Rota")
	if tables := pgtest.Query(t, url, "SELECT relname FROM pg_class WHERE relnamespace = 'rota'::regnamespace"); len(tables) != 1 {
		t.Errorf("the tables are %v, want only requests", tables)
	}
	pgtest.Query(t, url, "DROP TABLE rota.requests; CREATE TABLE rota.executions (mine text)") // conflicts at the end of the second migration
	expectOpenError(t, url, Config{}, rota.Conflict, "contains objects that are not Rota's")
	made := pgtest.Query(t, url, "SELECT (SELECT value FROM rota.meta), to_regclass('rota.jobs') IS NOT NULL, to_regproc('rota.document') IS NULL")
	if strings.Join(made[0], " ") != "1 t t" {
		t.Errorf("the first migration is missing, or part of the second was applied: %v", made)
	}
}

// TestOpenWithoutRightsNamesGrant checks that the error of a role without rights names the GRANT
// that it needs, and that reading needs only USAGE and SELECT.
func TestOpenWithoutRightsNamesGrant(t *testing.T) {
	server := pgtest.Shared(t)
	database := server.NewDatabase(t, "")
	admin := server.URL(database)
	url := createRole(t, server, database, "operator")
	expectOpenError(t, url, Config{}, rota.Unavailable, "operator may not create the schema", "GRANT CREATE ON DATABASE "+database+" TO operator", `CREATE SCHEMA "rota" AUTHORIZATION operator`)
	pgtest.Query(t, admin, "CREATE SCHEMA rota")
	expectOpenError(t, url, Config{}, rota.Unavailable, "operator may not create tables in the schema", `GRANT USAGE, CREATE ON SCHEMA "rota" TO operator`)
	pgtest.Query(t, admin, "DROP SCHEMA rota; CREATE SCHEMA rota AUTHORIZATION operator")
	done[*rota.Enqueued](t, openAt(t, url, Config{Poll: true, Logger: quiet}), &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "mail"}}})

	reader := createRole(t, server, database, "reader")
	expectOpenError(t, reader, Config{ReadOnly: true}, rota.Unavailable, "lacks a privilege", "GRANT")
	pgtest.Query(t, admin, "GRANT USAGE ON SCHEMA rota TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA rota TO reader")
	jobs, err := openAt(t, reader, Config{ReadOnly: true, Poll: true, Logger: quiet}).Jobs(t.Context(), rota.JobQuery{})
	if err != nil || len(jobs) != 1 {
		t.Errorf("read %d jobs, want 1: %v", len(jobs), err)
	}
}

// TestOpenRejectsOtherEncoding checks that a database with an encoding that cannot hold all text is
// refused.
func TestOpenRejectsOtherEncoding(t *testing.T) {
	server := pgtest.Shared(t)
	pgtest.Query(t, server.URL("postgres"), "CREATE DATABASE narrow ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	t.Cleanup(func() { must(t, server.Drop("narrow")) })
	expectOpenError(t, server.URL("narrow"), Config{}, rota.Conflict, "LATIN1", "ENCODING 'UTF8'")
}

// TestSchemasInOneDatabaseAreSeparate checks that two stores in one database share no jobs.
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
