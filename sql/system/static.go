package system

import (
	"strings"
	"sync"

	"github.com/rotajobs/rota/sql/catalog"
	"github.com/rotajobs/rota/sql/translate"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// The schemas of PostgreSQL's own tables. The rows of all but roleRelations are the same for all users, so they are
// ordinary tables that are created once and copied to each database.
const (
	catalogSchema  = "pg_catalog"
	standardSchema = "information_schema"
)

var staticSchemas = []string{catalogSchema, standardSchema}

// Database is the name of the only database.
const Database = "rota"

// builtCatalog describes our tables as PostgreSQL would.
var builtCatalog = sync.OnceValue(func() *catalog.Catalog {
	must := map[[2]string]bool{}
	var list []translate.Table
	for _, t := range tables {
		columns := t.tableColumns()
		list = append(list, translate.Table{Schema: schema, Name: t.tableName(), Columns: columns})
		for _, c := range columns {
			must[[2]string{t.tableName(), c.Name}] = c.NotNull
		}
	}
	return catalog.New(catalog.Subject{
		Tables: list, Database: Database, Owner: "admin",
		NotNull: func(table, column string) bool { return must[[2]string{table, column}] },
	})
})

// tablesByName are all tables, by schema and name.
var tablesByName = sync.OnceValue(func() map[string]*translate.Table {
	all := map[string]*translate.Table{}
	for _, t := range tables {
		all[schema+"."+t.tableName()] = &translate.Table{Schema: schema, Name: t.tableName(), OID: builtCatalog().OID(schema, t.tableName()), Columns: t.tableColumns()}
	}
	for _, r := range builtCatalog().Relations() {
		all[r.Schema+"."+r.Name] = &translate.Table{Schema: r.Schema, Name: r.Name, OID: r.OID, Columns: r.Columns}
	}
	return all
})

// images are the databases with PostgreSQL's tables, by schema.
var images = sync.OnceValues(func() (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, s := range staticSchemas {
		image, err := imageOf(s)
		if err != nil {
			return nil, err
		}
		all[s] = image
	}
	return all, nil
})

func imageOf(name string) ([]byte, error) {
	conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenMemory)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	for _, r := range builtCatalog().Relations() {
		if r.Schema != name || r.OfRoles {
			continue
		}
		if err := load(conn, r); err != nil {
			return nil, err
		}
	}
	return conn.Serialize("main")
}

// load makes one table.
func load(conn *sqlite.Conn, r catalog.Relation) error {
	columns, marks := make([]string, len(r.Columns)), make([]string, len(r.Columns))
	for i, c := range r.Columns {
		columns[i], marks[i] = `"`+c.Name+`" `+declared(c.Kind), "?"
	}
	if err := sqlitex.ExecuteTransient(conn, `CREATE TABLE "`+r.Name+`" (`+strings.Join(columns, ", ")+")", nil); err != nil {
		return err
	}
	insert := `INSERT INTO "` + r.Name + `" VALUES (` + strings.Join(marks, ", ") + ")"
	for _, row := range r.Rows {
		if err := sqlitex.Execute(conn, insert, &sqlitex.ExecOptions{Args: row}); err != nil {
			return err
		}
	}
	for _, column := range r.Index {
		sql := `CREATE INDEX "` + r.Name + "_" + column + `" ON "` + r.Name + `" ("` + column + `")`
		if err := sqlitex.ExecuteTransient(conn, sql, nil); err != nil {
			return err
		}
	}
	return nil
}

// attach adds PostgreSQL's tables to the database.
func (d *memoryDB) attach() error {
	all, err := images()
	if err != nil {
		return err
	}
	for _, s := range staticSchemas {
		if err := sqlitex.ExecuteTransient(d.conn, "ATTACH ':memory:' AS "+s, nil); err != nil {
			return err
		}
		if err := d.conn.Deserialize(s, all[s]); err != nil {
			return err
		}
	}
	return nil
}
