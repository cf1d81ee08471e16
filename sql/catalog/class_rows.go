package catalog

import (
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// schemas fills the relations about schemas.
func (b *builder) schemas() {
	for _, name := range sortedKeys(b.schemaOID) {
		b.add("pg_namespace", "oid", b.schemaOID[name], "nspname", name, "nspowner", ownerRole, "nspacl", b.publicPrivileges("U"))
	}
}

// publicPrivileges is an access list that grants the privileges to PUBLIC.
func (b *builder) publicPrivileges(letters string) string {
	owner := b.subject.Owner
	return list(query.QuoteIdent(owner)+"="+letters+"/"+query.QuoteIdent(owner), "="+letters+"/"+query.QuoteIdent(owner))
}

// relationRows fills the relations about tables and columns.
func (b *builder) relationRows() {
	b.setDefaults("pg_attribute", "attstattarget", -1, "attcacheoff", -1, "atttypmod", -1, "attislocal", true)
	b.setDefaults("pg_class", "relacl", b.publicPrivileges("r"))
	sh, types := b.tableByName["pg_attribute"], map[*typ][]any{}
	for _, c := range b.classes {
		b.classRow(c)
		table := []any{"attrelid", c.oid}
		for i, a := range c.attrs {
			if types[a.typ] == nil {
				types[a.typ] = typeOfAttribute(a.typ)
			}
			row := sh.row()
			sh.set(row, table)
			sh.set(row, types[a.typ])
			sh.set(row, []any{"attname", a.name, "attnum", i + 1, "attnotnull", a.must, "attcollation", a.collation, "attndims", dimensions(c, a.typ)})
		}
		b.listRow(c)
	}
}

// typeOfAttribute returns the columns of pg_attribute that depend on the type.
func typeOfAttribute(t *typ) []any {
	return []any{"atttypid", t.oid, "attlen", t.length, "attbyval", t.byval, "attalign", t.align, "attstorage", t.storage}
}

// dimensions is 1 for an array column of a table.
func dimensions(c *class, t *typ) int {
	if t.isArray() && c.kind != "v" {
		return 1
	}
	return 0
}

// statistics fills the statistics views. Rota does not count these values, so they are 0.
func (b *builder) statistics() {
	for _, view := range []string{"pg_stat_all_tables", "pg_stat_user_tables", "pg_stat_database"} {
		b.tableByName[view].zeroCounters()
	}
	for _, c := range b.classes {
		if c.own() {
			b.add("pg_stat_all_tables", "relid", c.oid, "schemaname", c.schema, "relname", c.name)
			b.add("pg_stat_user_tables", "relid", c.oid, "schemaname", c.schema, "relname", c.name)
		}
	}
	b.add("pg_stat_database", "datid", ourDatabase, "datname", b.subject.Database)
}

// zeroCounters sets the default of all numeric columns of a view to 0.
func (sh *tableBuilder) zeroCounters() {
	for i, a := range sh.attrs {
		switch a.kind {
		case kind.Integer, kind.Int4:
			sh.defaults[i] = int64(0)
		case kind.Float:
			sh.defaults[i] = 0.0
		}
	}
}

// listRow adds a relation to pg_tables, pg_views or pg_indexes.
func (b *builder) listRow(c *class) {
	switch c.kind {
	case "r":
		b.add("pg_tables", "schemaname", c.schema, "tablename", c.name, "tableowner", b.subject.Owner, "tablespace", tablespaceName(c),
			"hasindexes", c.key != nil, "hasrules", false, "hastriggers", false, "rowsecurity", false)
	case "v":
		b.add("pg_views", "schemaname", c.schema, "viewname", c.name, "viewowner", b.subject.Owner)
	case "i":
		b.add("pg_indexes", "schemaname", c.schema, "tablename", c.of.name, "indexname", c.name, "indexdef", c.define(true))
	}
}

func tablespaceName(c *class) any {
	if c.shared {
		return "pg_global"
	}
	return nil
}

func (b *builder) classRow(c *class) {
	method, space, file := 0, 0, c.oid
	switch c.kind {
	case "r":
		method = heapMethod
	case "i":
		method = btreeMethod
	case "v":
		file = 0
	}
	if c.shared {
		space = globalSpace
	}
	b.add("pg_class", "oid", c.oid, "relname", c.name, "relnamespace", c.space, "relowner", ownerRole, "relam", method,
		"relfilenode", file, "reltablespace", space, "reltuples", estimatedRows(c), "relhasindex", c.key != nil, "relisshared", c.shared,
		"relpersistence", "p", "relkind", c.kind, "relnatts", len(c.attrs), "relhasrules", c.kind == "v", "relispopulated", true,
		"relreplident", replicaIdentity(c))
	if c.kind == "i" { // the privileges are those of its table
		sh := b.tableByName["pg_class"]
		sh.set(sh.rows[len(sh.rows)-1], []any{"relacl", nil})
	}
}

// estimatedRows is the row estimate of a relation; -1 means unknown.
func estimatedRows(c *class) float64 {
	if c.kind == "r" {
		return -1
	}
	return 0
}

// replicaIdentity is the replica identity of a relation. No table is replicated.
func replicaIdentity(c *class) string {
	if c.own() {
		return "d"
	}
	return "n"
}

// indexRows fills the relations about keys.
func (b *builder) indexRows() {
	for _, index := range b.classes {
		if index.kind != "i" {
			continue
		}
		keys, zeros, orders := keyNumbers(index)
		b.add("pg_index", "indexrelid", index.oid, "indrelid", index.of.oid, "indnatts", len(keys), "indnkeyatts", len(keys),
			"indisunique", true, "indisprimary", true, "indimmediate", true, "indisvalid", true, "indisready", true, "indislive", true,
			"indkey", numbers(keys...), "indcollation", numbers(collations(index)...), "indclass", numbers(orders...), "indoption", numbers(zeros...))
		b.add("pg_constraint", "oid", index.constraint, "conname", index.name, "connamespace", index.space, "contype", "p",
			"convalidated", true, "conrelid", index.of.oid, "conindid", index.oid, "confupdtype", " ", "confdeltype", " ",
			"confmatchtype", " ", "conislocal", true, "connoinherit", true, "conkey", numbers(keys...))
		b.add("pg_depend", "classid", classTable, "objid", index.oid, "refclassid", constraintTable, "refobjid", index.constraint, "deptype", "i")
	}
}

// keyNumbers returns the column numbers of an index, as many zeros, and the operator classes.
func keyNumbers(index *class) (keys, zeros, orders []int64) {
	for _, a := range index.attrs {
		keys = append(keys, int64(index.of.attr(a.name)+1))
		zeros = append(zeros, 0)
		orders = append(orders, operatorClassOf(a.typ))
	}
	return keys, zeros, orders
}

func collations(index *class) (all []int64) {
	for _, a := range index.attrs {
		all = append(all, a.collation)
	}
	return all
}

// operatorClassOf is the default operator class of a type.
func operatorClassOf(t *typ) int64 {
	for _, r := range readData("pg_opclass").rows {
		if t.oid == r.number("opcintype") || t.name == "varchar" && r.text("opcname") == "text_ops" {
			return r.number("oid")
		}
	}
	return 0
}

// define is a statement that creates the index.
func (c *class) define(qualified bool) string {
	name := query.QuoteIdent(c.of.name)
	if qualified {
		name = query.QuoteIdent(c.schema) + "." + name
	}
	return "CREATE UNIQUE INDEX " + query.QuoteIdent(c.name) + " ON " + name + " USING btree (" + c.columns() + ")"
}

// columns are the names of the columns of an index.
func (c *class) columns() string {
	text := ""
	for i, a := range c.attrs {
		if i > 0 {
			text += ", "
		}
		text += query.QuoteIdent(a.name)
	}
	return text
}
