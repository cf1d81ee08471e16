package translate

import (
	"strconv"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// castOf translates x::type, CAST(x AS type) or type 'text'.
func (t *translator) castOf(e *query.Cast, s *scope) value {
	k := kindOf(e.Type)
	if a, is := e.X.(*query.Array); is && k.Elem() != kind.Unknown {
		return t.arrayOf(a, s, k)
	}
	v := t.expr(e.X, s)
	if e.Type.Field != "" {
		v = t.castField(v, k, e.Type)
	} else {
		v = t.cast(v, k, e.Type.Mods)
	}
	if v.at < 0 {
		v = v.placed(e.Place())
	}
	return v
}

// castField converts a text to an interval whose unit is written behind it: interval '1' day.
func (t *translator) castField(v value, k kind.Kind, as *query.Type) value {
	if v.text == nil || k != kind.Interval || len(as.Mods) > 0 {
		panic(unsupported(as.At, "interval %s is not supported here", as.Field).WithHint("write interval '1 day 2 hours'"))
	}
	i := parseIntervalField(*v.text, as.Field)
	return constant(k, valueLiteral(i.stored())).placed(v.at)
}

// kindOf returns the kind of a type name.
func kindOf(t *query.Type) kind.Kind {
	name := t.Name
	if t.Quoted && name == "char" {
		name = string(kind.Char)
	}
	k, known := kind.Named(name)
	if !known || t.Schema != "" && t.Schema != "pg_catalog" {
		if known, is := aliasKinds[name]; is {
			k = known
		} else {
			panic(queryError(StateObject, t.At, "type %q does not exist", t.Name).WithHint("%s", suggestion(t.Name, "the types are", kindNames)))
		}
	}
	if t.Array > 1 {
		panic(oneDimension(t.At))
	}
	if t.Array > 0 {
		k = k.Array()
	}
	return k
}

// aliasKinds are types that are stored as another kind.
var aliasKinds = map[string]kind.Kind{
	"regprocedure": kind.Regproc, "regoper": kind.Regproc, "regoperator": kind.Regproc, "cid": kind.XID, "xid8": kind.XID, "citext": kind.Text,
	"information_schema.sql_identifier": kind.Name, "sql_identifier": kind.Name, "cardinal_number": kind.Int4, "character_data": kind.Varchar, "yes_or_no": kind.Varchar,
	"timetz": kind.Time, "cstring": kind.Text, "unknown": kind.Text, "double": kind.Float,
}

var kindNames = []string{
	"text", "varchar", "integer", "bigint", "smallint", "numeric", "double precision", "real", "boolean", "timestamptz", "timestamp", "date", "time", "interval",
	"uuid", "json", "jsonb", "bytea", "oid", "regclass",
}

// cast is an explicit cast.
func (t *translator) cast(v value, k kind.Kind, mods []string) value {
	if v.untyped() {
		v = t.implicit(v, k)
	} else {
		v = t.convert(v, k)
	}
	if len(mods) == 0 {
		return v
	}
	n, err := strconv.Atoi(mods[0])
	if err != nil {
		return v
	}
	switch k {
	case kind.Varchar, kind.BPChar:
		return call(k, "substr", v, constant(kind.Int4, "1"), constant(kind.Int4, number(n)))
	case kind.Numeric:
		scale := "0"
		if len(mods) > 1 {
			scale = mods[1]
		}
		return call(k, "rota_round", v, constant(kind.Int4, scale))
	case kind.Timestamp, kind.Local, kind.Time:
		if n < 6 {
			return call(k, "rota_precision", v, constant(kind.Int4, number(n)))
		}
	}
	return v
}

// convert converts a value to another kind.
func (t *translator) convert(v value, k kind.Kind) value {
	from := v.kind
	switch {
	case v.row && k != kind.Record && k != kind.Text:
		panic(cannotCast(v, k))
	case v.row:
		return t.rowJSON(v)
	case from == k:
		return v
	case from == kind.Unknown:
		return t.implicit(v, k)
	case categoryOf(k) == categoryText:
		return t.toText(v, k)
	case categoryOf(from) == categoryText:
		return t.fromText(v, k)
	case categoryOf(k) == categoryNumber:
		return toNumber(v, k)
	}
	return t.convertMore(v, k)
}

func (t *translator) convertMore(v value, k kind.Kind) value {
	from := v.kind
	switch {
	case categoryOf(k) == categoryOID && (categoryOf(from) == categoryOID || isInteger(from)):
		return v.as(k)
	case k == kind.Boolean && isInteger(from):
		return newValue(k, asComparison, cat(v.parenthesized(), " <> 0"), v)
	case k == kind.Boolean && isJSON(from):
		return call(k, "rota_read", textConstant(string(k)), call(kind.Text, "rota_json_text", v))
	case isJSON(k) && isJSON(from):
		return v.as(k)
	case from == kind.Interval && k == kind.Time, categoryOf(from) == categoryTime && k == kind.Time:
		return t.timeOf(v)
	case from == kind.Time && k == kind.Interval:
		return call(k, "rota_interval_of", v)
	case categoryOf(from) == categoryTime && categoryOf(k) == categoryTime:
		return t.toMoment(v, k)
	case from.Elem() != kind.Unknown && k.Elem() != kind.Unknown:
		return t.convertArray(v, k)
	}
	panic(cannotCast(v, k))
}

func cannotCast(v value, k kind.Kind) *Error {
	return queryError("42846", v.at, "cannot cast type %s to %s", typeTitle(v.kind), typeTitle(k)).WithHint("cast the value to text first")
}

// as returns the value with another kind of the same stored form.
func (v value) as(k kind.Kind) value {
	v.kind, v.text, v.param, v.order = k, nil, 0, nil
	return v
}

// toText formats a value like PostgreSQL.
func (t *translator) toText(v value, k kind.Kind) value {
	switch from := v.kind; {
	case categoryOf(from) == categoryText, from == kind.UUID, from == kind.PlainJSON, from == kind.NodeTree, from == kind.ACLItem, from == kind.Inet:
		return v.as(k)
	case isInteger(from), from == kind.OID, from == kind.XID:
		return newValue(k, atom, cat("CAST(", v, " AS TEXT)"), v)
	case from == kind.Boolean:
		return newValue(k, atom, cat("CASE ", v.parenthesized(), " WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"), v)
	case categoryOf(from) == categoryOID:
		return call(k, "rota_"+string(from)+"_text", v)
	}
	return call(k, "rota_text", t.withZone(v.kind, textConstant(string(v.kind)), v)...)
}

// fromText parses a text at run time.
func (t *translator) fromText(v value, k kind.Kind) value {
	switch {
	case k == kind.Inet, k == kind.NodeTree, k == kind.ACLItem:
		return v.as(k)
	case categoryOf(k) == categoryOID && k != kind.OID && k != kind.XID:
		return call(k, "rota_"+string(k), v)
	case k == kind.Record, k == kind.Void:
		panic(cannotCast(v, k))
	}
	return call(k, "rota_read", t.withZone(k, textConstant(string(k)), v)...)
}

// toNumber converts a value to a number.
func toNumber(v value, k kind.Kind) value {
	from, name := v.kind, textConstant(string(k))
	switch {
	case from == kind.Boolean && k == kind.Int4:
		return v.as(k)
	case categoryOf(from) == categoryOID && isInteger(k):
		return v.as(k)
	case isJSON(from):
		return call(k, "rota_read", name, call(kind.Text, "rota_json_text", v))
	case categoryOf(from) != categoryNumber:
		panic(cannotCast(v, k))
	case isInteger(k) && from == kind.Numeric:
		return call(k, "rota_int", call(from, "rota_round", v, constant(kind.Int4, "0")), name)
	case isInteger(k) && (!isInteger(from) || rank(from) > rank(k)):
		if v.plain && isInteger(from) && v.level == atom && k == kind.Integer {
			return v.as(k)
		}
		return call(k, "rota_int", v, name)
	case (k == kind.Float || k == kind.Float4) && !v.real && !isFloat(from):
		return newValue(k, atom, cat("CAST(", v, " AS REAL)"), v)
	}
	return v.as(k)
}

func isFloat(k kind.Kind) bool { return k == kind.Float || k == kind.Float4 }
