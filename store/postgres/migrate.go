package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Scripts of several statements use the simple protocol, which leaves nothing in the connection.
// The lock ends with the transaction, as it must behind a pooler. If several processes start at
// once, one migrates and the others find it done.
const (
	sqlMigrateBegin = `
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL statement_timeout = 0;
SET LOCAL lock_timeout = 0;
SELECT pg_advisory_xact_lock(%d, %d)`
	sqlMetaTable = `
CREATE TABLE IF NOT EXISTS rota_meta (
  key   text COLLATE "C" NOT NULL PRIMARY KEY,
  value text NOT NULL
)`
	sqlMetaSetVersion = `
INSERT INTO rota_meta (key, value) VALUES ('version', '%d')
ON CONFLICT (key) DO UPDATE SET value = excluded.value`
	// Read from the catalog tables: the name caches of PostgreSQL may be older than the lock.
	sqlHasMeta = `
SELECT count(*) > 0
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = '%s' AND c.relname = 'meta'`
	sqlVersion = `
SELECT value
FROM rota_meta
WHERE key = 'version'`
	sqlSchemaRights = `
SELECT n.oid IS NOT NULL, coalesce(has_schema_privilege(n.oid, 'CREATE'), has_database_privilege(current_database(), 'CREATE')),
  quote_ident(current_user), quote_ident(current_database()), current_setting('server_encoding')
FROM (SELECT) one
LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = '%s'`
)

// migrateMax is the time limit of all migrations together. Some of them read every row.
const migrateMax = time.Hour

// lockMigrate is the lock of the process that migrates the schema.
const lockMigrate lockKey = 98 << 16

// migrate applies the missing migrations, one transaction each. If none is missing it only reads,
// so that a role without the right to change the schema can use it.
func migrate(ctx context.Context, conn *pgconn.PgConn, d *dialect, readOnly bool) error {
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	m := &migration{ctx, conn, d}
	at, exists, err := m.version()
	switch {
	case err != nil:
		return err
	case readOnly && !exists:
		return m.noStore()
	case readOnly && at < len(steps):
		return checkVersion(at, len(steps))
	}
	if at < len(steps) {
		var done context.CancelFunc
		m.ctx, done = context.WithTimeout(context.WithoutCancel(ctx), migrateMax)
		defer done()
	}
	for at < len(steps) {
		if at, err = m.step(steps); err != nil {
			return err
		}
	}
	return checkVersion(at, len(steps))
}

// migration is a connection that migrates the schema.
type migration struct {
	ctx     context.Context
	conn    *pgconn.PgConn
	dialect *dialect
}

// schema returns the name of the schema as the catalog has it.
func (m *migration) schema() string { return strings.Trim(m.dialect.schema, `"`) }

// version returns the number of the last migration applied, and whether the schema has a version.
func (m *migration) version() (at int, exists bool, err error) {
	rows, err := m.exec(sqlHasMeta, m.schema())
	if err != nil || rows[0][0] != "t" {
		return 0, false, err
	}
	rows, err = m.exec(sqlVersion)
	if err != nil || len(rows) == 0 {
		return 0, false, err
	}
	if at, err = strconv.Atoi(rows[0][0]); err != nil {
		return 0, true, &rota.Error{
			Code: rota.Internal, Act: "postgres: open", Reason: fmt.Sprintf("%s.meta holds %q as its version", m.dialect.schema, rows[0][0]),
			Hint: "the schema is damaged or not Rota's; restore a backup or name another schema",
		}
	}
	return at, true, nil
}

// step applies the next migration, unless another process has done so meanwhile, and returns the
// version of the schema.
func (m *migration) step(steps []string) (at int, err error) {
	if _, err = m.exec(sqlMigrateBegin, lockSpaceOf(m.schema()), lockMigrate); err != nil {
		return 0, err
	}
	session := &session{conn: m.conn, dialect: m.dialect}
	defer session.endTransaction(m.ctx) // does nothing after a commit
	at, exists, err := m.version()
	if err == nil && !exists {
		err = m.prepare()
	}
	if err != nil || at >= len(steps) {
		return at, err
	}
	script, err := migrations.ReadFile(steps[at])
	if err != nil {
		return at, err
	}
	if _, err = m.exec(string(script)); err == nil {
		_, err = m.exec(sqlMetaSetVersion, at+1)
	}
	if err == nil {
		_, err = m.exec(sqlCommit)
	}
	if err != nil {
		return at, m.stepError(steps[at], err)
	}
	return at + 1, nil
}

// prepare creates the schema and its version table, or returns an error that names the missing
// right.
func (m *migration) prepare() error {
	rows, err := m.exec(sqlSchemaRights, m.schema())
	if err != nil {
		return err
	}
	exists, mayCreate := rows[0][0] == "t", rows[0][1] == "t"
	role, database, encoding := rows[0][2], rows[0][3], rows[0][4]
	schema := m.dialect.schema
	switch {
	case encoding != "UTF8":
		return &rota.Error{
			Code: rota.Conflict, Act: "postgres: open", Reason: fmt.Sprintf("the database %s has the encoding %s, and Rota needs UTF8", database, encoding),
			Hint: "use a database that was created with ENCODING 'UTF8'",
		}
	case !mayCreate && !exists:
		return &rota.Error{
			Code: rota.Unavailable, Act: "postgres: open", Reason: fmt.Sprintf("the role %s may not create the schema %s", role, schema),
			Hint: fmt.Sprintf("GRANT CREATE ON DATABASE %s TO %s, or create the schema for the role: CREATE SCHEMA %s AUTHORIZATION %s", database, role, schema, role),
		}
	case !mayCreate:
		return &rota.Error{
			Code: rota.Unavailable, Act: "postgres: open", Reason: fmt.Sprintf("the role %s may not create tables in the schema %s", role, schema),
			Hint: fmt.Sprintf("GRANT USAGE, CREATE ON SCHEMA %s TO %s, or use another schema", schema, role),
		}
	case !exists:
		if _, err := m.exec("CREATE SCHEMA %s", schema); err != nil {
			return err
		}
	}
	_, err = m.exec(sqlMetaTable)
	return err
}

// stepError explains why a migration failed.
func (m *migration) stepError(step string, err error) error {
	switch stateOf(err) {
	case "42P07", "42710", "42723": // a table, a trigger or a function of this name exists
		return &rota.Error{
			Code: rota.Conflict, Act: "postgres: open", Reason: fmt.Sprintf("the schema %s contains objects that are not Rota's", m.dialect.schema), Err: err,
			Hint: "use a schema that only Rota uses",
		}
	}
	return fault("open", fmt.Errorf("migration %s: %w", step, err))
}

// exec executes statements and returns the rows of the last. It qualifies the statements before it
// inserts args, because an argument may begin with rota_.
func (m *migration) exec(sql string, args ...any) (rows [][]string, err error) {
	if sql = m.dialect.qualify(sql); len(args) > 0 {
		sql = fmt.Sprintf(sql, args...)
	}
	results, err := m.conn.Exec(m.ctx, sql).ReadAll()
	if err != nil || len(results) == 0 {
		return nil, err
	}
	for _, fields := range results[len(results)-1].Rows {
		row := make([]string, len(fields))
		for i, field := range fields {
			row[i] = string(field)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (m *migration) noStore() *rota.Error {
	return &rota.Error{
		Code: rota.NotFound, Act: "postgres: open", Reason: fmt.Sprintf("the schema %s holds no Rota store", m.dialect.schema),
		Hint: "check the database and the schema in the store's URL",
	}
}

func checkVersion(at, known int) error {
	return storekit.CheckVersion("postgres: open", "the store", at, known)
}
