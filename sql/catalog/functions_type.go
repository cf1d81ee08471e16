package catalog

import (
	"slices"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/translate"
)

// typeFunctions format types and encodings.
var typeFunctions = []Function{
	{translate.Signature{Name: "format_type", Args: kinds(kind.OID, kind.Int4), Returns: kind.Text}, formatType},
	fn("pg_encoding_to_char", kinds(kind.Int4), kind.Name, func(_ *Env, _ *Catalog, args []any) (any, error) {
		if n := oidOr0(args[0]); n >= 0 && n < int64(len(encodings)) {
			return encodings[n], nil
		}
		return "", nil
	}),
	fn("pg_char_to_encoding", kinds(kind.Name), kind.Int4, func(_ *Env, _ *Catalog, args []any) (any, error) {
		return int64(slices.IndexFunc(encodings, func(name string) bool { return normalizeEncoding(name) == normalizeEncoding(textOf(args[0])) })), nil
	}),
	fn("pg_client_encoding", nil, kind.Name, constant("UTF8")),
	fn("getdatabaseencoding", nil, kind.Name, constant("UTF8")),
	fn("pg_encoding_max_length", kinds(kind.Int4), kind.Int4, constant(int64(4))),
}

// formatType returns NULL only without a type. The modifier may be NULL.
func formatType(env *Env, c *Catalog, args []any) (any, error) {
	if args[0] == nil {
		return nil, nil
	}
	var mod *int64
	if args[1] != nil {
		n := oidOr0(args[1])
		mod = &n
	}
	return allTypes().format(oidOr0(args[0]), mod, c.typeVisible(env)), nil
}

const encodingUTF8 = 6

// encodings are PostgreSQL's encodings by number.
var encodings = strings.Fields(`
	SQL_ASCII EUC_JP EUC_CN EUC_KR EUC_TW EUC_JIS_2004 UTF8 MULE_INTERNAL LATIN1 LATIN2 LATIN3 LATIN4 LATIN5 LATIN6 LATIN7
	LATIN8 LATIN9 LATIN10 WIN1256 WIN1258 WIN866 WIN874 KOI8R WIN1251 WIN1252 ISO_8859_5 ISO_8859_6 ISO_8859_7 ISO_8859_8
	WIN1250 WIN1253 WIN1254 WIN1255 WIN1257 KOI8U SJIS BIG5 GBK UHC GB18030 JOHAB SHIFT_JIS_2004`)

// normalizeEncoding removes the differences between spellings such as UTF-8 and utf8.
func normalizeEncoding(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	if name == "unicode" {
		return "utf8"
	}
	return name
}

// commentFunctions return comments.
var commentFunctions = []Function{
	fn("obj_description", kinds(kind.OID), kind.Text, func(_ *Env, c *Catalog, args []any) (any, error) {
		for _, table := range []int64{classTable, spaceTable, extensionTable} {
			if text := c.commentOn(oidOr0(args[0]), table, 0); text != nil {
				return text, nil
			}
		}
		return nil, nil
	}),
	fn("obj_description", kinds(kind.OID, kind.Name), kind.Text, describedIn),
	fn("shobj_description", kinds(kind.OID, kind.Name), kind.Text, describedIn),
	fn("col_description", kinds(kind.OID, kind.Int4), kind.Text, func(_ *Env, c *Catalog, args []any) (any, error) {
		if column := oidOr0(args[1]); column > 0 {
			return c.commentOn(oidOr0(args[0]), classTable, column), nil
		}
		return nil, nil
	}),
}

func describedIn(_ *Env, c *Catalog, args []any) (any, error) {
	if table := c.classByName[[2]string{catalogSchema, textOf(args[1])}]; table != nil {
		return c.commentOn(oidOr0(args[0]), table.oid, 0), nil
	}
	return nil, nil
}

func (c *Catalog) commentOn(of, table, column int64) any {
	if text := c.comments[commentKey{of, table, column}]; text != "" {
		return text
	}
	return nil
}

// visibleFunctions report whether an object is found without its schema; NULL for unknown
// objects.
var visibleFunctions = []Function{
	fn("pg_table_is_visible", kinds(kind.OID), kind.Boolean, func(env *Env, c *Catalog, args []any) (any, error) {
		if found := c.classByOID[oidOr0(args[0])]; found != nil {
			return boolInt(c.visible(env, found)), nil
		}
		return nil, nil
	}),
	fn("pg_type_is_visible", kinds(kind.OID), kind.Boolean, func(env *Env, c *Catalog, args []any) (any, error) {
		if found := allTypes().byOID[oidOr0(args[0])]; found != nil {
			return boolInt(c.typeVisible(env)(found)), nil
		}
		return nil, nil
	}),
	fn("pg_function_is_visible", kinds(kind.OID), kind.Boolean, func(_ *Env, _ *Catalog, args []any) (any, error) {
		if allProcs().byOID[oidOr0(args[0])] != nil {
			return int64(1), nil
		}
		return nil, nil
	}),
	fn("pg_operator_is_visible", kinds(kind.OID), kind.Boolean, constant(int64(1))), // all are of pg_catalog
	fn("pg_opclass_is_visible", kinds(kind.OID), kind.Boolean, constant(int64(1))),
	fn("pg_opfamily_is_visible", kinds(kind.OID), kind.Boolean, constant(int64(1))),
	fn("pg_collation_is_visible", kinds(kind.OID), kind.Boolean, constant(int64(1))),
	fn("pg_conversion_is_visible", kinds(kind.OID), kind.Boolean, constant(nil)), // there are none
	fn("pg_statistics_obj_is_visible", kinds(kind.OID), kind.Boolean, constant(nil)),
	fn("pg_ts_parser_is_visible", kinds(kind.OID), kind.Boolean, constant(nil)),
	fn("pg_ts_dict_is_visible", kinds(kind.OID), kind.Boolean, constant(nil)),
	fn("pg_ts_template_is_visible", kinds(kind.OID), kind.Boolean, constant(nil)),
	fn("pg_ts_config_is_visible", kinds(kind.OID), kind.Boolean, constant(nil)),
}
