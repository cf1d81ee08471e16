package catalog

import (
	"fmt"
	"strings"

	"github.com/rotajobs/rota/sql/query"
)

// format formats a type like format_type. A nil modifier means that none was requested. This
// differs from -1, for which the text makes clear that the type has no modifier. A type that
// seen does not report as visible gets its schema.
func (b *typeIndex) format(oid int64, mod *int64, seen func(*typ) bool) string {
	if oid == 0 {
		return "-"
	}
	t := b.byOID[oid]
	if t == nil {
		return "???"
	}
	if t.isArray() {
		return b.format(t.elem, mod, seen) + "[]"
	}
	if text := standardName(t.name, mod); text != "" && t.space == catalogSpace {
		return text
	}
	name := query.QuoteIdent(t.name)
	if seen == nil && t.space != catalogSpace || seen != nil && !seen(t) {
		name = query.QuoteIdent(spaceOf[t.space]) + "." + name
	}
	if mod != nil && *mod >= 0 {
		name += fmt.Sprintf("(%d)", *mod)
	}
	return name
}

// spaceOf maps schema OIDs of types to names.
var spaceOf = map[int64]string{catalogSpace: catalogSchema, standardSpace: standardSchema}

// standardName is the SQL standard's name of a type, or empty.
func standardName(name string, mod *int64) string {
	given := mod != nil && *mod >= 0
	switch name {
	case "bit", "bpchar":
		return fixedLengthName(map[string]string{"bit": "bit", "bpchar": "character"}[name], name, mod)
	case "varbit", "varchar":
		return map[string]string{"varbit": "bit varying", "varchar": "character varying"}[name] + length(name, mod)
	case "numeric":
		if given {
			return "numeric" + digits(*mod)
		}
		return "numeric"
	case "interval":
		if given {
			return "interval" + intervalFields(*mod)
		}
		return "interval"
	case "time", "timestamp":
		return name + precision(mod) + " without time zone"
	case "timetz", "timestamptz":
		return strings.TrimSuffix(name, "tz") + precision(mod) + " with time zone"
	}
	return fullNames[name]
}

var fullNames = map[string]string{
	"bool": "boolean", "int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real", "float8": "double precision",
}

// fixedLengthName is the name of a type whose default length is 1. Without a length only
// PostgreSQL's internal name is exact.
func fixedLengthName(standard, name string, mod *int64) string {
	if mod != nil && *mod < 0 {
		return ""
	}
	return standard + length(name, mod)
}

// length formats the length of a modifier, which is 4 larger for character types.
func length(name string, mod *int64) string {
	if mod == nil || *mod < 0 {
		return ""
	}
	n := *mod
	if strings.HasSuffix(name, "char") {
		if n -= 4; n < 0 || *mod <= 4 {
			return ""
		}
	}
	return fmt.Sprintf("(%d)", n)
}

func precision(mod *int64) string {
	if mod == nil || *mod < 0 {
		return ""
	}
	return fmt.Sprintf("(%d)", *mod)
}

// digits formats the precision and scale of a numeric modifier.
func digits(mod int64) string {
	if mod -= 4; mod < 0 {
		return ""
	}
	return fmt.Sprintf("(%d,%d)", mod>>16&0xffff, (mod&0x7ff^1024)-1024)
}

// intervalFields formats the fields and the precision of an interval modifier.
func intervalFields(mod int64) string {
	text, fields, seconds := "", mod>>16&0x7fff, mod&0xffff
	if fields != 0x7fff {
		var names []string
		for _, f := range []struct {
			bit  int
			name string
		}{{2, "year"}, {1, "month"}, {3, "day"}, {10, "hour"}, {11, "minute"}, {12, "second"}} {
			if fields>>f.bit&1 == 1 {
				names = append(names, f.name)
			}
		}
		if len(names) > 0 {
			text = " " + names[0]
		}
		if len(names) > 1 {
			text += " to " + names[len(names)-1]
		}
	}
	if seconds != 0xffff {
		text += fmt.Sprintf("(%d)", seconds)
	}
	return text
}
