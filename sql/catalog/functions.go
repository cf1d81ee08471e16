package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/query"
)

// calls are the functions of the catalogue that depend on the session or the arguments. Functions
// with a constant answer are in data/functions.tsv.
var calls = map[string]call{
	"current_database": databaseName,
	"current_user":     userName,
	"session_user":     userName,
	"current_schema":   currentSchema,
	"current_schemas":  currentSchemas,
	"version":          func(env *Env, c *Catalog, _ []any) (any, error) { return "PostgreSQL " + env.version(c), nil },
	"pg_backend_pid":   func(env *Env, _ *Catalog, _ []any) (any, error) { return int64(env.PID), nil },
	"current_setting":  currentSetting,
	"set_config":       setConfig,

	"format_type":         formatType,
	"pg_size_pretty":      func(_ *Env, _ *Catalog, args []any) (any, error) { return pretty(oidOr0(args[0])), nil },
	"pg_encoding_to_char": encodingName,
	"pg_char_to_encoding": encodingNumber,

	"pg_get_keywords":      keywordRecords,
	"pg_show_all_settings": settingRecords,
	"aclexplode":           privilegeRecords,

	"obj_description":   objectComment,
	"shobj_description": objectComment,
	"col_description":   columnComment,

	"pg_get_userbyid":      userByID,
	"pg_get_indexdef":      showIndex,
	"pg_get_constraintdef": showConstraint,

	"pg_get_functiondef":                 withProc((*proc).define),
	"pg_get_function_result":             withProc((*proc).result),
	"pg_get_function_arguments":          withProc((*proc).arguments),
	"pg_get_function_identity_arguments": withProc((*proc).arguments),

	"pg_table_is_visible": func(env *Env, c *Catalog, args []any) (any, error) {
		of := c.classByOID[oidOr0(args[0])]
		return ifKnown(of != nil, func() bool { return c.visible(env, of) }), nil
	},
	"pg_type_is_visible": func(env *Env, c *Catalog, args []any) (any, error) {
		of := allTypes().byOID[oidOr0(args[0])]
		return ifKnown(of != nil, func() bool { return c.typeVisible(env)(of) }), nil
	},
	"pg_function_is_visible": func(_ *Env, _ *Catalog, args []any) (any, error) {
		oid := oidOr0(args[0])
		return ifKnown(allProcs().byOID[oid] != nil, func() bool { return allProcs().visible(oid) }), nil
	},

	"has_table_privilege":      hasPrivilege(relationExists),
	"has_any_column_privilege": hasPrivilege(relationExists),
	"has_schema_privilege":     hasPrivilege(schemaExists),
	"has_database_privilege":   hasPrivilege(nil),
	"has_function_privilege":   hasPrivilege(nil),
	"has_type_privilege":       hasPrivilege(nil),
	"pg_has_role":              hasRole,

	"to_regclass":     toReg((*Catalog).readClass),
	"to_regtype":      toReg((*Catalog).readType),
	"to_regproc":      toReg((*Catalog).readProc),
	"to_regnamespace": toReg((*Catalog).readSpace),
	"to_regrole":      toReg((*Catalog).readRole),
}

// ifKnown answers a question about an object; NULL for an unknown one.
func ifKnown(known bool, is func() bool) any {
	if !known {
		return nil
	}
	return boolInt(is())
}

func unknownRole(oid int64) string { return fmt.Sprintf("unknown (OID=%d)", oid) }

// withProc returns NULL for a function that does not exist.
func withProc(show func(*proc) string) call {
	return func(_ *Env, _ *Catalog, args []any) (any, error) {
		if p := allProcs().byOID[oidOr0(args[0])]; p != nil {
			return show(p), nil
		}
		return nil, nil
	}
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
		return query.QuoteIdent(index.attrs[at-1].name), nil
	}
	return "", nil
}

func showConstraint(_ *Env, c *Catalog, args []any) (any, error) {
	for _, index := range c.classes {
		if index.kind == "i" && index.constraint == oidOr0(args[0]) {
			return "PRIMARY KEY (" + index.columns() + ")", nil
		}
	}
	return nil, nil
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

// objectComment returns the comment on an object of the catalogue table of the second argument,
// or of any table.
func objectComment(_ *Env, c *Catalog, args []any) (any, error) {
	tables := []int64{classTable, spaceTable, extensionTable}
	if len(args) > 1 {
		tables = []int64{c.OID(catalogSchema, textOf(args[1]))}
	}
	for _, table := range tables {
		if text := c.comments[commentKey{oidOr0(args[0]), table, 0}]; text != "" {
			return text, nil
		}
	}
	return nil, nil
}

func columnComment(_ *Env, c *Catalog, args []any) (any, error) {
	if text := c.comments[commentKey{oidOr0(args[0]), classTable, oidOr0(args[1])}]; text != "" && oidOr0(args[1]) > 0 {
		return text, nil
	}
	return nil, nil
}

const encodingUTF8 = 6

// encodings are PostgreSQL's encodings by number.
var encodings = strings.Fields(`
	SQL_ASCII EUC_JP EUC_CN EUC_KR EUC_TW EUC_JIS_2004 UTF8 MULE_INTERNAL LATIN1 LATIN2 LATIN3 LATIN4 LATIN5 LATIN6 LATIN7
	LATIN8 LATIN9 LATIN10 WIN1256 WIN1258 WIN866 WIN874 KOI8R WIN1251 WIN1252 ISO_8859_5 ISO_8859_6 ISO_8859_7 ISO_8859_8
	WIN1250 WIN1253 WIN1254 WIN1255 WIN1257 KOI8U SJIS BIG5 GBK UHC GB18030 JOHAB SHIFT_JIS_2004`)

func encodingName(_ *Env, _ *Catalog, args []any) (any, error) {
	if n := oidOr0(args[0]); n >= 0 && n < int64(len(encodings)) {
		return encodings[n], nil
	}
	return "", nil
}

func encodingNumber(_ *Env, _ *Catalog, args []any) (any, error) {
	name := normalizeEncoding(textOf(args[0]))
	return int64(slices.IndexFunc(encodings, func(known string) bool { return normalizeEncoding(known) == name })), nil
}

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

// pretty formats a size in the unit with the fewest digits, rounded half away from zero.
func pretty(bytes int64) string {
	sign, n := "", bytes
	if n < 0 {
		sign, n = "-", -n
	}
	if n < 10*1024 {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	half := n >> 9 // in halves of the unit, so that it can be rounded
	for _, unit := range []string{"kB", "MB", "GB", "TB"} {
		if half < 20*1024-1 {
			return sign + strconv.FormatInt((half+1)/2, 10) + " " + unit
		}
		half >>= 10
	}
	return sign + strconv.FormatInt((half+1)/2, 10) + " PB"
}
