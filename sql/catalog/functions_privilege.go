package catalog

import "strings"

// privileges are all privileges; true means granted to all roles. Every role may read all tables
// and write none: jobs are changed by statements, whose permissions the catalogue does not show.
var privileges = map[string]bool{
	"SELECT": true, "USAGE": true, "CONNECT": true, "EXECUTE": true,
	"INSERT": false, "UPDATE": false, "DELETE": false, "TRUNCATE": false, "REFERENCES": false, "TRIGGER": false,
	"CREATE": false, "TEMPORARY": false, "TEMP": false,
}

// hasPrivilege implements has_table_privilege and similar functions. Their arguments are the role
// (default: the current one), the object and the privilege. The answer is NULL for an unknown OID.
func hasPrivilege(exists func(c *Catalog, env *Env, object any) (bool, error)) call {
	return func(env *Env, c *Catalog, args []any) (any, error) {
		last := len(args) - 1
		if last == 2 {
			if _, err := c.role(env, args[0]); err != nil {
				return nil, err
			}
		}
		if exists != nil {
			if there, err := exists(c, env, args[last-1]); err != nil || !there {
				return nil, err
			}
		}
		return grants(textOf(args[last]))
	}
}

// grants reports whether at least one privilege of the list is granted. No role has a grant
// option.
func grants(list string) (any, error) {
	granted := false
	for one := range strings.SplitSeq(list, ",") {
		word, option := strings.CutSuffix(strings.ToUpper(strings.TrimSpace(one)), " WITH GRANT OPTION")
		has, known := privileges[word]
		if !known {
			return nil, fail(stateBadValue, `unrecognized privilege type: "%s"`, strings.TrimSpace(one))
		}
		granted = granted || has && !option
	}
	return boolInt(granted), nil
}

func relationExists(c *Catalog, env *Env, object any) (bool, error) {
	of, err := c.relation(env, object)
	return of != nil, err
}

func schemaExists(c *Catalog, env *Env, object any) (bool, error) {
	if n, is := oid(object); is {
		return c.schemaName[n] != "", nil
	}
	_, err := c.readSpace(env, textOf(object))
	return true, err
}
