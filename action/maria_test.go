package action

import (
	"reflect"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action/mariatest"
)

func mariaGround(t *testing.T) *ground {
	url := mariatest.NewDatabase(t)
	return &ground{
		name: "MariaDB", target: Target{URL: url},
		ask: func(t *testing.T, text string) [][]string { return mariatest.Query(t, url, text) },
		busy: func(t *testing.T) int {
			return len(mariatest.Query(t, url, `SELECT id FROM information_schema.processlist
				WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command = 'Query'`))
		},
		stuck: func(t *testing.T) int {
			return len(mariatest.Query(t, url, `SELECT id FROM information_schema.processlist
				WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command = 'Query' AND info LIKE '%SLEEP(600)%'`))
		},
		slow: "SELECT SLEEP(600)", syntax: "42000", twice: "23000",
	}
}

func TestValuesOfMariaDB(t *testing.T) {
	w := mariaGround(t).world(t)
	rows := result[Rows](w, w.does(statement(`SELECT 1, 2.5, 'é', NULL, x'00ff', TIMESTAMP '2026-11-16 03:52:16.5', DATE '2026-11-16', 18446744073709551615 > 1`)))
	want := []any{1.0, 2.5, "é", nil, `\x00ff`, "2026-11-16T03:52:16.5", "2026-11-16", 1.0}
	if !reflect.DeepEqual(rows.Rows, [][]any{want}) {
		t.Errorf("%v", rows.Rows)
	}
}

func TestRowsThatMariaDBReturnsCount(t *testing.T) {
	w := mariaGround(t).world(t)
	w.does(statement("CREATE TABLE a (id INT)"))
	done := w.does(statement("/* x */ INSERT INTO a VALUES (1), (2) RETURNING id; SELECT id FROM a; SELECT FOUND_ROWS()"))
	if rows := result[Rows](w, done); *done.Run.RowsAffected != 2 || rows.Rows[0][0] != 2.0 {
		t.Errorf("%d rows, and %v", *done.Run.RowsAffected, rows.Rows)
	}
}

func TestWhatMariaDBCommitsUnasked(t *testing.T) {
	g := mariaGround(t)
	w := g.world(t)
	w.does(statement("CREATE TABLE a (id INT PRIMARY KEY)"))
	w.fails(statement("INSERT INTO a VALUES (1); CREATE TABLE b (id INT)"), codeTransaction, "beside other statements", "a job of its own")
	w.fails(statement("INSERT INTO a VALUES (1); /*!50000 COMMIT */; INSERT INTO a VALUES (2)"), codeTransaction, "line 1")
	w.fails(statement("INSERT INTO a VALUES (1); SET autocommit = 1"), codeTransaction)
	w.does(statement("CREATE TEMPORARY TABLE c (id INT); INSERT INTO c VALUES (1)"))
	if n := g.one(t, "SELECT count(*) FROM a"); n != "0" {
		t.Errorf("%s rows of what was refused", n)
	}
	w.does(statement("CREATE PROCEDURE sly() BEGIN INSERT INTO a VALUES (7); COMMIT; END"))
	sly := statement("CALL sly()")
	sly.MaxRetries = new(3)
	if done := w.fails(sly, codeTransaction, "has ended the transaction"); done.Sequel != rota.SequelDead {
		t.Error("what has committed by itself is tried again")
	}
}

func TestLoginsOfMariaDB(t *testing.T) {
	g := mariaGround(t)
	database := g.one(t, "SELECT DATABASE()")
	g.ask(t, "CREATE OR REPLACE USER clerk@localhost IDENTIFIED BY 'geheim'")
	t.Cleanup(func() { g.ask(t, "DROP USER clerk@localhost") })
	g.target.Roles = map[string]string{"clerk": strings.Replace(g.target.URL, "root@", "clerk:geheim@", 1)}
	w := g.world(t)
	clerk := job(SQL{Statement: "SELECT CURRENT_USER()", Target: "t", RunAs: "clerk"})
	if done := w.fails(clerk, "42000"); strings.Contains(done.Run.Error, "geheim") {
		t.Error("the error tells the password: " + done.Run.Error)
	}
	g.ask(t, "GRANT SELECT ON "+database+".* TO clerk@localhost")
	w.fails(clerk, "42000", "CREATE TABLE IF NOT EXISTS", "GRANT SELECT, INSERT")
	g.ask(t, "GRANT ALL ON "+database+".* TO clerk@localhost")
	if rows := result[Rows](w, w.does(clerk)); rows.Rows[0][0] != "clerk@localhost" {
		t.Errorf("%v", rows.Rows)
	}
	w.fails(job(SQL{Statement: "SELECT 1", Target: "t", RunAs: "nobody"}), codeRole, "nobody", "add it to roles")
}
