package catalog

import "strconv"

// The information schema is the standard's catalogue. What is read of it by tools is
// filled; the rest is empty.

// standardNames fills the views about the database as a whole.
func (b *builder) standardNames() {
	db, owner := b.subject.Database, b.subject.Owner
	b.add("information_schema_catalog_name", "catalog_name", db)
	for _, name := range sortedKeys(b.schemaOID) {
		b.add("schemata", "catalog_name", db, "schema_name", name, "schema_owner", owner)
	}
	b.add("enabled_roles", "role_name", owner)
	b.add("character_sets", "character_set_name", "UTF8", "character_repertoire", "UCS", "form_of_use", "UTF8",
		"default_collate_catalog", db, "default_collate_schema", catalogSchema, "default_collate_name", "default")
	for _, name := range []string{"C", "POSIX", "default"} {
		b.add("collations", "collation_catalog", db, "collation_schema", catalogSchema, "collation_name", name, "pad_attribute", "NO PAD")
		b.add("collation_character_set_applicability", "collation_catalog", db, "collation_schema", catalogSchema, "collation_name", name,
			"character_set_name", "UTF8")
	}
	b.standardDomains()
}

// standardDomains fills the views about domains, which are those of the information schema.
func (b *builder) standardDomains() {
	db := b.subject.Database
	for _, t := range allTypes().all {
		if t.kind != "d" {
			continue
		}
		root := t.root()
		pairs := []any{
			"domain_catalog", db, "domain_schema", standardSchema, "domain_name", t.name, "udt_catalog", db,
			"udt_schema", catalogSchema, "udt_name", root.name, "dtd_identifier", "1",
		}
		b.add("domains", append(pairs, typeAttributes(root, t.typmod)...)...)
	}
}

// standardTables fills the views about tables and views.
func (b *builder) standardTables() {
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
	if t.kind == "d" {
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

func yesNo(is bool) string {
	if is {
		return "YES"
	}
	return "NO"
}

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
