package catalog

import (
	"maps"
	"slices"
	"strings"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// databases fills the relations about databases. There is one database.
func (b *builder) databases() {
	b.add("pg_database", "oid", ourDatabase, "datname", b.subject.Database, "datdba", ownerRole, "encoding", encodingUTF8,
		"datlocprovider", "c", "datallowconn", true, "datconnlimit", -1, "datfrozenxid", 3, "datminmxid", 1, "dattablespace", defaultSpace,
		"datcollate", "C.UTF-8", "datctype", "C.UTF-8", "datacl", b.publicPrivileges("c"))
}

// builtins adds PostgreSQL's types, functions, operators and the like.
func (b *builder) builtins() {
	for _, relation := range []string{"pg_cast", "pg_range", "pg_am", "pg_aggregate"} {
		b.addData(relation)
	}
	for relation, owner := range map[string]string{
		"pg_type": "typowner", "pg_proc": "proowner", "pg_operator": "oprowner", "pg_opclass": "opcowner", "pg_opfamily": "opfowner",
		"pg_language": "lanowner", "pg_collation": "collowner", "pg_tablespace": "spcowner",
	} {
		b.addData(relation, owner, ownerRole)
	}
}

// extensions adds the extension that every PostgreSQL server has.
func (b *builder) extensions() {
	b.add("pg_extension", "oid", plpgsql, "extname", "plpgsql", "extowner", ownerRole, "extnamespace", catalogSpace, "extversion", "1.0")
	b.add("pg_available_extensions", "name", "plpgsql", "default_version", "1.0", "installed_version", "1.0")
	b.add("pg_available_extension_versions", "name", "plpgsql", "version", "1.0", "installed", true, "superuser", true, "trusted", true,
		"relocatable", false, "schema", catalogSchema)
}

// settingRows fills pg_settings. A session can have other values; current_setting reads them
// from the session.
func (b *builder) settingRows() {
	b.addData("pg_settings", "source", "default", "pending_restart", false)
	sh := b.tableByName["pg_settings"]
	for _, row := range sh.rows {
		name, value := textOf(row[sh.at["name"]]), textOf(row[sh.at["setting"]])
		if name == "server_version" {
			value = b.subject.Version
		}
		b.settings[strings.ToLower(name)] = value
		sh.set(row, []any{"setting", value, "boot_val", value, "reset_val", value})
	}
}

// plpgsql is the OID of the extension that every PostgreSQL server has, so that tools expect
// it.
const plpgsql = 13559

// commentRows fills the comments of the subject's objects and of the built-in ones.
func (b *builder) commentRows() {
	for _, c := range b.classes {
		if !c.own() {
			continue
		}
		b.addComment(c.oid, classTable, 0, b.subject.Comment(c.name, ""))
		for i, a := range c.attrs {
			b.addComment(c.oid, classTable, int64(i+1), b.subject.Comment(c.name, a.name))
		}
	}
	b.addComment(publicSpace, spaceTable, 0, "empty schema, for tools that expect one of this name")
	b.addComment(plpgsql, extensionTable, 0, "listed for compatibility; procedures are not supported")
	b.comments[commentKey{ourDatabase, databaseTable, 0}] = "read-only database of the scheduler"
	b.add("pg_shdescription", "objoid", ourDatabase, "classoid", databaseTable, "description", b.comments[commentKey{ourDatabase, databaseTable, 0}])
}

func (b *builder) addComment(of, table, column int64, text string) {
	if text == "" {
		return
	}
	b.comments[commentKey{of, table, column}] = text
	b.add("pg_description", "objoid", of, "classoid", table, "objsubid", column, "description", text)
}
