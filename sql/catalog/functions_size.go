package catalog

import (
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/translate"
)

// sizeFunctions return the sizes of objects, which are 0: Rota's tables have no files of their
// own.
var sizeFunctions = []Function{
	fn("pg_relation_size", kinds(kind.Regclass), kind.Integer, ifRelationExists(0)), fn("pg_relation_size", kinds(kind.Regclass, kind.Text), kind.Integer, ifRelationExists(0)),
	fn("pg_total_relation_size", kinds(kind.Regclass), kind.Integer, ifRelationExists(0)),
	fn("pg_table_size", kinds(kind.Regclass), kind.Integer, ifRelationExists(0)), fn("pg_indexes_size", kinds(kind.Regclass), kind.Integer, ifRelationExists(0)),
	fn("pg_database_size", kinds(kind.Unknown), kind.Integer, constant(int64(0))),
	fn("pg_tablespace_size", kinds(kind.Unknown), kind.Integer, constant(int64(0))),
	fn("pg_tablespace_location", kinds(kind.OID), kind.Text, constant("")),
	fn("pg_size_pretty", kinds(kind.Numeric), kind.Text, func(_ *Env, _ *Catalog, args []any) (any, error) { return pretty(oidOr0(args[0])), nil }),
	fn("pg_relation_filenode", kinds(kind.Regclass), kind.OID, func(env *Env, c *Catalog, args []any) (any, error) {
		if found, err := c.relation(env, args[0]); err != nil || found == nil || found.kind == "v" {
			return nil, err
		} else {
			return found.oid, nil
		}
	}),
	fn("pg_relation_filepath", kinds(kind.Regclass), kind.Text, ifRelationExists(nil)),
	fn("pg_relation_is_publishable", kinds(kind.Regclass), kind.Boolean, ifRelationExists(0)),
	fn("pg_relation_is_updatable", kinds(kind.Regclass, kind.Boolean), kind.Int4, constant(int64(0))),
	fn("pg_column_is_updatable", kinds(kind.Regclass, kind.Int2, kind.Boolean), kind.Boolean, constant(int64(0))),
	fn("pg_partition_root", kinds(kind.Regclass), kind.Regclass, constant(nil)),
	fn("pg_indexam_has_property", kinds(kind.OID, kind.Text), kind.Boolean, func(_ *Env, _ *Catalog, args []any) (any, error) {
		return property(oidOr0(args[0]) == btreeMethod, textOf(args[1]))
	}),
	fn("pg_index_has_property", kinds(kind.Regclass, kind.Text), kind.Boolean, indexProperty),
	fn("pg_index_column_has_property", kinds(kind.Regclass, kind.Int4, kind.Text), kind.Boolean, indexProperty),
	{translate.Signature{Name: "age", Args: kinds(kind.XID), Returns: kind.Int4, As: "rota_age_of_xid"}, strict(constant(int64(0)))}, // that of times is another
}

// ifRelationExists returns the value if the relation exists, and NULL otherwise.
func ifRelationExists(value any) call {
	return func(env *Env, c *Catalog, args []any) (any, error) {
		if found, err := c.relation(env, args[0]); err != nil || found == nil {
			return nil, err
		}
		return storedValue(value), nil
	}
}

// pretty formats a size in the unit with the fewest digits, rounded half up.
func pretty(bytes int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	if abs(bytes) < 10*1024 {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	half := bytes >> 9 // in halves of the unit, so that it can be rounded
	for i := 1; ; i++ {
		if abs(half) < 20*1024-1 || i == len(units)-1 {
			return strconv.FormatInt(halfAwayFromZero(half), 10) + " " + units[i]
		}
		half >>= 10
	}
}

// halfAwayFromZero rounds away from zero.
func halfAwayFromZero(n int64) int64 {
	if n < 0 {
		return (n - 1) / 2
	}
	return (n + 1) / 2
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// property answers pg_index_has_property and similar: all indexes are ordered and can be
// unique.
func property(is bool, name string) (any, error) {
	if !is {
		return nil, nil
	}
	has, known := properties[strings.ToLower(name)]
	if !known {
		return nil, nil
	}
	return boolInt(has), nil
}

var properties = map[string]bool{
	"can_order": true, "can_unique": true, "can_multi_col": true, "can_exclude": true, "can_include": true,
	"clusterable": true, "index_scan": true, "bitmap_scan": true, "backward_scan": true,
	"asc": true, "desc": false, "nulls_first": false, "nulls_last": true, "orderable": true, "distance_orderable": false,
	"returnable": true, "search_array": true, "search_nulls": true,
}

func indexProperty(env *Env, c *Catalog, args []any) (any, error) {
	index, err := c.relation(env, args[0])
	if err != nil {
		return nil, err
	}
	return property(index != nil && index.kind == "i", textOf(args[len(args)-1]))
}
