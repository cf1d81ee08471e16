package sys

import (
	"reflect"
	"strings"
	"sync"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// memoryDB is an in-memory SQLite database with the tables of the catalogue. It runs one
// query at a time.
type memoryDB struct {
	conn  *sqlite.Conn
	query *query
}

// schema is the name that the tables stand under.
const schema = "sys"

// modular is a table of any rows.
type modular interface {
	module(on *memoryDB) *sqlite.Module
	title() string
	titles() []Column
	filled() []string
}

func (t *table[R]) title() string { return t.name }

func (t *table[R]) titles() []Column {
	list := make([]Column, len(t.columns))
	for i, c := range t.columns {
		list[i] = Column{Name: c.name, Kind: c.kind}
	}
	return list
}

// filled are the columns that are never NULL.
func (t *table[R]) filled() (list []string) {
	for _, c := range t.columns {
		if c.must {
			list = append(list, c.name)
		}
	}
	return list
}

// tables is the catalogue.
var tables = []modular{
	jobs, jobRuns, dependencies, executions, templateTable, schedules, groups, reservations, nodes, performance, audit,
}

func openMemoryDB() (*memoryDB, error) {
	conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenMemory)
	if err != nil {
		return nil, err
	}
	d := &memoryDB{conn: conn}
	if err := d.furnish(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return d, nil
}

// furnish makes the tables and the functions, and then lets nothing be made any
// more.
func (d *memoryDB) furnish() error {
	if err := sqlitex.ExecuteTransient(d.conn, "ATTACH ':memory:' AS "+schema, nil); err != nil {
		return err
	}
	if err := d.attach(); err != nil {
		return err
	}
	if err := d.learn(); err != nil {
		return err
	}
	if err := d.lend(); err != nil {
		return err
	}
	for _, t := range tables {
		if err := d.conn.SetModule("rota_"+t.title(), t.module(d)); err != nil {
			return err
		}
		sql := "CREATE VIRTUAL TABLE " + schema + "." + t.title() + " USING rota_" + t.title()
		if err := sqlitex.ExecuteTransient(d.conn, sql, nil); err != nil {
			return err
		}
	}
	for limit, most := range limits {
		d.conn.Limit(limit, most)
	}
	return d.conn.SetAuthorizer(sqlite.AuthorizeFunc(d.allow))
}

// limits bound what one statement may be.
var limits = map[sqlite.Limit]int32{
	sqlite.LimitLength:         valueMost,
	sqlite.LimitSQLLength:      1 << 20,
	sqlite.LimitExprDepth:      200,
	sqlite.LimitCompoundSelect: 50,
	sqlite.LimitFunctionArg:    100,
	sqlite.LimitVDBEOp:         1_000_000,
	sqlite.LimitWorkerThreads:  0,
}

// valueMost is how long a value may become, in bytes.
const valueMost = 4 << 20

// allow is the list of what a statement may do: read the tables of the catalogue,
// and call functions that are known to look at their arguments alone.
func (d *memoryDB) allow(a sqlite.Action) sqlite.AuthResult {
	switch a.Type() {
	case sqlite.OpSelect, sqlite.OpRecursive:
		return sqlite.AuthResultOK
	case sqlite.OpRead:
		if d.readable(a) {
			return sqlite.AuthResultOK
		}
	case sqlite.OpFunction:
		if name := functionOf(a); functions[name] || lent()[name] {
			return sqlite.AuthResultOK
		}
	}
	return sqlite.AuthResultDeny
}

// readable says whether a table may be read. One that is only counted is named as it
// was written: that may be a table, or a common table of the statement.
func (d *memoryDB) readable(a sqlite.Action) bool {
	name := strings.ToLower(a.Table())
	switch a.Database() {
	case schema, catalogSchema, standardSchema:
		return known()[a.Database()+"."+name] != nil
	case "main":
		return inJSON[name]
	case "":
		return a.Column() == "" && (named()[name] || inJSON[name] || d.query.common[name] && !reserved(name))
	}
	return false
}

var inJSON = set("json_each json_tree")

// named are the names of all tables, without their schemas.
var named = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, t := range known() {
		all[t.Name] = true
	}
	return all
})

// reserved names are those of SQLite's own tables, and of what ours are made by.
func reserved(name string) bool {
	return strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "pragma_") || strings.HasPrefix(name, "rota_")
}

// functionOf is the name of a function that a statement calls. The package that we
// reach SQLite by has no word for it, and its name for the argument is its own.
func functionOf(a sqlite.Action) string {
	return strings.ToLower(reflect.ValueOf(a).FieldByName("arg2").String())
}
