package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
)

// Every role may read all tables and write none: jobs are changed by statements, whose
// permissions the catalogue does not show.

// privileges maps each type of object to its privileges; true means granted to all roles.
var privileges = map[string]map[string]bool{
	"table":    {"SELECT": true, "INSERT": false, "UPDATE": false, "DELETE": false, "TRUNCATE": false, "REFERENCES": false, "TRIGGER": false, "RULE": false},
	"column":   {"SELECT": true, "INSERT": false, "UPDATE": false, "REFERENCES": false},
	"sequence": {"USAGE": false, "SELECT": false, "UPDATE": false},
	"schema":   {"USAGE": true, "CREATE": false},
	"database": {"CONNECT": true, "CREATE": false, "TEMPORARY": false, "TEMP": false},
	"function": {"EXECUTE": true}, "type": {"USAGE": true}, "language": {"USAGE": true}, "tablespace": {"CREATE": false},
	"foreign_data_wrapper": {"USAGE": false}, "server": {"USAGE": false}, "parameter": {"SET": true, "ALTER SYSTEM": false},
	"role": {"MEMBER": true, "USAGE": true, "SET": true},
}

// privilegeObjects find the object of a privilege check. An unknown number means that it does
// not exist; an unknown name is an error.
var privilegeObjects = map[string]func(c *Catalog, env *Env, arg any) (there bool, err error){
	"table": relationExists, "any_column": relationExists, "sequence": relationExists,
	"schema":     existsByName((*Catalog).readSpace, func(c *Catalog, n int64) bool { return c.schemaName[n] != "" }),
	"type":       existsByName((*Catalog).readType, func(_ *Catalog, n int64) bool { return allTypes().byOID[n] != nil }),
	"function":   functionExists,
	"database":   existsInMap(stateNoCatalog, "database", func(c *Catalog) map[string]int64 { return map[string]int64{c.subject.Database: ourDatabase} }),
	"language":   existsInMap(stateNoObject, "language", func(*Catalog) map[string]int64 { return languageNames }),
	"tablespace": existsInMap(stateNoObject, "tablespace", func(*Catalog) map[string]int64 { return tablespaces }),

	"foreign_data_wrapper": existsInMap(stateNoObject, "foreign-data wrapper", func(*Catalog) map[string]int64 { return nil }),
	"server":               existsInMap(stateNoObject, "server", func(*Catalog) map[string]int64 { return nil }),

	"parameter": func(*Catalog, *Env, any) (bool, error) { return true, nil },
	"role":      func(c *Catalog, env *Env, arg any) (bool, error) { return true, c.role(env, arg) },
}

const stateNoCatalog = "3D000"

func relationExists(c *Catalog, env *Env, arg any) (bool, error) {
	found, err := c.relation(env, arg)
	return found != nil, err
}

// functionExists accepts any name, because functions of the dialect may not be listed.
func functionExists(_ *Catalog, _ *Env, arg any) (bool, error) {
	if n, is := oid(arg); is {
		return allProcs().byOID[n] != nil, nil
	}
	return true, nil
}

// existsByName finds an object by name or OID.
func existsByName(read func(*Catalog, *Env, string) (int64, error), there func(*Catalog, int64) bool) func(*Catalog, *Env, any) (bool, error) {
	return func(c *Catalog, env *Env, arg any) (bool, error) {
		if n, is := oid(arg); is {
			return there(c, n), nil
		}
		_, err := read(c, env, textOf(arg))
		return err == nil, err
	}
}

// existsInMap finds an object in a small map.
func existsInMap(state, what string, all func(*Catalog) map[string]int64) func(*Catalog, *Env, any) (bool, error) {
	return func(c *Catalog, _ *Env, arg any) (bool, error) {
		few := all(c)
		if n, is := oid(arg); is {
			return slices.Contains(slices.Collect(maps.Values(few)), n), nil
		}
		if _, there := few[textOf(arg)]; there {
			return true, nil
		}
		return false, fail(state, `%s "%s" does not exist`, what, textOf(arg))
	}
}

var (
	languageNames = map[string]int64{"internal": 12, "c": 13, "sql": 14, "plpgsql": 13563}
	tablespaces   = map[string]int64{"pg_default": defaultSpace, "pg_global": globalSpace}
)

// role checks that the role of a privilege check exists.
func (c *Catalog) role(env *Env, arg any) error {
	if n, is := oid(arg); is {
		if n != ownerRole && n != 0 {
			return fail(stateNoObject, "role with OID %d does not exist", n)
		}
		return nil
	}
	if name := textOf(arg); name != c.subject.Owner && name != env.User && name != "public" {
		return fail(stateNoObject, `role "%s" does not exist`, name)
	}
	return nil
}

// privilegeFunctions are has_table_privilege and similar functions. Their arguments are the
// role (default: the current one), the object and the privilege.
func privilegeFunctions() (all []Function) {
	for _, what := range sortedKeys(privilegeObjects) {
		name, sort := "has_"+what+"_privilege", what
		switch what {
		case "role":
			name = "pg_has_role"
		case "any_column":
			sort = "column"
		}
		for _, args := range [][]kind.Kind{kinds(kind.Unknown, kind.Text), kinds(kind.Unknown, kind.Unknown, kind.Text)} {
			all = append(all, fn(name, args, kind.Boolean, func(env *Env, c *Catalog, args []any) (any, error) {
				return c.hasPrivilege(env, sort, privilegeObjects[what], args)
			}))
		}
	}
	return append(all,
		fn("has_column_privilege", kinds(kind.Unknown, kind.Unknown, kind.Text), kind.Boolean, mayColumn),
		fn("has_column_privilege", kinds(kind.Unknown, kind.Unknown, kind.Unknown, kind.Text), kind.Boolean, mayColumn),
		fn("row_security_active", kinds(kind.Unknown), kind.Boolean, constant(int64(0))),
	)
}

// hasPrivilege checks the privilege of the last argument on the object of the argument before
// it.
func (c *Catalog) hasPrivilege(env *Env, sort string, find func(*Catalog, *Env, any) (bool, error), args []any) (any, error) {
	last := len(args) - 1
	if last == 2 {
		if err := c.role(env, args[0]); err != nil {
			return nil, err
		}
	}
	there, err := find(c, env, args[last-1])
	if err != nil {
		return nil, err
	}
	is, err := grants(sort, textOf(args[last]))
	if err != nil || !there {
		return nil, err
	}
	return boolInt(is), nil
}

// mayColumn answers for a column, which is given by its name or its number.
func mayColumn(env *Env, c *Catalog, args []any) (any, error) {
	last := len(args) - 1
	if last == 3 {
		if err := c.role(env, args[0]); err != nil {
			return nil, err
		}
	}
	there, err := c.columnOf(env, args[last-2], args[last-1])
	if err != nil {
		return nil, err
	}
	is, err := grants("column", textOf(args[last]))
	if err != nil || !there {
		return nil, err
	}
	return boolInt(is), nil
}

// columnOf reports whether a column exists. An unknown name is an error.
func (c *Catalog) columnOf(env *Env, relation, column any) (bool, error) {
	of, err := c.relation(env, relation)
	if err != nil || of == nil {
		return false, err
	}
	if n, is := column.(int64); is {
		return n > 0 && n <= int64(len(of.attrs)), nil
	}
	if of.attr(textOf(column)) < 0 {
		return false, fail(stateNoColumn, `column "%s" of relation "%s" does not exist`, textOf(column), of.name)
	}
	return true, nil
}

// grants reports whether at least one privilege of the list is granted. No role has a grant
// option.
func grants(sort, list string) (is bool, err error) {
	for one := range strings.SplitSeq(list, ",") {
		word, option := strings.CutSuffix(strings.ToUpper(strings.TrimSpace(one)), " WITH GRANT OPTION")
		if cut, admin := strings.CutSuffix(word, " WITH ADMIN OPTION"); admin && sort == "role" {
			word, option = cut, false
		}
		has, known := privileges[sort][word]
		if !known {
			return false, fail(stateBadValue, `unrecognized privilege type: "%s"`, strings.TrimSpace(one))
		}
		is = is || has && !option
	}
	return is, nil
}
