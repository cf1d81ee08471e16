package pgcatalog

import "github.com/rotajobs/rota/console/kind"

// schemas fills what speaks of schemas.
func (b *builder) schemas() {
	for _, name := range sortedKeys(b.spaces) {
		b.add("pg_namespace", "oid", b.spaces[name], "nspname", name, "nspowner", ownerRole, "nspacl", b.anyone("U"))
	}
}

// anyone is a list of privileges that everybody has.
func (b *builder) anyone(letters string) string {
	owner := b.subject.Owner
	return list(QuoteIdent(owner)+"="+letters+"/"+QuoteIdent(owner), "="+letters+"/"+QuoteIdent(owner))
}

// relationRows fills what speaks of relations and columns.
func (b *builder) relationRows() {
	b.assume("pg_attribute", "attstattarget", -1, "attcacheoff", -1, "atttypmod", -1, "attislocal", true)
	b.assume("pg_class", "relacl", b.anyone("r"))
	sh, types := b.named["pg_attribute"], map[*typ][]any{}
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

// typeOfAttribute is what a column has from its type.
func typeOfAttribute(t *typ) []any {
	return []any{"atttypid", t.oid, "attlen", t.length, "attbyval", t.byval, "attalign", t.align, "attstorage", t.storage}
}

// dimensions is 1 for an array. Only tables count them.
func dimensions(c *class, t *typ) int {
	if t.isArray() && c.kind != "v" && t.name != "_pg_statistic" {
		return 1
	}
	return 0
}

// counts fills the views that count what is done to tables and in the database:
// nobody does.
func (b *builder) counts() {
	for _, view := range []string{"pg_stat_all_tables", "pg_stat_user_tables", "pg_stat_database"} {
		b.named[view].count()
	}
	for _, c := range b.classes {
		if c.kind == "r" && c.space != catalogSpace && c.space != standardSpace {
			b.add("pg_stat_all_tables", "relid", c.oid, "schemaname", c.schema, "relname", c.name)
			b.add("pg_stat_user_tables", "relid", c.oid, "schemaname", c.schema, "relname", c.name)
		}
	}
	b.add("pg_stat_database", "datid", ourDatabase, "datname", b.subject.Database)
}

// count has the numbers of a view be 0 where nothing else is said.
func (sh *sheet) count() {
	for i, c := range sh.columns {
		switch kindOf(c.typ) {
		case kind.Integer, kind.Int4:
			sh.blank[i] = int64(0)
		case kind.Float:
			sh.blank[i] = 0.0
		}
	}
}

// listRow is a relation in the lists that people read.
func (b *builder) listRow(c *class) {
	switch c.kind {
	case "r":
		b.add("pg_tables", "schemaname", c.schema, "tablename", c.name, "tableowner", b.subject.Owner, "tablespace", tablespaceName(c),
			"hasindexes", c.key != nil, "hasrules", false, "hastriggers", false, "rowsecurity", false)
	case "v":
		b.add("pg_views", "schemaname", c.schema, "viewname", c.name, "viewowner", b.subject.Owner)
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
		"relfilenode", file, "reltablespace", space, "reltuples", tuples(c), "relhasindex", c.key != nil, "relisshared", c.shared,
		"relpersistence", "p", "relkind", c.kind, "relnatts", len(c.attrs), "relhasrules", c.kind == "v", "relispopulated", true,
		"relreplident", replica(c))
	if c.kind == "i" { // who may read it is that of its table
		sh := b.named["pg_class"]
		sh.set(sh.rows[len(sh.rows)-1], []any{"relacl", nil})
	}
}

// tuples is how many rows a relation is thought to have: -1, nobody has counted.
func tuples(c *class) float64 {
	if c.kind == "r" {
		return -1
	}
	return 0
}

// replica is by what rows of a table are told apart when it is replicated, which
// none is.
func replica(c *class) string {
	if c.kind == "r" && c.space != catalogSpace && c.space != standardSpace {
		return "d"
	}
	return "n"
}

// indexRows fills what speaks of keys.
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
		b.add("pg_indexes", "schemaname", index.schema, "tablename", index.of.name, "indexname", index.name, "indexdef", index.define(true))
		b.add("pg_depend", "classid", classTable, "objid", index.oid, "refclassid", constraintTable, "refobjid", index.constraint, "deptype", "i")
	}
}

// keyNumbers are the numbers of the columns of an index, as many zeros, and the
// operator classes that order them.
func keyNumbers(index *class) (keys, zeros, orders []int64) {
	for _, a := range index.attrs {
		keys = append(keys, int64(index.of.attr(a.name)+1))
		zeros = append(zeros, 0)
		orders = append(orders, orderOf(a.typ))
	}
	return keys, zeros, orders
}

func collations(index *class) (all []int64) {
	for _, a := range index.attrs {
		all = append(all, a.collation)
	}
	return all
}

// orderOf is the operator class by which a type is ordered.
func orderOf(t *typ) int64 {
	for _, f := range facts(classFacts) {
		if t.oid == number(f[4]) || t.name == "varchar" && f[2] == "text_ops" {
			return number(f[0])
		}
	}
	return 0
}

// define is the statement that an index could have been made by.
func (c *class) define(qualified bool) string {
	name := QuoteIdent(c.of.name)
	if qualified {
		name = QuoteIdent(c.schema) + "." + name
	}
	return "CREATE UNIQUE INDEX " + QuoteIdent(c.name) + " ON " + name + " USING btree (" + c.columns() + ")"
}

// columns are the names of the columns of an index.
func (c *class) columns() string {
	text := ""
	for i, a := range c.attrs {
		if i > 0 {
			text += ", "
		}
		text += QuoteIdent(a.name)
	}
	return text
}
