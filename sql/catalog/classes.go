package catalog

import (
	"hash/fnv"
	"slices"
	"sync"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/translate"
)

const (
	catalogSchema  = "pg_catalog"
	standardSchema = "information_schema"
)

// The numbers that PostgreSQL has given for good, and where those of others begin.
const (
	catalogSpace  = 11
	toastSpace    = 99
	publicSpace   = 2200
	standardSpace = 13207

	ownerRole    = 10
	ourDatabase  = 16384
	firstOwn     = 16400
	ownOIDs      = 1 << 20 // how many there are to choose from
	defaultSpace = 1663    // the tablespace
	globalSpace  = 1664

	heapMethod, btreeMethod = 2, 403

	classTable, spaceTable, constraintTable, databaseTable, extensionTable = 1259, 2615, 2606, 1262, 3079
)

// class is a table, a view or an index.
type class struct {
	oid, space   int64
	schema, name string
	kind         string // r, v or i, as pg_class has it
	shared       bool
	attrs        []attr
	key          *class // the index of the primary key
	constraint   int64  // of an index: OID of its constraint
	of           *class // of an index: its table
}

// attr is a column.
type attr struct {
	name string
	typ  *typ
	kind kind.Kind // of its values
	must bool      // never NULL

	collation int64
}

func (c *class) attr(name string) int {
	return slices.IndexFunc(c.attrs, func(a attr) bool { return a.name == name })
}

// has reports whether the table has all these columns. A key with other columns is not shown.
func (c *class) has(columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool { return c.attr(name) < 0 })
}

// own reports whether a class is a table of the subject.
func (c *class) own() bool {
	return c.kind == "r" && c.space != catalogSpace && c.space != standardSpace
}

// systemClasses are PostgreSQL's own relations, the same for every subject.
var systemClasses = sync.OnceValue(func() (all []*class) {
	byName := map[string]*class{}
	for _, r := range readData("relations").rows {
		c := &class{
			oid: r.number("oid"), space: catalogSpace, schema: r.text("schema"), name: r.text("relation"), kind: r.text("kind"), shared: r.bool("shared"),
		}
		if c.schema == standardSchema {
			c.space = standardSpace
		}
		byName[c.name], all = c, append(all, c)
	}
	for _, r := range readData("columns").rows {
		c, t := byName[r.text("relation")], allTypes().byName[r.text("type")]
		c.attrs = append(c.attrs, attr{r.text("column"), t, t.kind(), r.bool("notnull"), r.number("collation")})
	}
	return all
})

// addSchemas assigns the OIDs of schemas.
func (c *Catalog) addSchemas() {
	c.addSchema(catalogSchema, catalogSpace)
	c.addSchema("pg_toast", toastSpace)
	c.addSchema("public", publicSpace)
	c.addSchema(standardSchema, standardSpace)
	for _, t := range c.subject.Tables {
		if _, known := c.schemaOID[t.Schema]; !known {
			c.addSchema(t.Schema, c.oidOf(t.Schema))
		}
	}
}

func (c *Catalog) addSchema(name string, oid int64) { c.schemaOID[name], c.schemaName[oid] = oid, name }

// oidOf derives an OID from a name, so that it does not change when other tables are added or
// removed. On a collision the later name gets the next free OID.
func (c *Catalog) oidOf(name string) int64 {
	hash := fnv.New32a()
	hash.Write([]byte(name))
	for oid := int64(hash.Sum32() % ownOIDs); ; oid++ {
		if n := firstOwn + oid; c.schemaName[n] == "" && c.classByOID[n] == nil {
			return n
		}
	}
}

// addClasses assigns the OIDs of tables and their keys.
func (c *Catalog) addClasses() {
	for _, own := range systemClasses() {
		c.addClass(own)
	}
	for _, t := range c.subject.Tables {
		table := c.tableClass(t)
		c.addClass(table)
		if key := c.subject.Key(t.Name); len(key) > 0 && table.has(key) {
			c.addClass(c.keyOf(table, key))
		}
	}
}

func (c *Catalog) addClass(new *class) {
	c.classes = append(c.classes, new)
	c.classByName[[2]string{new.schema, new.name}] = new
	c.classByOID[new.oid] = new
}

// tableClass creates the class of a table of the subject. It is a table and not a view, because
// psql lists tables with \dt.
func (c *Catalog) tableClass(t translate.Table) *class {
	table := &class{oid: c.oidOf(t.Schema + "." + t.Name), space: c.schemaOID[t.Schema], schema: t.Schema, name: t.Name, kind: "r"}
	for _, col := range t.Columns {
		of := allTypes().byOID[int64(col.Kind.OID())]
		if of == nil {
			of = allTypes().byName["text"]
		}
		table.attrs = append(table.attrs, attr{col.Name, of, col.Kind, c.subject.NotNull(t.Name, col.Name), of.collation})
	}
	return table
}

// keyOf creates the index of a primary key. Key columns are never NULL.
func (c *Catalog) keyOf(table *class, key []string) *class {
	name := table.name + "_pkey"
	index := &class{oid: c.oidOf(table.schema + "." + name), space: table.space, schema: table.schema, name: name, kind: "i", of: table}
	for _, column := range key {
		at := table.attr(column)
		table.attrs[at].must = true
		index.attrs = append(index.attrs, attr{name: column, typ: table.attrs[at].typ, kind: table.attrs[at].kind, collation: table.attrs[at].collation})
	}
	table.key = index
	index.constraint = c.oidOf("constraint " + table.schema + "." + name)
	return index
}
