package action

import (
	"reflect"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action/mariatest"
)

func newMariaTarget(t *testing.T) *testTarget {
	url := mariatest.NewDatabase(t)
	return &testTarget{
		name: "MariaDB", target: Target{URL: url},
		query: func(t *testing.T, text string) [][]string { return mariatest.Query(t, url, text) },
		activeStatements: func(t *testing.T) int {
			return len(mariatest.Query(t, url, `SELECT id FROM information_schema.processlist
				WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command = 'Query'`))
		},
		slowRunning: func(t *testing.T) int {
			return len(mariatest.Query(t, url, `SELECT id FROM information_schema.processlist
				WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command = 'Query' AND info LIKE '%SLEEP(600)%'`))
		},
		slowStatement: "SELECT SLEEP(600)", syntaxErrorCode: "42000", duplicateKeyCode: "23000",
	}
}

func TestMariaDBValuesAreEncodedAsJSON(t *testing.T) {
	w := newMariaTarget(t).newEnv(t)
	rows := result[Rows](w, w.mustComplete(statement(`SELECT 1, 2.5, 'é', NULL, x'00ff', TIMESTAMP '2026-11-16 03:52:16.5', DATE '2026-11-16', 18446744073709551615 > 1`)))
	want := []any{1.0, 2.5, "é", nil, `\x00ff`, "2026-11-16T03:52:16.5", "2026-11-16", 1.0}
	if !reflect.DeepEqual(rows.Rows, [][]any{want}) {
		t.Errorf("%v", rows.Rows)
	}
}

func TestMariaDBReturningRowsCountAsAffected(t *testing.T) {
	w := newMariaTarget(t).newEnv(t)
	w.mustComplete(statement("CREATE TABLE a (id INT)"))
	done := w.mustComplete(statement("/* x */ INSERT INTO a VALUES (1), (2) RETURNING id; SELECT id FROM a; SELECT FOUND_ROWS()"))
	if rows := result[Rows](w, done); *done.Run.RowsAffected != 2 || rows.Rows[0][0] != 2.0 {
		t.Errorf("%d rows affected, result %v", *done.Run.RowsAffected, rows.Rows)
	}
}

func TestMariaDBImplicitCommitIsRefused(t *testing.T) {
	g := newMariaTarget(t)
	w := g.newEnv(t)
	w.mustComplete(statement("CREATE TABLE a (id INT PRIMARY KEY)"))
	w.mustFail(statement("INSERT INTO a VALUES (1); CREATE TABLE b (id INT)"), codeTransaction, "together with other statements", "its own job")
	w.mustFail(statement("INSERT INTO a VALUES (1); /*!50000 COMMIT */; INSERT INTO a VALUES (2)"), codeTransaction, "line 1")
	w.mustFail(statement("INSERT INTO a VALUES (1); SET autocommit = 1"), codeTransaction)
	w.mustComplete(statement("CREATE TEMPORARY TABLE c (id INT); INSERT INTO c VALUES (1)"))
	if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "0" {
		t.Errorf("refused scripts left %s rows", n)
	}
	w.mustComplete(statement("CREATE PROCEDURE commits() BEGIN INSERT INTO a VALUES (7); COMMIT; END"))
	commits := statement("CALL commits()")
	commits.MaxRetries = new(3)
	if done := w.mustFail(commits, codeTransaction, "has ended the transaction"); done.Sequel != rota.SequelDead {
		t.Error("a run that committed by itself is retried")
	}
}

func TestMariaDBRoleUsesItsLogin(t *testing.T) {
	g := newMariaTarget(t)
	database := g.queryValue(t, "SELECT DATABASE()")
	g.query(t, "CREATE OR REPLACE USER reporter@localhost IDENTIFIED BY 'geheim'")
	t.Cleanup(func() { g.query(t, "DROP USER reporter@localhost") })
	g.target.Roles = map[string]string{"reporter": strings.Replace(g.target.URL, "root@", "reporter:geheim@", 1)}
	w := g.newEnv(t)
	roleJob := job(SQL{Statement: "SELECT CURRENT_USER()", Target: "t", RunAs: "reporter"})
	if done := w.mustFail(roleJob, "42000"); strings.Contains(done.Run.Error, "geheim") {
		t.Error("the error contains the password: " + done.Run.Error)
	}
	g.query(t, "GRANT SELECT ON "+database+".* TO reporter@localhost")
	w.mustFail(roleJob, "42000", "CREATE TABLE IF NOT EXISTS", "GRANT SELECT, INSERT")
	g.query(t, "GRANT ALL ON "+database+".* TO reporter@localhost")
	if rows := result[Rows](w, w.mustComplete(roleJob)); rows.Rows[0][0] != "reporter@localhost" {
		t.Errorf("%v", rows.Rows)
	}
	w.mustFail(job(SQL{Statement: "SELECT 1", Target: "t", RunAs: "unknown"}), codeRole, "unknown", "add it to roles")
}
