package sqlite

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Keys of rota_meta.
const (
	metaVersion = "version" // version of the schema
	metaClean   = "clean"   // 1 after Close, 0 while in use
	metaTxMark  = "tx"      // mark of the last ApplyTx whose transaction was committed
)

const (
	sqlMetaTable = `
CREATE TABLE IF NOT EXISTS rota_meta (
  key   TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID`
	sqlMetaGet = `SELECT value FROM rota_meta WHERE key = ?`
	sqlMetaSet = `INSERT INTO rota_meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`
)

// migrate applies the missing migrations, one transaction each.
func migrate(conn *sqlite.Conn) error {
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	if err := sqlitex.ExecuteTransient(conn, sqlMetaTable, nil); err != nil {
		return err
	}
	version, err := schemaVersion(conn)
	if err != nil {
		return err
	}
	if version > len(steps) {
		return checkVersion(version, len(steps))
	}
	if err := registerFunctions(conn); err != nil {
		return err
	}
	for i := version; i < len(steps); i++ {
		if err := migrateOne(conn, steps[i], i+1); err != nil {
			return fmt.Errorf("migration %s: %w", steps[i], err)
		}
	}
	return nil
}

// registerFunctions registers the SQL functions that migrations call.
func registerFunctions(conn *sqlite.Conn) error {
	return conn.CreateFunction("rota_definition_id", &sqlite.FunctionImpl{
		NArgs: 1, Deterministic: true,
		Scalar: func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			id := rota.DefinitionID(args[0].Text())
			return sqlite.BlobValue(id[:]), nil
		},
	})
}

func checkVersion(version, known int) error {
	return storekit.CheckVersion("sqlite: open", "the file", version, known)
}

func schemaVersion(conn *sqlite.Conn) (int, error) {
	text, err := getMeta(conn, metaVersion)
	if err != nil || text == "" {
		return 0, err
	}
	version, err := strconv.Atoi(text)
	if err != nil {
		return 0, &rota.Error{
			Code: rota.Internal, Act: "sqlite: open", Reason: fmt.Sprintf("rota_meta has the schema version %q, which is not a number", text),
			Hint: "the file is damaged or another program has written to it; restore a backup",
		}
	}
	return version, nil
}

func migrateOne(conn *sqlite.Conn, name string, version int) (err error) {
	script, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return err
	}
	defer end(&err)
	if err := sqlitex.ExecScript(conn, strings.TrimSpace(string(script))); err != nil {
		return err
	}
	return putMeta(conn, metaVersion, strconv.Itoa(version))
}

func getMeta(conn *sqlite.Conn, key string) (value string, err error) {
	err = sqlitex.Execute(conn, sqlMetaGet, &sqlitex.ExecOptions{
		Args: []any{key},
		ResultFunc: func(stmt *sqlite.Stmt) error {
			value = stmt.ColumnText(0)
			return nil
		},
	})
	return value, err
}

func putMeta(conn *sqlite.Conn, key, value string) error {
	return sqlitex.Execute(conn, sqlMetaSet, &sqlitex.ExecOptions{Args: []any{key, value}})
}

func (w *writer) meta(key string) (string, error) { return getMeta(w.conn, key) }
func (w *writer) setMeta(key, value string) error { return putMeta(w.conn, key, value) }
