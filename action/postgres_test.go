package action

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

func TestPostgresValuesAreEncodedAsJSON(t *testing.T) {
	w := newPostgresTarget(t).newEnv(t)
	rows := result[Rows](w, w.mustComplete(statement(`SELECT 1, 2.5::numeric, 'é', NULL, '\x00ff'::bytea, 'NaN'::float8, true,
		timestamptz '2026-11-16 03:52:16.5+01', timestamp '2026-11-16 03:52:16', timestamptz 'infinity', '{"a": 1}'::jsonb, date '2026-11-16'`)))
	want := []any{
		1.0, 2.5, "é", nil, `\x00ff`, "NaN", true, "2026-11-16T02:52:16.5Z", "2026-11-16T03:52:16", "infinity", `{"a": 1}`, "2026-11-16",
	}
	if !reflect.DeepEqual(rows.Rows, [][]any{want}) {
		t.Errorf("%v", rows.Rows)
	}
}

func TestPostgresScriptWithFunctionsAndBlocks(t *testing.T) {
	g := newPostgresTarget(t)
	w := g.newEnv(t)
	w.mustComplete(statement(`CREATE TABLE a (id int PRIMARY KEY);
		CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $x$ BEGIN INSERT INTO a VALUES (1); RETURN 2; END $x$;
		CREATE FUNCTION h(n int) RETURNS int BEGIN ATOMIC SELECT CASE n WHEN 1 THEN 2 END; SELECT n + 1; END;
		DO $$ BEGIN RAISE NOTICE 'a; notice'; INSERT INTO a VALUES (2); END $$;
		SELECT f(), E'it\'s; fine', h(3)`))
	if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "2" {
		t.Errorf("the table has %s rows", n)
	}
	w.mustFail(statement("DO $$ BEGIN INSERT INTO a VALUES (5); COMMIT; END $$"), "2D000")
	w.mustFail(statement("COPY a FROM STDIN"), codeStatement, "STDIN")
	w.mustFail(statement("VACUUM a"), "25001")
	w.mustFail(statement("SELECT 1;\n  SELECT é, wrong"), "42703", "line 2, column 10")
	w.mustFail(statement("CREATE TABLE late (id int REFERENCES a DEFERRABLE INITIALLY DEFERRED); INSERT INTO late VALUES (77)"), "23503")
	if n := g.queryValue(t, "SELECT count(*) FROM a WHERE id = 5"); n != "0" {
		t.Error("the row of a block that tried to commit exists")
	}
}

// rolesOf creates two logins. The second has fewer privileges.
func rolesOf(t *testing.T, g *testTarget) (admin, limited string) {
	t.Helper()
	suffix := g.queryValue(t, "SELECT current_database()")
	admin, limited = "admin_"+suffix, "reporter_"+suffix
	g.query(t, `CREATE ROLE `+admin+` LOGIN; CREATE ROLE `+limited+` LOGIN; GRANT `+limited+` TO `+admin+`;
		GRANT ALL ON SCHEMA public TO `+admin+`; GRANT USAGE ON SCHEMA public TO `+limited+`;
		CREATE TABLE seen (name text); GRANT INSERT ON seen TO `+admin+`, `+limited+`; CREATE TABLE secret (id int); GRANT ALL ON secret TO `+admin)
	t.Cleanup(func() { g.query(t, "DROP OWNED BY "+admin+", "+limited+"; DROP ROLE "+admin+", "+limited) })
	return admin, limited
}

func withUser(t *testing.T, rawURL, user string) string {
	t.Helper()
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(user, "geheim")
	return u.String()
}

func TestRunAsSelectsPostgresRole(t *testing.T) {
	g := newPostgresTarget(t)
	admin, limited := rolesOf(t, g)
	own := g.target.URL
	g.target = Target{URL: withUser(t, own, admin), Roles: map[string]string{"ada": own}}
	w := g.newEnv(t)
	users := func(p SQL) string {
		p.Statement, p.Target = "SELECT session_user, current_user", "t"
		row := result[Rows](w, w.mustComplete(job(p))).Rows[0]
		return strings.Join([]string{row[0].(string), row[1].(string)}, " ")
	}
	if got := users(SQL{}); got != "postgres postgres" {
		t.Errorf("a job of an actor with a login runs as %s", got)
	}
	g.query(t, "GRANT SELECT, INSERT, UPDATE, DELETE ON rota_effects TO "+admin+", "+limited) // the first login that ran a job owns the table
	if got := users(SQL{RunAs: limited}); got != admin+" "+limited {
		t.Errorf("a job with a role without a login runs as %s", got)
	}
	w.mustComplete(job(SQL{Statement: "INSERT INTO seen VALUES (current_user)", Target: "t", RunAs: limited}))
	w.mustFail(job(SQL{Statement: "SELECT * FROM secret", Target: "t", RunAs: limited}), "42501", "secret")
	w.mustFail(job(SQL{Statement: "SELECT 1", Target: "t", RunAs: "unknown"}), "22023", "run_as", "unknown")

	delete(g.target.Roles, "ada")
	g.target.Roles[limited] = withUser(t, own, limited)
	w = g.newEnv(t)
	if got := users(SQL{RunAs: limited}); got != limited+" "+limited {
		t.Errorf("a job with a role with a login runs as %s", got)
	}
	if got := users(SQL{}); got != admin+" "+admin {
		t.Errorf("a job without a role runs as %s, not as the login of the target", got)
	}
}

// TestLoginWithoutPrivilegeGetsRemedy also checks that errors and logs do not contain
// the password.
func TestLoginWithoutPrivilegeGetsRemedy(t *testing.T) {
	g := newPostgresTarget(t)
	_, limited := rolesOf(t, g)
	own := g.target.URL
	g.target.URL = withUser(t, own, limited)
	w := g.newEnv(t)
	w.mustFail(statement("SELECT 1"), "42501", `CREATE TABLE IF NOT EXISTS "public".rota_effects ( execution_id uuid PRIMARY KEY`, "GRANT SELECT, INSERT")
	g.target.URL = withUser(t, strings.Replace(own, "/test_", "/no_test_", 1), limited)
	w = g.newEnv(t)
	w.mustFail(statement("SELECT 1"), "3D000", "the server refused the login")
	g.target.URL = "postgres://reporter:geheim@127.0.0.1:1/x?sslmode=disable"
	w = g.newEnv(t)
	unreachable := statement("SELECT 1")
	unreachable.MaxRetries = new(1)
	jobs := w.waitAttempts(w.enqueue(unreachable))
	if first := jobs[0].Run; len(jobs) != 2 || first.ErrorCode != codeConnect || strings.Contains(first.Error, "geheim") || strings.Contains(w.log.String(), "geheim") {
		t.Errorf("%d attempts, %s: %s", len(jobs), first.ErrorCode, first.Error)
	}
}

// TestJobRunsThroughPgBouncer runs jobs through PgBouncer in transaction mode.
func TestJobRunsThroughPgBouncer(t *testing.T) {
	server := pgtest.Shared(t)
	database := server.NewDatabase(t, "")
	g := &testTarget{target: Target{URL: server.Bouncer(t, pgtest.Transaction).URL(database)}}
	g.query = func(t *testing.T, text string) [][]string { return pgtest.Query(t, server.URL(database), text) }
	w := g.newEnv(t)
	done := w.mustComplete(statement("CREATE TABLE a (id int); INSERT INTO a VALUES (1)"))
	if done.Run.Outcome != rota.OutcomeCompleted || g.queryValue(t, "SELECT count(*) FROM a") != "1" {
		t.Error("the job had no effect")
	}
}
