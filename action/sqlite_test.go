package action

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func TestMainTargetIsReadableByOwnerOnly(t *testing.T) {
	data := t.TempDir()
	w := newTestEnv(t, func(reg *engine.Registry, _ rota.Store) { Register(reg, Config{Data: data}) })
	w.mustComplete(job(SQL{Statement: "CREATE TABLE a (b)"}))
	info, err := os.Stat(filepath.Join(data, "main.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestStoreFilesAreRefusedAsTargets tries several paths of the files of the store.
func TestStoreFilesAreRefusedAsTargets(t *testing.T) {
	data := t.TempDir()
	store := filepath.Join(data, "rota.db")
	for from, to := range map[string]string{"link.db": "rota.db", "lock.db": "rota.db.lock"} {
		if err := os.Symlink(filepath.Join(data, to), filepath.Join(data, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(data, filepath.Join(data, "again")); err != nil {
		t.Fatal(err)
	}
	targets := map[string]Target{}
	for name, path := range map[string]string{
		"plain": "rota.db", "absolute": store, "link": "link.db", "dir": "again/rota.db", "dots": data + "/x/../rota.db", "wal": "rota.db-wal", "lock": "lock.db",
	} {
		targets[name] = Target{URL: "sqlite:" + path}
	}
	if err := CheckTargets(targets); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(data, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	w := newTestEnvAt(t, store, func(reg *engine.Registry, _ rota.Store) {
		Register(reg, Config{Targets: targets, Data: data, Store: store})
	})
	for name := range targets {
		w.mustFail(job(SQL{Statement: "SELECT 1", Target: name}), codeTarget, "is the store of this server")
	}
	w.mustComplete(job(SQL{Statement: "SELECT 1"}))
}

func TestHardLinkToStoreIsRefused(t *testing.T) {
	data := t.TempDir()
	store := filepath.Join(data, "rota.db")
	w := newTestEnvAt(t, store, func(reg *engine.Registry, _ rota.Store) {
		Register(reg, Config{Targets: map[string]Target{"hard": {URL: "sqlite:hard.db"}}, Data: data, Store: store})
	})
	if err := os.Link(store, filepath.Join(data, "hard.db")); err != nil {
		t.Skip(err)
	}
	w.mustFail(job(SQL{Statement: "SELECT 1", Target: "hard"}), codeTarget, "is the store of this server")
}

func TestSQLiteGuardRefusesUnsafeStatements(t *testing.T) {
	g := newSQLiteTarget(t)
	w := g.newEnv(t)
	w.mustComplete(statement("CREATE TABLE a (id INT)"))
	for text, want := range map[string]string{
		"ATTACH 'x.db' AS x":                                                "cannot attach another file",
		"DETACH main":                                                       "cannot attach another file",
		"PRAGMA journal_mode = DELETE":                                      "journal_mode",
		"PRAGMA foreign_keys = OFF":                                         "foreign_keys",
		"PRAGMA writable_schema = ON":                                       "writable_schema",
		"PRAGMA temp_store_directory = '/tmp'":                              "temp_store_directory",
		"SELECT * FROM pragma_database_list":                                "database_list",
		"DELETE FROM rota_effects":                                          "jobs cannot change it",
		"INSERT INTO rota_effects VALUES ('a', '', 1,1)":                    "jobs cannot change it",
		"DROP TABLE rota_effects":                                           "jobs cannot change it",
		"ALTER TABLE rota_effects RENAME TO r":                              "jobs cannot change it",
		"CREATE TRIGGER x AFTER UPDATE ON rota_effects BEGIN SELECT 1; END": "jobs cannot change it",
	} {
		w.mustFail(statement("INSERT INTO a VALUES (1);\n%s", text), codeStatement, "line 2", want)
	}
	w.mustFail(statement("SELECT load_extension('x')"), "SQLITE_ERROR")
	w.mustFail(statement("VACUUM"), "SQLITE_ERROR", "transaction")
	w.mustFail(statement("SELECT ?1"), codeStatement, "?1")
	if n := g.queryValue(t, "SELECT count(*) FROM a"); n != "0" {
		t.Errorf("refused scripts left %s rows", n)
	}
	w.mustComplete(statement("PRAGMA user_version = 3; PRAGMA table_info(a)"))
}

func TestSQLiteTriggerIsOneStatement(t *testing.T) {
	g := newSQLiteTarget(t)
	w := g.newEnv(t)
	w.mustComplete(statement(`CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INT REFERENCES a (id));
		CREATE TRIGGER c AFTER INSERT ON a BEGIN
			INSERT INTO b VALUES (new.id);
			UPDATE b SET id = CASE id WHEN 7 THEN 8 ELSE id END WHERE 0;
		END;
		INSERT INTO a VALUES (7);`))
	if got := g.queryValue(t, "SELECT id FROM b"); got != "7" {
		t.Errorf("the trigger wrote %s", got)
	}
	w.mustFail(statement("INSERT INTO b VALUES (1)"), "SQLITE_CONSTRAINT_FOREIGNKEY")
	w.mustFail(statement("INSERT OR ROLLBACK INTO a VALUES (9), (7)"), "SQLITE_CONSTRAINT_PRIMARYKEY")
}

func TestLockedFileFailsAfterLockTimeout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	holder, err := sqlite.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if err := sqlitex.ExecuteTransient(holder, "BEGIN IMMEDIATE", nil); err != nil {
		t.Fatal(err)
	}
	conn, err := sqlite.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = (&sqliteRun{conn: conn, w: &work{script: "SELECT 1", execution: rota.NewID()}, wait: 50 * time.Millisecond}).do(t.Context())
	var failure *sqlFailure
	if !errors.As(err, &failure) || failure.code != "SQLITE_BUSY" || failure.syntax {
		t.Errorf("%v", err)
	}
}

func TestSQLiteValuesAreEncodedAsJSON(t *testing.T) {
	w := newSQLiteTarget(t).newEnv(t)
	rows := result[Rows](w, w.mustComplete(statement(`SELECT 1, 2.5, 'é', NULL, x'00ff', 9e999, 9007199254740993`)))
	want := []any{1.0, 2.5, "é", nil, `\x00ff`, "Infinity", 9007199254740993.0}
	if !reflect.DeepEqual(rows.Rows, [][]any{want}) {
		t.Errorf("%v", rows.Rows)
	}
}
