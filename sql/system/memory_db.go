package system

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/rotajobs/rota/sql/translate"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// memoryDB is an in-memory SQLite database with the tables of the catalogue. It runs one
// query at a time.
type memoryDB struct {
	conn  *sqlite.Conn
	query *query
	large *oneAtATime
}

// schema is the schema of the tables.
const schema = "sys"

// catalogTable is a table with any row type.
type catalogTable interface {
	module(on *memoryDB) *sqlite.Module
	tableName() string
	tableColumns() []Column
}

func (t *table[R]) tableName() string { return t.name }

func (t *table[R]) tableColumns() []Column {
	var list []Column
	for _, c := range t.columns {
		if !c.hidden {
			long := c.long || c.kind == JSON || c.kind == Bytea
			list = append(list, Column{Name: c.name, Kind: c.kind, NotNull: c.notNull, Long: long, SortKey: c.sortKey})
		}
	}
	return list
}

// tables is the catalogue.
var tables = []catalogTable{
	jobs, jobRuns, dependencies, executions, templateTable, schedules, groups, reservations, nodes, performance, audit,
	users, roles, roleMembers, grants, tokens, secrets,
}

func openMemoryDB(large *oneAtATime) (*memoryDB, error) {
	conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenMemory)
	if err != nil {
		return nil, err
	}
	d := &memoryDB{conn: conn, large: large}
	if err := d.setUp(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return d, nil
}

// setUp creates the tables and functions and then installs the allow list, which forbids creating anything else.
func (d *memoryDB) setUp() error {
	if err := sqlitex.ExecuteTransient(d.conn, "ATTACH ':memory:' AS "+schema, nil); err != nil {
		return err
	}
	if err := d.attach(); err != nil {
		return err
	}
	if err := d.addClock(); err != nil {
		return err
	}
	if err := d.addTranslationFunctions(); err != nil {
		return err
	}
	if err := d.addTables(schema, tables); err != nil {
		return err
	}
	if err := d.addTables(catalogSchema, roleRelations()); err != nil {
		return err
	}
	if err := sqlitex.ExecuteTransient(d.conn, "PRAGMA main.cache_size = -"+strconv.Itoa(sortBytes>>10), nil); err != nil {
		return err
	}
	for limit, most := range limits {
		d.conn.Limit(limit, most)
	}
	return d.conn.SetAuthorizer(sqlite.AuthorizeFunc(d.allow))
}

func (d *memoryDB) addTables(schema string, list []catalogTable) error {
	for _, t := range list {
		if err := d.conn.SetModule("rota_"+t.tableName(), t.module(d)); err != nil {
			return err
		}
		sql := "CREATE VIRTUAL TABLE " + schema + "." + t.tableName() + " USING rota_" + t.tableName()
		if err := sqlitex.ExecuteTransient(d.conn, sql, nil); err != nil {
			return err
		}
	}
	return nil
}

// sortBytes is how many bytes of rows SQLite sorts in memory before it writes them to a temporary file. When it merges
// the parts of the file, it holds one row of each, so that small parts of long rows would need much memory.
const sortBytes = 32 << 20

// limits bounds the size and complexity of a statement.
var limits = map[sqlite.Limit]int32{
	sqlite.LimitLength:         valueMax,
	sqlite.LimitSQLLength:      1 << 20,
	sqlite.LimitExprDepth:      200,
	sqlite.LimitCompoundSelect: 50,
	sqlite.LimitFunctionArg:    translate.ArgsMax + 5, // the translator adds some
	sqlite.LimitVDBEOp:         1_000_000,
	sqlite.LimitWorkerThreads:  0,
}

// Limits of the memory that SQLite holds for one query. Rows that it sorts or groups are in temporary files.
const (
	valuesMax = 64 << 20 // bytes of all values
	valueMax  = 4 << 20  // bytes of one value
	valueMin  = 512      // bytes that a value may always have

	// sortedMax is how many bytes a value or row has at most in a query that groups or compares all its rows: enough for
	// the params of a job. When SQLite merges what it has sorted, it holds one row of every sortBytes.
	sortedMax = 1<<20 + 1<<18
)

// valueLimit is how long a value of a query may become: all values together stay below valuesMax.
func valueLimit(q *translate.Statement) int32 {
	most := valueMax
	if sortsAll.MatchString(q.Text) {
		most = sortedMax
	}
	return int32(max(valueMin, min(most, valuesMax/max(1, q.Values))))
}

// sortsAll matches the words of queries that sort all their rows. It also matches words in literals, which only lowers
// the limit.
var sortsAll = regexp.MustCompile(`\b(GROUP BY|DISTINCT|OVER|UNION|INTERSECT|EXCEPT)\b`)

// allow lets a statement only read the tables of the catalogue. It allows every function, because the translator writes
// all names of functions itself and refuses the functions that it does not know.
func (d *memoryDB) allow(a sqlite.Action) sqlite.AuthResult {
	switch a.Type() {
	case sqlite.OpSelect, sqlite.OpRecursive, sqlite.OpFunction:
		return sqlite.AuthResultOK
	case sqlite.OpRead:
		if d.readable(a) {
			return sqlite.AuthResultOK
		}
	}
	return sqlite.AuthResultDeny
}

// readable reports whether a statement may read a table. If the statement only counts rows, SQLite passes the name
// without a schema; it may be a table or a common table expression.
func (d *memoryDB) readable(a sqlite.Action) bool {
	name := strings.ToLower(a.Table())
	switch a.Database() {
	case schema, catalogSchema, standardSchema:
		return tablesByName()[a.Database()+"."+name] != nil
	case "main":
		return name == jsonTable
	case "":
		return a.Column() == "" && (tableNames()[name] || name == jsonTable || d.query.common[name] && !reserved(name))
	}
	return false
}

// jsonTable is the table-valued function of SQLite that reads arrays.
const jsonTable = "json_each"

// tableNames are the names of all tables, without their schemas.
var tableNames = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, t := range tablesByName() {
		all[t.Name] = true
	}
	return all
})

// reserved reports whether a name belongs to SQLite's own tables or to the modules of this package.
func reserved(name string) bool {
	return strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "pragma_") || strings.HasPrefix(name, "rota_")
}
