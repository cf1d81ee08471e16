package catalog

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/translate"
)

// showFunctions return definitions of objects. They return NULL for objects that Rota does not
// have, such as triggers.
var showFunctions = []Function{
	fn("pg_get_expr", kinds(kind.NodeTree, kind.OID, kind.Boolean), kind.Text, func(_ *Env, _ *Catalog, args []any) (any, error) { return textOf(args[0]), nil }).optional(1),
	fn("pg_get_userbyid", kinds(kind.OID), kind.Name, func(_ *Env, c *Catalog, args []any) (any, error) {
		if n := oidOr0(args[0]); n != ownerRole {
			return fmt.Sprintf("unknown (OID=%d)", n), nil
		}
		return c.subject.Owner, nil
	}),
	fn("pg_get_indexdef", kinds(kind.OID), kind.Text, showIndex),
	fn("pg_get_indexdef", kinds(kind.OID, kind.Int4, kind.Boolean), kind.Text, showIndex),
	fn("pg_get_constraintdef", kinds(kind.OID, kind.Boolean), kind.Text, func(_ *Env, c *Catalog, args []any) (any, error) {
		for _, index := range c.classes {
			if n := oidOr0(args[0]); index.kind == "i" && index.constraint == n {
				return "PRIMARY KEY (" + index.columns() + ")", nil
			}
		}
		return nil, nil
	}).optional(1),
	fn("pg_get_function_result", kinds(kind.OID), kind.Text, withProc(func(p *proc) any { return p.result() })),
	fn("pg_get_function_arguments", kinds(kind.OID), kind.Text, withProc(func(p *proc) any { return p.arguments() })),
	fn("pg_get_function_identity_arguments", kinds(kind.OID), kind.Text, withProc(func(p *proc) any { return p.arguments() })),
	fn("pg_get_functiondef", kinds(kind.OID), kind.Text, withProc(func(p *proc) any { return p.define() })),
	fn("pg_get_function_sqlbody", kinds(kind.OID), kind.Text, constant(nil)),
	fn("pg_get_function_arg_default", kinds(kind.OID, kind.Int4), kind.Text, constant(nil)),
	fn("pg_get_viewdef", kinds(kind.Unknown, kind.Unknown), kind.Text, constant(nil)).optional(1),
	fn("pg_get_ruledef", kinds(kind.OID, kind.Boolean), kind.Text, constant(nil)).optional(1),
	fn("pg_get_triggerdef", kinds(kind.OID, kind.Boolean), kind.Text, constant(nil)).optional(1),
	fn("pg_get_partkeydef", kinds(kind.OID), kind.Text, constant(nil)),
	fn("pg_get_partition_constraintdef", kinds(kind.OID), kind.Text, constant(nil)),
	fn("pg_get_statisticsobjdef", kinds(kind.OID), kind.Text, constant(nil)),
	fn("pg_get_statisticsobjdef_columns", kinds(kind.OID), kind.Text, constant(nil)),
	fn("pg_get_statisticsobjdef_expressions", kinds(kind.OID), kind.Text.Array(), constant(nil)),
	fn("pg_get_serial_sequence", kinds(kind.Text, kind.Text), kind.Text, func(env *Env, c *Catalog, args []any) (any, error) {
		_, err := c.columnOf(env, args[0], args[1])
		return nil, err
	}),
	fn("pg_describe_object", kinds(kind.OID, kind.OID, kind.Int4), kind.Text, describe),
	rowsOf("pg_get_keywords", nil, func() any { return keywordRows() }, "word text, catcode \"char\", barelabel boolean, catdesc text, baredesc text"),
	rowsOf("pg_options_to_table", kinds(kind.Text.Array()), func() any { return []any{} }, "option_name text, option_value text"),
	rowsOf("pg_partition_ancestors", kinds(kind.Regclass), func() any { return []any{} }, "relid regclass"),
	rowsOf("pg_partition_tree", kinds(kind.Regclass), func() any { return []any{} }, "relid regclass, parentrelid regclass, isleaf boolean, level integer"),
	rowsOf("pg_listening_channels", nil, func() any { return []any{} }),
}

// rowsOf declares a set-returning function with these columns.
func rowsOf(name string, args []kind.Kind, rows func() any, columns ...string) Function {
	var fields []translate.Column
	for _, c := range readColumns(strings.Join(columns, ",")) {
		fields = append(fields, translate.Column{Name: c.name, Kind: kindOf(c.typ)})
	}
	return Function{
		translate.Signature{Name: name, Args: args, Returns: kind.Record, Set: true, Fields: fields},
		func(*Env, *Catalog, []any) (any, error) {
			text, err := json.Marshal(rows())
			return string(text), err
		},
	}
}

// withProc returns NULL for a function that does not exist.
func withProc(show func(*proc) any) call {
	return func(_ *Env, _ *Catalog, args []any) (any, error) {
		if p := allProcs().byOID[oidOr0(args[0])]; p != nil {
			return show(p), nil
		}
		return nil, nil
	}
}

// define is a statement that creates the function.
func (p *proc) define() string {
	if p.kind == "a" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE OR REPLACE FUNCTION pg_catalog.%s(%s)\n RETURNS %s\n LANGUAGE internal\n", QuoteIdent(p.name), p.arguments(), p.result())
	words := map[string]string{"i": " IMMUTABLE", "s": " STABLE"}[p.volatile]
	words += map[string]string{"s": " PARALLEL SAFE", "r": " PARALLEL RESTRICTED"}[p.parallel]
	if p.strict {
		words += " STRICT"
	}
	if words != "" {
		b.WriteString(words + "\n")
	}
	fmt.Fprintf(&b, "AS $function$%s$function$\n", p.name)
	return b.String()
}

// showIndex is the definition of an index, or of one of its columns.
func showIndex(env *Env, c *Catalog, args []any) (any, error) {
	index := c.classByOID[oidOr0(args[0])]
	if index == nil || index.kind != "i" {
		return nil, nil
	}
	if len(args) == 1 {
		return index.define(true), nil
	}
	switch at := oidOr0(args[1]); {
	case at == 0:
		return index.define(!isTrue(args[2]) || !c.visible(env, index.of)), nil
	case at > 0 && at <= int64(len(index.attrs)):
		return QuoteIdent(index.attrs[at-1].name), nil
	}
	return "", nil
}

// keywordRows are the rows of pg_get_keywords.
func keywordRows() (rows []map[string]any) {
	why := map[string]string{
		"U": "unreserved", "C": "unreserved (cannot be function or type name)", "T": "reserved (can be function or type name)", "R": "reserved",
	}
	for _, word := range sortedKeys(keyword()) {
		letter := keyword()[word]
		bare, can := letter == strings.ToUpper(letter), "can be bare label"
		if !bare {
			can = "requires AS"
		}
		rows = append(rows, map[string]any{
			"word": word, "catcode": strings.ToUpper(letter), "barelabel": boolInt(bare), "catdesc": why[strings.ToUpper(letter)], "baredesc": can,
		})
	}
	return rows
}

// describe answers pg_describe_object.
func describe(env *Env, c *Catalog, args []any) (any, error) {
	id, column := oidOr0(args[1]), oidOr0(args[2])
	switch oidOr0(args[0]) {
	case classTable:
		if of := c.classByOID[id]; of != nil {
			text := map[string]string{"r": "table ", "v": "view ", "i": "index "}[of.kind] + c.displayName(env, of)
			if column > 0 && column <= int64(len(of.attrs)) {
				text = "column " + of.attrs[column-1].name + " of " + text
			}
			return text, nil
		}
	case spaceTable:
		if name := c.schemaName[id]; name != "" {
			return "schema " + name, nil
		}
	case typeTable:
		if text := c.showType(env, id); text != "" {
			return "type " + text, nil
		}
	case procTable:
		if p := allProcs().byOID[id]; p != nil {
			return "function " + p.name + "(" + strings.ReplaceAll(p.arguments(), ", ", ",") + ")", nil
		}
	}
	return nil, nil
}
