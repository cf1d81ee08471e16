package system

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/translate"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// A query cannot call a function of SQLite that PostgreSQL does not have. The authorizer does not check names of
// functions: the translator writes them.
func TestQueriesCannotCallFunctionsOfSQLite(t *testing.T) {
	conn, err := sqlite.OpenConn(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	names := map[string]bool{"load_extension": true, "readfile": true, "writefile": true, "edit": true, "fts3_tokenizer": true}
	err = sqlitex.ExecuteTransient(conn, "SELECT DISTINCT name FROM pragma_function_list", &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		names[s.ColumnText(0)] = true
		return nil
	}})
	if err != nil || len(names) < 100 {
		t.Fatalf("%d names, %v", len(names), err)
	}
	syntax := map[string]bool{"coalesce": true, "nullif": true, "trim": true, "current_timestamp": true} // of PostgreSQL
	c := New(Config{})
	for name := range names {
		if translate.KnownToPostgreSQL(name) || syntax[name] || strings.ContainsAny(name, "->") {
			continue
		}
		for _, args := range []string{"", "'x'", "'x', 'y'", "'x', 'y', 'z'", "1", "1, 2"} {
			if _, err := c.Prepare("SELECT "+name+"("+args+")", nil, Session{}); err == nil {
				t.Errorf("%s(%s) can be called", name, args)
			}
		}
	}
}

// SQLite does not load extensions, even if the translator would write the call.
func TestExtensionsAreOff(t *testing.T) {
	d, err := openMemoryDB(&oneAtATime{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.conn.Close()
	err = sqlitex.ExecuteTransient(d.conn, "SELECT load_extension('x')", nil)
	if err == nil || !strings.Contains(err.Error(), "not authorized") && !strings.Contains(err.Error(), "no such function") {
		t.Errorf("load_extension is answered: %v", err)
	}
}
