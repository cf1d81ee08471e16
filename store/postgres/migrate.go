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
)

//go:embed migrations/*.sql
var migrations embed.FS

// Scripts of many statements go by the simple protocol, which keeps nothing in
// the connection. The lock ends with the transaction, as behind a pooler it must:
// of processes that start at once one migrates, and the others find it done.
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
	// Read as rows: what PostgreSQL remembers of names may be from before the lock.
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

// migrateMax is how long the steps may take, all of them: some read every row.
const migrateMax = time.Hour

// lockMigrate is the lock of whoever changes the schema.
const lockMigrate lockKey = 98 << 16

// migrate brings the schema up to date, one transaction a step, forward only.
// Where nothing is to be done it only looks, so that a role which may change no
// schema can use one.
func migrate(ctx context.Context, conn *pgconn.PgConn, d *dialect, readOnly bool) error {
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	m := &migration{ctx, conn, d}
	at, there, err := m.version()
	switch {
	case err != nil:
		return err
	case readOnly && !there:
		return m.noStore()
	case readOnly && at < len(steps):
		return tooOld(at, len(steps))
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
	if at > len(steps) {
		return tooNew(at, len(steps))
	}
	return nil
}

// migration is a connection while it brings the schema up to date.
type migration struct {
	ctx     context.Context
	conn    *pgconn.PgConn
	dialect *dialect
}

// schema is its name as it stands in the catalogue.
func (m *migration) schema() string { return strings.Trim(m.dialect.schema, `"`) }

// version is which step the schema has reached, and whether there is one.
func (m *migration) version() (at int, there bool, err error) {
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
			Hint: "the schema is damaged or not Rota's; restore a backup",
		}
	}
	return at, true, nil
}

// step takes the next step, unless somebody has meanwhile, and says where the
// schema is then.
func (m *migration) step(steps []string) (at int, err error) {
	if _, err = m.exec(sqlMigrateBegin, lockSpaceOf(m.schema()), lockMigrate); err != nil {
		return 0, err
	}
	session := &session{conn: m.conn, dialect: m.dialect}
	defer session.endTransaction(m.ctx) // of what was committed nothing is left
	at, there, err := m.version()
	if err == nil && !there {
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

// prepare makes the schema if it is not there, or says why it cannot, and the
// table in which its version stands.
func (m *migration) prepare() error {
	rows, err := m.exec(sqlSchemaRights, m.schema())
	if err != nil {
		return err
	}
	exists, may := rows[0][0] == "t", rows[0][1] == "t"
	role, database, encoding := rows[0][2], rows[0][3], rows[0][4]
	schema := m.dialect.schema
	switch {
	case encoding != "UTF8":
		return &rota.Error{
			Code: rota.Conflict, Act: "postgres: open", Reason: fmt.Sprintf("the database %s keeps text as %s", database, encoding),
			Hint: "name a database that was made with ENCODING 'UTF8'",
		}
	case !may && !exists:
		return &rota.Error{
			Code: rota.Unavailable, Act: "postgres: open", Reason: fmt.Sprintf("the role %s may not make the schema %s", role, schema),
			Hint: fmt.Sprintf("GRANT CREATE ON DATABASE %s TO %s, or make the schema for it: CREATE SCHEMA %s AUTHORIZATION %s", database, role, schema, role),
		}
	case !may:
		return &rota.Error{
			Code: rota.Unavailable, Act: "postgres: open", Reason: fmt.Sprintf("the role %s may make nothing in the schema %s", role, schema),
			Hint: fmt.Sprintf("GRANT USAGE, CREATE ON SCHEMA %s TO %s, or name another schema", schema, role),
		}
	case !exists:
		if _, err := m.exec("CREATE SCHEMA %s", schema); err != nil {
			return err
		}
	}
	_, err = m.exec(sqlMetaTable)
	return err
}

// stepError says what keeps a step from being taken.
func (m *migration) stepError(step string, err error) error {
	switch stateOf(err) {
	case "42P07", "42710", "42723": // a table, a trigger, a function of this name is there
		return &rota.Error{
			Code: rota.Conflict, Act: "postgres: open", Reason: fmt.Sprintf("the schema %s holds something else", m.dialect.schema), Err: err,
			Hint: "name a schema that is Rota's alone",
		}
	}
	return fault("open", fmt.Errorf("migration %s: %w", step, err))
}

// exec runs statements, and is the rows of the last. What is written into them
// comes when they are qualified: it may itself look like a table of ours.
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
		Hint: "see that the URL and the schema are right",
	}
}

func tooNew(at, known int) *rota.Error {
	return &rota.Error{
		Code: rota.Conflict, Act: "postgres: open",
		Reason: fmt.Sprintf("the store was written by a newer Rota (schema %d, this one knows %d)", at, known),
		Hint:   "upgrade this program, or restore a backup from before the upgrade",
	}
}

func tooOld(at, has int) *rota.Error {
	return &rota.Error{
		Code: rota.Conflict, Act: "postgres: open",
		Reason: fmt.Sprintf("the store was written by an older Rota (schema %d, this one has %d)", at, has),
		Hint:   "open it once with this version, which brings it up to date",
	}
}
