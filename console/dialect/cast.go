package dialect

import (
	"strconv"

	"github.com/rotajobs/rota/console/kind"
	"github.com/rotajobs/rota/console/query"
)

// castOf is x::type, CAST(x AS type) or type 'text'.
func (t *translator) castOf(e *query.Cast, s *scope) (value, error) {
	k, err := kindOf(e.Type)
	if err != nil {
		return value{}, err
	}
	if a, is := e.X.(*query.Array); is && k.Elem() != kind.Unknown {
		return t.arrayOf(a, s, k)
	}
	v, err := t.expr(e.X, s)
	if err != nil {
		return v, err
	}
	if e.Type.Fields != "" {
		v, err = t.castFields(v, k, e.Type)
	} else {
		v, err = t.cast(v, k, e.Type.Mods)
	}
	if err != nil {
		return v, placed(err, e.Place())
	}
	if v.at < 0 {
		v = v.placed(e.Place())
	}
	return v, nil
}

// intervalFields are the fields that an interval may be of.
var intervalFields = map[string]bool{
	"year": true, "month": true, "day": true, "hour": true, "minute": true, "second": true, "year to month": true,
	"day to hour": true, "day to minute": true, "day to second": true, "hour to minute": true, "hour to second": true, "minute to second": true,
}

// castFields is a value as an interval of some fields: interval '1' day.
func (t *translator) castFields(v value, k kind.Kind, as *query.Type) (value, error) {
	switch {
	case !intervalFields[as.Fields]:
		return v, refuse(StateSyntax, as.At, "invalid interval fields: %s", as.Fields).hinting("use day to second, or year to month")
	case k != kind.Interval || len(as.Mods) > 0:
		return v, unsupported(as.At, "arrays of interval %s and intervals with a precision are not supported", as.Fields).hinting("write interval without fields and precision")
	case v.text != nil && v.kind == kind.Unknown:
		held, err := heldIntervalOf(*v.text, as.Fields)
		return constant(k, heldText(held)).placed(v.at), err
	}
	v, err := t.cast(v, k, nil)
	return call(k, "rota_interval_trim", v, wordOf(as.Fields)), err
}

// kindOf is the kind that a type names.
func kindOf(t *query.Type) (kind.Kind, error) {
	name := t.Name
	if t.Quoted && name == "char" {
		name = string(kind.Char)
	}
	k, known := kind.Named(name)
	if !known || t.Schema != "" && t.Schema != "pg_catalog" {
		if known, is := kindsBesides[name]; is {
			k = known
		} else {
			return k, refuse(StateObject, t.At, "type %q does not exist", t.Name).hinting("%s", suggestion(t.Name, "the types are", kindNames))
		}
	}
	if t.Array > 0 {
		k = k.Array()
	}
	return k, nil
}

// kindsBesides are types that are held as others.
var kindsBesides = map[string]kind.Kind{
	"regprocedure": kind.Regproc, "regoper": kind.Regproc, "regoperator": kind.Regproc, "cid": kind.XID, "xid8": kind.XID, "citext": kind.Text,
	"information_schema.sql_identifier": kind.Name, "sql_identifier": kind.Name, "cardinal_number": kind.Int4, "character_data": kind.Varchar, "yes_or_no": kind.Varchar,
	"timetz": kind.Time, "cstring": kind.Text, "unknown": kind.Text, "double": kind.Float,
}

var kindNames = []string{
	"text", "varchar", "integer", "bigint", "smallint", "numeric", "double precision", "real", "boolean", "timestamptz", "timestamp", "date", "time", "interval",
	"uuid", "json", "jsonb", "bytea", "oid", "regclass",
}

// cast is a value that is asked to be of a kind.
func (t *translator) cast(v value, k kind.Kind, mods []string) (value, error) {
	var err error
	if v.open() {
		v, err = t.implicit(v, k)
	} else {
		v, err = t.convert(v, k)
	}
	if err != nil || len(mods) == 0 {
		return v, err
	}
	n, err := strconv.Atoi(mods[0])
	if err != nil {
		return v, nil
	}
	switch k {
	case kind.Varchar, kind.BPChar:
		return call(k, "substr", v, constant(kind.Int4, "1"), constant(kind.Int4, number(n))), nil
	case kind.Numeric:
		scale := "0"
		if len(mods) > 1 {
			scale = mods[1]
		}
		return call(k, "rota_round", v, constant(kind.Int4, scale)), nil
	case kind.Timestamp, kind.Local, kind.Time:
		if n < 6 {
			return call(k, "rota_precision", v, constant(kind.Int4, number(n))), nil
		}
	}
	return v, nil
}

// convert is a value of one kind as one of another.
func (t *translator) convert(v value, k kind.Kind) (value, error) {
	from := v.kind
	switch {
	case v.row && k != kind.Record && k != kind.Text:
		return v, cannot(v, k)
	case v.row:
		return t.rowJSON(v), nil
	case from == k:
		return v, nil
	case from == kind.Unknown:
		return t.implicit(v, k)
	case from == dynamic:
		return t.fromDynamic(v, k)
	case sortOf(k) == sortText:
		return t.toText(v, k), nil
	case sortOf(from) == sortText:
		return t.fromText(v, k)
	case sortOf(k) == sortNumber:
		return toNumber(v, k)
	}
	return t.convertMore(v, k)
}

func (t *translator) convertMore(v value, k kind.Kind) (value, error) {
	from := v.kind
	switch {
	case sortOf(k) == sortID && (sortOf(from) == sortID || whole(from)):
		return v.as(k), nil
	case k == kind.Boolean && whole(from):
		return made(k, asComparison, cat(v.whole(), " <> 0"), v), nil
	case k == kind.Boolean && document(from):
		return call(k, "rota_read", wordOf(string(k)), call(kind.Text, "rota_json_text", v)), nil
	case document(k) && document(from):
		return v.as(k), nil
	case from == kind.Interval && k == kind.Time, sortOf(from) == sortTime && k == kind.Time:
		return t.timeOf(v), nil
	case from == kind.Time && k == kind.Interval:
		return call(k, "rota_interval_of", v), nil
	case sortOf(from) == sortTime && sortOf(k) == sortTime:
		return t.toMoment(v, k), nil
	case from.Elem() != kind.Unknown && k.Elem() != kind.Unknown:
		return t.convertArray(v, k)
	}
	return v, cannot(v, k)
}

func cannot(v value, k kind.Kind) error {
	return refuse("42846", v.at, "cannot cast type %s to %s", title(v.kind), title(k)).hinting("cast the value to text first")
}

// as is a value under another name of its kind.
func (v value) as(k kind.Kind) value {
	v.kind, v.text, v.param = k, nil, 0
	return v
}

// toText writes a value as PostgreSQL does.
func (t *translator) toText(v value, k kind.Kind) value {
	switch from := v.kind; {
	case sortOf(from) == sortText, from == kind.UUID, from == kind.PlainJSON, from == kind.NodeTree, from == kind.ACLItem, from == kind.Inet:
		return v.as(k)
	case whole(from), from == kind.OID, from == kind.XID:
		return made(k, atom, cat("CAST(", v, " AS TEXT)"), v)
	case from == kind.Boolean:
		return made(k, atom, cat("CASE ", v.whole(), " WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"), v)
	case sortOf(from) == sortID:
		return call(k, "rota_"+string(from)+"_text", v)
	}
	return call(k, "rota_text", t.clock(v.kind, wordOf(string(v.kind)), v)...)
}

// fromText reads a text that is not known before the query runs.
func (t *translator) fromText(v value, k kind.Kind) (value, error) {
	switch {
	case k == kind.Inet, k == kind.NodeTree, k == kind.ACLItem:
		return v.as(k), nil
	case sortOf(k) == sortID && k != kind.OID && k != kind.XID:
		return call(k, "rota_"+string(k), v), nil
	case k == kind.Record, k == kind.Void:
		return v, cannot(v, k)
	}
	return call(k, "rota_read", t.clock(k, wordOf(string(k)), v)...), nil
}

// fromDynamic reads a value of which SQLite alone knows what it is.
func (t *translator) fromDynamic(v value, k kind.Kind) (value, error) {
	switch {
	case sortOf(k) == sortText:
		return made(k, atom, cat("CAST(", v, " AS TEXT)"), v), nil
	case document(k), k.Elem() != kind.Unknown, k == kind.Record, k == kind.Unknown:
		return v.as(k), nil
	}
	return t.fromText(made(kind.Text, atom, cat("CAST(", v, " AS TEXT)"), v), k)
}

// toNumber is a value as a number.
func toNumber(v value, k kind.Kind) (value, error) {
	from, name := v.kind, wordOf(string(k))
	switch {
	case from == kind.Boolean && k == kind.Int4:
		return v.as(k), nil
	case sortOf(from) == sortID && whole(k):
		return v.as(k), nil
	case document(from):
		return call(k, "rota_read", name, call(kind.Text, "rota_json_text", v)), nil
	case sortOf(from) != sortNumber:
		return v, cannot(v, k)
	case whole(k) && from == kind.Numeric:
		return call(k, "rota_int", call(from, "rota_round", v, constant(kind.Int4, "0")), name), nil
	case whole(k) && (!whole(from) || rank(from) > rank(k)):
		if v.plain && whole(from) && v.level == atom && k == kind.Integer {
			return v.as(k), nil
		}
		return call(k, "rota_int", v, name), nil
	case (k == kind.Float || k == kind.Float4) && !v.real && !isFloat(from):
		return made(k, atom, cat("CAST(", v, " AS REAL)"), v), nil
	}
	return v.as(k), nil
}

func isFloat(k kind.Kind) bool { return k == kind.Float || k == kind.Float4 }
