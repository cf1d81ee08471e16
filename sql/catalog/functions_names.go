package catalog

import (
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// regKinds are the reg types, whose values are OIDs that are written as names.
var regKinds = []struct {
	name string
	kind kind.Kind
	read func(c *Catalog, env *Env, text string) (int64, error)
	show func(c *Catalog, env *Env, oid int64) string // empty: there is no such thing
}{
	{"regclass", kind.Regclass, (*Catalog).readClass, (*Catalog).showClass},
	{"regtype", kind.Regtype, (*Catalog).readType, (*Catalog).showType},
	{"regproc", kind.Regproc, (*Catalog).readProc, (*Catalog).showProc},
	{"regnamespace", kind.Regspace, (*Catalog).readSpace, (*Catalog).showSpace},
	{"regrole", kind.Regrole, (*Catalog).readRole, (*Catalog).showRole},
}

// nameFunctions convert between names and OIDs: rota_regclass and similar cast a text, and
// rota_regclass_text and similar cast to text.
func nameFunctions() (all []Function) {
	for _, r := range regKinds {
		all = append(all,
			fn("rota_"+r.name, kinds(kind.Text), r.kind, func(env *Env, c *Catalog, args []any) (any, error) {
				if n, is := oid(args[0]); is {
					return n, nil
				}
				found, _, err := c.ParseOID(func() *Env { return env }, r.kind, textOf(args[0]))
				if err != nil {
					return nil, err
				}
				return found, nil
			}),
			fn("rota_"+r.name+"_text", kinds(kind.OID), kind.Text, func(env *Env, c *Catalog, args []any) (any, error) {
				text, _ := c.FormatOID(func() *Env { return env }, r.kind, oidOr0(args[0]))
				return text, nil
			}),
		)
	}
	return all
}

// toReg implements to_regclass and similar, which return NULL for an unknown name.
func toReg(read func(c *Catalog, env *Env, text string) (int64, error)) call {
	return func(env *Env, c *Catalog, args []any) (any, error) {
		if found, err := read(c, env, textOf(args[0])); err == nil {
			return found, nil
		}
		return nil, nil
	}
}

// ParseOID returns the OID that a text names, if the kind is one of the reg types.
func (c *Catalog) ParseOID(env func() *Env, k kind.Kind, text string) (number int64, is bool, err error) {
	for _, r := range regKinds {
		if r.kind != k {
			continue
		}
		if n, is := oid(text); is {
			return n, true, nil
		}
		if text == "-" {
			return 0, true, nil
		}
		number, err = r.read(c, env(), text)
		return number, true, err
	}
	return 0, false, nil
}

// FormatOID formats an OID as a name, if the kind is one of the reg types.
func (c *Catalog) FormatOID(env func() *Env, k kind.Kind, number int64) (text string, is bool) {
	for _, r := range regKinds {
		switch {
		case r.kind != k:
			continue
		case number == 0:
			return "-", true
		}
		if text := r.show(c, env(), number); text != "" {
			return text, true
		}
		return strconv.FormatInt(number, 10), true
	}
	return "", false
}

func (c *Catalog) readClass(env *Env, text string) (int64, error) {
	if found, err := c.relation(env, "\t"+text); err != nil { // never as a number
		return 0, err
	} else if found != nil {
		return found.oid, nil
	}
	return 0, fail(stateNoTable, `relation "%s" does not exist`, text)
}

func (c *Catalog) showClass(env *Env, oid int64) string {
	if of := c.classByOID[oid]; of != nil {
		return c.displayName(env, of)
	}
	return ""
}

func (c *Catalog) readType(env *Env, text string) (int64, error) {
	found, err := c.typeNamed(env, text)
	if err != nil {
		return 0, err
	}
	if found == nil {
		return 0, fail(stateNoObject, `type "%s" does not exist`, text)
	}
	return found.oid, nil
}

func (c *Catalog) showType(env *Env, oid int64) string {
	if allTypes().byOID[oid] == nil {
		return ""
	}
	return allTypes().format(oid, nil, c.typeVisible(env))
}

// procsNamed returns the functions of a name, all of which are PostgreSQL's own.
func (c *Catalog) procsNamed(env *Env, text string) ([]*proc, error) {
	text, _, _ = strings.Cut(text, "(") // regprocedure has the types behind it
	schema, name, err := c.splitName(env, text)
	if err != nil {
		return nil, err
	}
	if schema != "" && schema != catalogSchema {
		return nil, nil
	}
	return allProcs().byName[name], nil
}

func (c *Catalog) readProc(env *Env, text string) (int64, error) {
	found, err := c.procsNamed(env, text)
	switch {
	case err != nil:
		return 0, err
	case len(found) == 0:
		return 0, fail(stateNoFunction, `function "%s" does not exist`, text)
	case len(found) > 1:
		return 0, fail(stateAmbiguous, `more than one function named "%s"`, text)
	}
	return found[0].oid, nil
}

func (c *Catalog) showProc(_ *Env, oid int64) string {
	p := allProcs().byOID[oid]
	switch {
	case p == nil:
		return ""
	case len(allProcs().byName[p.name]) > 1: // then the name alone would not be read again
		return catalogSchema + "." + query.QuoteIdent(p.name)
	}
	return query.QuoteIdent(p.name)
}

// parseSingleName parses an unqualified name.
func parseSingleName(text string) (string, error) {
	names, err := identifiers(text)
	if err == nil && len(names) > 1 {
		err = fail(stateBadName, "invalid name syntax")
	}
	if err != nil {
		return "", err
	}
	return names[0], nil
}

func (c *Catalog) readSpace(_ *Env, text string) (int64, error) {
	name, err := parseSingleName(text)
	if err != nil {
		return 0, err
	}
	if n, there := c.schemaOID[name]; there {
		return n, nil
	}
	return 0, fail(stateNoSchema, `schema "%s" does not exist`, name)
}

func (c *Catalog) showSpace(_ *Env, oid int64) string {
	if name := c.schemaName[oid]; name != "" {
		return query.QuoteIdent(name)
	}
	return ""
}

func (c *Catalog) readRole(env *Env, text string) (int64, error) {
	name, err := parseSingleName(text)
	if err != nil {
		return 0, err
	}
	all, err := env.roles(c)
	if err != nil {
		return 0, err
	}
	if found := all.byName[name]; found != nil {
		return found.oid, nil
	}
	return 0, fail(stateNoObject, `role "%s" does not exist`, name)
}

func (c *Catalog) showRole(env *Env, oid int64) string {
	if all, err := env.roles(c); err == nil && all.byOID[oid] != nil {
		return query.QuoteIdent(all.byOID[oid].Name)
	}
	return ""
}
