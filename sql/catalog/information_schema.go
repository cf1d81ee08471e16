package catalog

import (
	"fmt"
	"strconv"
)

// The information schema is the standard's catalogue. It has the views that tools read.

// standardTables fills the views about schemas, tables and views.
func (b *builder) standardTables() {
	for _, name := range sortedKeys(b.schemaOID) {
		b.add("schemata", "catalog_name", b.subject.Database, "schema_name", name, "schema_owner", b.subject.Owner)
	}
	for _, c := range b.classes {
		name := []any{"table_catalog", b.subject.Database, "table_schema", c.schema, "table_name", c.name}
		switch c.kind {
		case "r":
			b.add("tables", append(name, "table_type", "BASE TABLE", "is_insertable_into", "NO", "is_typed", "NO")...)
		case "v":
			b.add("tables", append(name, "table_type", "VIEW", "is_insertable_into", "NO", "is_typed", "NO")...)
			b.add("views", append(name, "check_option", "NONE", "is_updatable", "NO", "is_insertable_into", "NO",
				"is_trigger_updatable", "NO", "is_trigger_deletable", "NO", "is_trigger_insertable_into", "NO")...)
		}
	}
}

// standardColumns fills the views about columns.
func (b *builder) standardColumns() {
	db := b.subject.Database
	b.setDefaults("columns", "table_catalog", db, "is_nullable", "YES", "udt_catalog", db, "udt_schema", catalogSchema, "is_self_referencing", "NO",
		"is_identity", "NO", "identity_cycle", "NO", "is_generated", "NEVER", "is_updatable", "NO")
	sh, types := b.tableByName["columns"], map[*typ][]any{}
	for _, c := range b.classes {
		if c.kind == "i" {
			continue
		}
		table := []any{"table_schema", c.schema, "table_name", c.name}
		for i, a := range c.attrs {
			if types[a.typ] == nil {
				types[a.typ] = b.typeOfColumn(a.typ)
			}
			row := sh.row()
			sh.set(row, table)
			sh.set(row, types[a.typ])
			b.standardColumn(sh, row, i+1, a)
		}
	}
}

// typeOfColumn returns the values of a column row that depend on the type.
func (b *builder) typeOfColumn(t *typ) []any {
	root, mod := t.root(), int64(-1)
	pairs := []any{"udt_name", root.name}
	if t.base != 0 {
		pairs = append(pairs, "domain_catalog", b.subject.Database, "domain_schema", standardSchema, "domain_name", t.name)
		mod = t.typmod
	}
	if t.notnull {
		pairs = append(pairs, "is_nullable", "NO")
	}
	return append(pairs, typeAttributes(root, mod)...)
}

// standardColumn sets the remaining values of a column row.
func (b *builder) standardColumn(sh *tableBuilder, row []any, at int, a attr) {
	sh.set(row, []any{"column_name", a.name, "ordinal_position", at, "dtd_identifier", strconv.Itoa(at)})
	if a.must {
		sh.set(row, []any{"is_nullable", "NO"})
	}
	if name := collationNames[a.collation]; name != "" {
		sh.set(row, []any{"collation_catalog", b.subject.Database, "collation_schema", catalogSchema, "collation_name", name})
	}
}

// collationNames are the names of collations other than the default.
var collationNames = map[int64]string{950: "C", 951: "POSIX"}

// typeAttributes returns the SQL standard's name of a type and the limits of its values.
func typeAttributes(t *typ, mod int64) []any {
	pairs := []any{"data_type", dataType(t)}
	switch t.name {
	case "text", "varchar", "bpchar":
		most := int64(1 << 30)
		if mod > 4 {
			pairs = append(pairs, "character_maximum_length", mod-4)
			most = (mod - 4) * 4
		}
		pairs = append(pairs, "character_octet_length", most)
	case "int2", "int4", "int8":
		pairs = append(pairs, "numeric_precision", t.length*8, "numeric_precision_radix", 2, "numeric_scale", 0)
	case "float4", "float8":
		pairs = append(pairs, "numeric_precision", map[string]int{"float4": 24, "float8": 53}[t.name], "numeric_precision_radix", 2)
	case "numeric":
		pairs = append(pairs, "numeric_precision_radix", 10)
		if mod >= 4 {
			pairs = append(pairs, "numeric_precision", (mod-4)>>16&0xffff, "numeric_scale", (mod-4)&0x7ff)
		}
	case "date":
		pairs = append(pairs, "datetime_precision", 0)
	case "time", "timetz", "timestamp", "timestamptz", "interval":
		digits := int64(6)
		if mod >= 0 {
			digits = mod
		}
		pairs = append(pairs, "datetime_precision", digits)
	}
	return pairs
}

// dataType is the SQL standard's name of a type.
func dataType(t *typ) string {
	if t.isArray() || t.name == "int2vector" || t.name == "oidvector" {
		return "ARRAY"
	}
	return allTypes().format(t.oid, nil, nil)
}

// standardKeys fills the views about constraints. The information schema lists NOT NULL as a
// constraint, too.
func (b *builder) standardKeys() {
	for _, c := range b.classes {
		switch {
		case c.kind == "i":
			name := b.constraint(c.name, "PRIMARY KEY", c.of)
			for i, a := range c.attrs {
				b.add("key_column_usage", append(name, "column_name", a.name, "ordinal_position", i+1)...)
				b.add("constraint_column_usage", append(name, "column_name", a.name)...)
			}
		case c.own():
			for i, a := range c.attrs {
				if a.must {
					b.constraint(fmt.Sprintf("%d_%d_%d_not_null", c.space, c.oid, i+1), "CHECK", c)
				}
			}
		}
	}
}

// constraint adds a constraint of a table and returns the columns that name it in other views.
func (b *builder) constraint(name, kind string, table *class) []any {
	db := b.subject.Database
	pairs := []any{
		"constraint_catalog", db, "constraint_schema", table.schema, "constraint_name", name,
		"table_catalog", db, "table_schema", table.schema, "table_name", table.name,
	}
	pairs = pairs[:len(pairs):len(pairs)]
	b.add("table_constraints", append(pairs, "constraint_type", kind, "is_deferrable", "NO", "initially_deferred", "NO", "enforced", "YES")...)
	return pairs
}

// standardPrivileges fills the privilege view: every role may read all tables, and none may
// write.
func (b *builder) standardPrivileges() {
	for _, c := range b.classes {
		if c.kind != "i" {
			b.add("table_privileges", "grantor", b.subject.Owner, "grantee", "PUBLIC", "table_catalog", b.subject.Database, "table_schema", c.schema,
				"table_name", c.name, "privilege_type", "SELECT", "is_grantable", "NO", "with_hierarchy", "YES")
		}
	}
}
