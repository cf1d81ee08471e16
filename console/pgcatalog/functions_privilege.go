package pgcatalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/rotajobs/rota/console/kind"
)

// Everybody may read everything here, and nobody may write: what is to happen to jobs
// is said by statements, and who may use those is no matter of the catalogue.

// granted says of each sort of object what can be asked, and what everybody has.
var granted = map[string]map[string]bool{
	"table":    {"SELECT": true, "INSERT": false, "UPDATE": false, "DELETE": false, "TRUNCATE": false, "REFERENCES": false, "TRIGGER": false, "RULE": false},
	"column":   {"SELECT": true, "INSERT": false, "UPDATE": false, "REFERENCES": false},
	"sequence": {"USAGE": false, "SELECT": false, "UPDATE": false},
	"schema":   {"USAGE": true, "CREATE": false},
	"database": {"CONNECT": true, "CREATE": false, "TEMPORARY": false, "TEMP": false},
	"function": {"EXECUTE": true}, "type": {"USAGE": true}, "language": {"USAGE": true}, "tablespace": {"CREATE": false},
	"foreign_data_wrapper": {"USAGE": false}, "server": {"USAGE": false}, "parameter": {"SET": true, "ALTER SYSTEM": false},
	"role": {"MEMBER": true, "USAGE": true, "SET": true},
}

// objects find what a privilege is asked of: a number that nobody has is not there, a
// name that nobody has is an error.
var objects = map[string]func(c *Catalog, env *Env, arg any) (there bool, err error){
	"table": onRelation, "any_column": onRelation, "sequence": onRelation,
	"schema":     byName((*Catalog).readSpace, func(c *Catalog, n int64) bool { return c.spaceName[n] != "" }),
	"type":       byName((*Catalog).readType, func(_ *Catalog, n int64) bool { return book().of[n] != nil }),
	"function":   onFunction,
	"database":   oneOf(stateNoCatalog, "database", func(c *Catalog) map[string]int64 { return map[string]int64{c.subject.Database: ourDatabase} }),
	"language":   oneOf(stateNoObject, "language", func(*Catalog) map[string]int64 { return languageNames }),
	"tablespace": oneOf(stateNoObject, "tablespace", func(*Catalog) map[string]int64 { return tablespaces }),

	"foreign_data_wrapper": oneOf(stateNoObject, "foreign-data wrapper", func(*Catalog) map[string]int64 { return nil }),
	"server":               oneOf(stateNoObject, "server", func(*Catalog) map[string]int64 { return nil }),

	"parameter": func(*Catalog, *Env, any) (bool, error) { return true, nil },
	"role":      func(c *Catalog, env *Env, arg any) (bool, error) { return true, c.role(env, arg) },
}

const stateNoCatalog = "3D000"

func onRelation(c *Catalog, env *Env, arg any) (bool, error) {
	found, err := c.relation(env, arg)
	return found != nil, err
}

// onFunction takes any name: that of a function of the dialect may not be listed.
func onFunction(_ *Catalog, _ *Env, arg any) (bool, error) {
	if n, is := oid(arg); is {
		return procs().of[n] != nil, nil
	}
	return true, nil
}

// byName finds by a name or by a number.
func byName(read func(*Catalog, *Env, string) (int64, error), there func(*Catalog, int64) bool) func(*Catalog, *Env, any) (bool, error) {
	return func(c *Catalog, env *Env, arg any) (bool, error) {
		if n, is := oid(arg); is {
			return there(c, n), nil
		}
		_, err := read(c, env, textOf(arg))
		return err == nil, err
	}
}

// oneOf finds among few.
func oneOf(state, what string, all func(*Catalog) map[string]int64) func(*Catalog, *Env, any) (bool, error) {
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

// role checks who a privilege is asked for.
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
	for _, what := range sortedKeys(objects) {
		name, sort := "has_"+what+"_privilege", what
		switch what {
		case "role":
			name = "pg_has_role"
		case "any_column":
			sort = "column"
		}
		for _, args := range [][]kind.Kind{of(kind.Unknown, kind.Text), of(kind.Unknown, kind.Unknown, kind.Text)} {
			all = append(all, fn(name, args, kind.Boolean, func(env *Env, c *Catalog, args []any) (any, error) {
				return c.may(env, sort, objects[what], args)
			}))
		}
	}
	return append(all,
		fn("has_column_privilege", of(kind.Unknown, kind.Unknown, kind.Text), kind.Boolean, mayColumn),
		fn("has_column_privilege", of(kind.Unknown, kind.Unknown, kind.Unknown, kind.Text), kind.Boolean, mayColumn),
		fn("row_security_active", of(kind.Unknown), kind.Boolean, always(int64(0))),
	)
}

// may answers for the last of the arguments on the one before.
func (c *Catalog) may(env *Env, sort string, find func(*Catalog, *Env, any) (bool, error), args []any) (any, error) {
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
	return truth(is), nil
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
	return truth(is), nil
}

// columnOf says whether there is a column. A name that nobody has is an error.
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

// grants says whether one of the privileges of a list is there. To hand on a
// privilege is nobody's.
func grants(sort, list string) (is bool, err error) {
	for one := range strings.SplitSeq(list, ",") {
		word, option := strings.CutSuffix(strings.ToUpper(strings.TrimSpace(one)), " WITH GRANT OPTION")
		if cut, admin := strings.CutSuffix(word, " WITH ADMIN OPTION"); admin && sort == "role" {
			word, option = cut, false
		}
		has, known := granted[sort][word]
		if !known {
			return false, fail(stateBadValue, `unrecognized privilege type: "%s"`, strings.TrimSpace(one))
		}
		is = is || has && !option
	}
	return is, nil
}
