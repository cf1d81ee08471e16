package catalog

import (
	"maps"
	"slices"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// maskedPassword replaces passwords.
const maskedPassword = "********"

// roles fills the relations about roles. There is one role, and its password is never shown.
func (b *builder) roles() {
	name := b.subject.Owner
	flags := []any{
		"rolname", name, "rolsuper", true, "rolinherit", true, "rolcreaterole", false, "rolcreatedb", false,
		"rolcanlogin", true, "rolreplication", false, "rolbypassrls", true, "rolconnlimit", -1,
	}
	b.add("pg_authid", append(flags, "oid", ownerRole)...)
	b.add("pg_roles", append(flags, "oid", ownerRole, "rolpassword", maskedPassword)...)
	user := []any{"usename", name, "usesysid", ownerRole, "usecreatedb", false, "usesuper", true, "userepl", false, "usebypassrls", true}
	b.add("pg_user", append(user, "passwd", maskedPassword)...)
	b.add("pg_shadow", user...)
}

// databases fills the relations about databases. There is one database.
func (b *builder) databases() {
	b.add("pg_database", "oid", ourDatabase, "datname", b.subject.Database, "datdba", ownerRole, "encoding", encodingUTF8,
		"datlocprovider", "c", "datallowconn", true, "datconnlimit", -1, "datfrozenxid", 3, "datminmxid", 1, "dattablespace", defaultSpace,
		"datcollate", "C.UTF-8", "datctype", "C.UTF-8", "datacl", b.publicPrivileges("c"))
	b.addLines("pg_tablespace", "oid spcname", "1663 pg_default\n1664 pg_global", "spcowner", ownerRole)
}

// methods fills the relations about access methods, languages, extensions and collations.
func (b *builder) methods() {
	b.addLines("pg_am", "oid amname amhandler amtype", methodFacts)
	b.addLines("pg_language", "oid lanname lanispl lanpltrusted lanplcallfoid laninline lanvalidator", languageFacts, "lanowner", ownerRole)
	b.addLines("pg_collation", "oid collname collprovider collencoding collcollate collctype", collationFacts,
		"collnamespace", catalogSpace, "collowner", ownerRole, "collisdeterministic", true)
	b.add("pg_extension", "oid", plpgsql, "extname", "plpgsql", "extowner", ownerRole, "extnamespace", catalogSpace, "extversion", "1.0")
	b.add("pg_available_extensions", "name", "plpgsql", "default_version", "1.0", "installed_version", "1.0")
	b.add("pg_available_extension_versions", "name", "plpgsql", "version", "1.0", "installed", true, "superuser", true, "trusted", true,
		"relocatable", false, "schema", catalogSchema)
}

// plpgsql is the OID of the extension that every PostgreSQL server has, so that tools expect
// it.
const plpgsql = 13559

const methodFacts = `
2 heap 3 t
403 btree 330 i
405 hash 331 i
783 gist 332 i
2742 gin 333 i
4000 spgist 334 i
3580 brin 335 i
`

const languageFacts = `
12 internal f f 0 0 2246
13 c f f 0 0 2247
14 sql f t 0 0 2248
13563 plpgsql t t 13560 13561 13562
`

const collationFacts = `
100 default d -1 - -
950 C c -1 C C
951 POSIX c -1 POSIX POSIX
`

// commentRows fills the comments of the subject's objects and of the built-in ones.
func (b *builder) commentRows() {
	for _, c := range b.classes {
		if c.kind != "r" || c.space == catalogSpace || c.space == standardSpace {
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
