package catalog

import (
	"slices"
	"strings"

	"github.com/rotajobs/rota/sql/query"
)

// path returns the schemas of the search path, in order.
func (c *Catalog) path(env *Env) (all []string) {
	if !slices.Contains(env.SearchPath, catalogSchema) {
		all = append(all, catalogSchema)
	}
	return append(all, c.namedPath(env)...)
}

// namedPath returns the existing schemas that the session's search path names.
func (c *Catalog) namedPath(env *Env) (all []string) {
	for _, name := range env.SearchPath {
		if name == `$user` || name == `"$user"` {
			name = env.User
		}
		if _, there := c.schemaOID[name]; there && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// identifiers parses a qualified name like regclass: unquoted parts are folded to lower case.
func identifiers(text string) ([]string, error) {
	var names []string
	rest := strings.TrimSpace(text)
	for {
		name, after, fine := identifier(rest)
		if !fine {
			return nil, fail(stateBadName, "invalid name syntax")
		}
		names = append(names, name)
		if after = strings.TrimLeft(after, " \t\n"); after == "" {
			return names, nil
		}
		var point bool
		if rest, point = strings.CutPrefix(after, "."); !point {
			return nil, fail(stateBadName, "invalid name syntax")
		}
		rest = strings.TrimLeft(rest, " \t\n")
	}
}

// identifier parses the first name of a text and returns the rest.
func identifier(text string) (name, rest string, fine bool) {
	if strings.HasPrefix(text, `"`) {
		return quoted(text[1:])
	}
	end := strings.IndexAny(text, ". \t\n\"")
	if end < 0 {
		end = len(text)
	}
	return strings.ToLower(text[:end]), text[end:], end > 0
}

// quoted parses a quoted name after its opening quote.
func quoted(text string) (name, rest string, fine bool) {
	for {
		part, after, found := strings.Cut(text, `"`)
		if !found {
			return "", "", false
		}
		name += part
		if !strings.HasPrefix(after, `"`) {
			return name, after, name != ""
		}
		name, text = name+`"`, after[1:]
	}
}

// splitName parses a name with an optional schema and database.
func (c *Catalog) splitName(env *Env, text string) (schema, name string, err error) {
	names, err := identifiers(text)
	if err != nil {
		return "", "", err
	}
	switch {
	case len(names) == 1:
		return "", names[0], nil
	case len(names) == 2:
		return names[0], names[1], nil
	case len(names) == 3 && (names[0] == env.Database || names[0] == c.subject.Database):
		return names[1], names[2], nil
	}
	if len(names) > 3 {
		return "", "", fail(stateSyntax, "improper relation name (too many dotted names): %s", strings.Join(names, "."))
	}
	return "", "", fail(stateUnsupported, "cross-database references are not implemented: %s", strings.Join(names, "."))
}

// find returns the relation of a name, or nil.
func (c *Catalog) find(env *Env, schema, name string) *class {
	if schema != "" {
		return c.classByName[[2]string{schema, name}]
	}
	for _, space := range c.path(env) {
		if found := c.classByName[[2]string{space, name}]; found != nil {
			return found
		}
	}
	return nil
}

// relation returns the relation of an argument, which is an OID or a name. For an unknown OID
// it is nil; an unknown name is an error.
func (c *Catalog) relation(env *Env, arg any) (*class, error) {
	if n, is := oid(arg); is {
		return c.classByOID[n], nil
	}
	text := textOf(arg)
	schema, name, err := c.splitName(env, text)
	if err != nil {
		return nil, err
	}
	if found := c.find(env, schema, name); found != nil {
		return found, nil
	}
	if _, there := c.schemaOID[schema]; schema != "" && !there {
		return nil, fail(stateNoSchema, `schema "%s" does not exist`, schema)
	}
	if schema != "" {
		name = schema + "." + name
	}
	return nil, fail(stateNoTable, `relation "%s" does not exist`, name)
}

// visible reports whether the relation is found without its schema.
func (c *Catalog) visible(env *Env, of *class) bool { return c.find(env, "", of.name) == of }

// typeVisible reports whether a type is found without its schema. Names of types are unique.
func (c *Catalog) typeVisible(env *Env) func(*typ) bool {
	path := c.path(env)
	return func(t *typ) bool { return slices.Contains(path, spaceOf[t.space]) }
}

// displayName is the name of a relation, qualified if the search path requires it.
func (c *Catalog) displayName(env *Env, of *class) string {
	if c.visible(env, of) {
		return query.QuoteIdent(of.name)
	}
	return query.QuoteIdent(of.schema) + "." + query.QuoteIdent(of.name)
}
