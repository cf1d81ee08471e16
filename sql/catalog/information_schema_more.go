package catalog

import "fmt"

// standardKeys fills the views about constraints. The information schema lists NOT NULL as a
// constraint, too.
func (b *builder) standardKeys() {
	db := b.subject.Database
	for _, c := range b.classes {
		if c.kind != "i" {
			continue
		}
		name := []any{
			"constraint_catalog", db, "constraint_schema", c.schema, "constraint_name", c.name,
			"table_catalog", db, "table_schema", c.schema, "table_name", c.of.name,
		}
		b.add("table_constraints", append(name, "constraint_type", "PRIMARY KEY", "is_deferrable", "NO", "initially_deferred", "NO", "enforced", "YES")...)
		for i, a := range c.attrs {
			b.add("key_column_usage", append(name, "column_name", a.name, "ordinal_position", i+1)...)
			b.add("constraint_column_usage", append(name, "column_name", a.name)...)
		}
	}
	for _, c := range b.classes {
		if c.kind == "r" && c.space != catalogSpace && c.space != standardSpace {
			b.notNulls(c)
		}
	}
}

func (b *builder) notNulls(c *class) {
	db := b.subject.Database
	for i, a := range c.attrs {
		if !a.must {
			continue
		}
		name := fmt.Sprintf("%d_%d_%d_not_null", c.space, c.oid, i+1)
		b.add("table_constraints", "constraint_catalog", db, "constraint_schema", c.schema, "constraint_name", name, "table_catalog", db,
			"table_schema", c.schema, "table_name", c.name, "constraint_type", "CHECK", "is_deferrable", "NO", "initially_deferred", "NO", "enforced", "YES")
		b.add("check_constraints", "constraint_catalog", db, "constraint_schema", c.schema, "constraint_name", name,
			"check_clause", QuoteIdent(a.name)+" IS NOT NULL")
	}
}

// standardPrivileges fills the privilege views: every role may read all tables, and none may
// write.
func (b *builder) standardPrivileges() {
	owner := b.subject.Owner
	for _, c := range b.classes {
		if c.kind == "i" {
			continue
		}
		name := []any{
			"grantor", owner, "grantee", "PUBLIC", "table_catalog", b.subject.Database, "table_schema", c.schema, "table_name", c.name,
			"privilege_type", "SELECT", "is_grantable", "NO",
		}
		b.add("table_privileges", append(name, "with_hierarchy", "YES")...)
		b.add("role_table_grants", append(append([]any(nil), name...), "grantee", owner, "with_hierarchy", "YES")...)
		if c.space == catalogSpace || c.space == standardSpace {
			continue // tools do not query the privileges of system columns
		}
		for _, a := range c.attrs {
			b.add("column_privileges", append(name, "column_name", a.name)...)
			b.add("role_column_grants", append(append([]any(nil), name...), "grantee", owner, "column_name", a.name)...)
		}
	}
}

// standardRoutines fills the views about functions and their parameters.
func (b *builder) standardRoutines() {
	db := b.subject.Database
	b.setDefaults("routines", "specific_catalog", db, "specific_schema", catalogSchema, "routine_catalog", db, "routine_schema", catalogSchema,
		"routine_type", "FUNCTION", "type_udt_catalog", db, "type_udt_schema", catalogSchema, "dtd_identifier", "0", "routine_body", "EXTERNAL",
		"external_language", "INTERNAL", "parameter_style", "GENERAL", "sql_data_access", "MODIFIES", "schema_level_routine", "YES",
		"security_type", "INVOKER")
	for _, p := range allProcs().all {
		if p.kind != "f" {
			continue // the standard knows no aggregates
		}
		specific := fmt.Sprintf("%s_%d", p.name, p.oid)
		returns := allTypes().byOID[p.returns]
		b.add("routines", "specific_name", specific, "routine_name", p.name, "data_type", dataTypeOf(returns), "type_udt_name", nameOf(returns),
			"is_deterministic", yesNo(p.volatile == "i"), "is_null_call", yesNo(p.strict))
	}
}

func dataTypeOf(t *typ) any {
	if t == nil {
		return nil
	}
	return dataType(t)
}

func nameOf(t *typ) any {
	if t == nil {
		return nil
	}
	return t.name
}
