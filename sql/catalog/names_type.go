package catalog

import (
	"regexp"
	"strings"
)

// typeSpelling splits a type into its name, the modifier in parentheses, more words of the
// name, and array brackets.
var typeSpelling = regexp.MustCompile(`^\s*((?:"(?:[^"]|"")+"|[^\s()\[\]"])+(?:\s+[A-Za-z]+)*)\s*(\([^)]*\))?((?:\s+[A-Za-z]+)*)\s*((?:\[\s*\d*\s*\]\s*)*)$`)

var blanks = regexp.MustCompile(`\s+`)

// typeNamed returns the type that a text names, or nil. A quoted name is a name of pg_type; an
// unquoted one can be a name of the SQL standard.
func (c *Catalog) typeNamed(env *Env, text string) (*typ, error) {
	parts := typeSpelling.FindStringSubmatch(text)
	if parts == nil {
		return nil, fail(stateBadName, `invalid type name "%s"`, text)
	}
	name, array := parts[1]+parts[3], parts[4] != ""
	if cut, is := strings.CutSuffix(strings.ToLower(name), " array"); is {
		name, array = name[:len(cut)], true
	}
	found, err := c.plainType(env, name)
	if err != nil || found == nil || !array {
		return found, err
	}
	return allTypes().byOID[found.array], nil
}

// plainType finds a type by a name without array brackets.
func (c *Catalog) plainType(env *Env, name string) (*typ, error) {
	if !strings.Contains(name, `"`) {
		if internal := standardSpellings[blanks.ReplaceAllString(strings.ToLower(name), " ")]; internal != "" {
			return allTypes().byName[internal], nil
		}
	}
	schema, plain, err := c.splitName(env, name)
	if err != nil {
		return nil, err
	}
	found := allTypes().byName[plain]
	switch {
	case found == nil:
		return nil, nil
	case schema == "" && !c.typeVisible(env)(found), schema != "" && spaceOf[found.space] != schema:
		return nil, nil
	}
	return found, nil
}

// standardSpellings maps type names of the grammar to names of pg_type.
var standardSpellings = map[string]string{
	"bigint": "int8", "int": "int4", "integer": "int4", "smallint": "int2", "real": "float4", "float": "float8", "double precision": "float8",
	"decimal": "numeric", "dec": "numeric", "boolean": "bool", "character varying": "varchar", "char varying": "varchar",
	"character": "bpchar", "char": "bpchar", "nchar": "bpchar", "national character": "bpchar", "bit varying": "varbit",
	"timestamp with time zone": "timestamptz", "timestamp without time zone": "timestamp",
	"time with time zone": "timetz", "time without time zone": "time",
}
